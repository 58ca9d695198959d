"""Do it, durably: a step is written down before anyone can see its result, and is never done twice.

One append-only file per cycle, one JSON row per line, each with a checksum and on the disk (fsync) before work goes on.
"""

import hashlib
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from pydantic import ValidationError

from agents.domain.errors import BrokenRecord, Misconfigured
from agents.domain.events import Key, Row
from agents.domain.value import canonical
from tasks.tally import Tally

Data = dict[str, Any]
FORMAT = 1


class Journal:
    """The steps of one cycle, in order, for the one run that holds the mission.

    Opening it truncates a torn last line (a write that a crash cut short); other damage is refused with BrokenRecord.
    """

    def __init__(self, path: Path, pin: Data) -> None:
        """Open the journal at `path`, or start it with `pin` (mission, root and pin of the cycle) as its first row."""
        self.path = path
        self.tally = Tally()
        self._results: dict[str, Row] = {}
        self._seq = 0
        path.parent.mkdir(parents=True, exist_ok=True)
        rows, whole = read(path) if path.exists() else ((), 0)
        if rows and rows[0].data != json.loads(canonical(pin)):
            raise BrokenRecord(f"{path} belongs to another cycle than the record says: move it away and run again")
        self._file: BinaryIO = path.open("ab", buffering=0)
        self._file.truncate(whole)
        self._file.seek(whole)
        for row in rows:
            self._take(row)
        self.tally.interrupt()
        if not rows:
            self._append("fact", Key("cycle", "", ""), pin)
            _sync_folder(path.parent)
            _sync_folder(path.parent.parent)

    def find(self, key: Key) -> Data | None:
        """Return the result recorded for this step, or None; a row at its place with other inputs is a divergence."""
        row = self._results.get(key.place)
        if row is None:
            return None
        if (row.kind, row.inputs) != (key.kind, key.inputs):
            raise BrokenRecord(
                f"{self.path}, row {row.seq}: step {key.place} was recorded with other inputs than it has now "
                f"({row.inputs[:12]} then, {key.inputs[:12]} now). LRA, a prompt or the record was changed in the "
                "middle of a cycle. Put it back, or move the journal away to do this cycle again (and pay its calls "
                "again)."
            )
        return row.data

    def has(self, place: str) -> bool:
        """Say whether the step at this place was finished before."""
        return place in self._results

    def intend(self, key: Key, data: Data) -> None:
        """Record that the step is about to run; without a result it was in flight when the process died."""
        self._append("intent", key, data)

    def finish(self, key: Key, data: Data) -> Data:
        """Record the result and return it as it will be read back."""
        return self._append("result", key, data).data

    def refuse(self, key: Key, data: Data) -> None:
        """Record that the other side refused the call of this step: it was not billed and is not in flight."""
        self._append("fact", key, data)

    def end(self, data: Data) -> None:
        """Close the cycle with its result."""
        if "end" not in self._results:
            self._append("result", Key("end", "end", ""), data)

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def _append(self, phase: str, key: Key, data: Data) -> Row:
        row = Row.model_validate(
            {"seq": self._seq, "phase": phase, **key._asdict(), "at": round(time.time(), 3), "data": data}
        )
        line = write_line(row)
        start = self._file.tell()
        try:
            if self._file.write(line) != len(line):
                raise OSError("the write was cut short")
            os.fsync(self._file.fileno())
        except OSError as error:
            self._file.truncate(start)
            raise Misconfigured(
                f"cannot write {self.path}: {error}. Make room, then run the same command again."
            ) from None
        row = read_line(line)
        self._take(row)
        return row

    def _take(self, row: Row) -> None:
        self._seq = row.seq + 1
        self.tally.take(row)
        if row.phase == "result":
            self._results[row.place] = row


def folder_of(home: Path, mission: str, root: str) -> Path:
    """Return where the journals of a mission are; `root`, the first commit of its record, tells equal ids apart."""
    return home / "journals" / f"{mission}-{root[:8]}"


def file_of(folder: Path, cycle: int) -> Path:
    """Return the journal of a cycle."""
    return folder / f"{cycle:06d}.jsonl"


def step(journal: Journal, key: Key, run: Callable[[], Data], intent: Callable[[], Data] = dict) -> Data:
    """Return what is recorded under `key`, or run once and record it before anyone can see it."""
    if (done := journal.find(key)) is not None:
        return done
    journal.intend(key, intent())
    return journal.finish(key, run())


def read(path: Path) -> tuple[tuple[Row, ...], int]:
    """Return the whole rows of a journal and the number of bytes they take; what follows is a torn last line.

    A line that ends properly and does not match its checksum was damaged later: BrokenRecord, with file and line.
    """
    rows: list[Row] = []
    whole = 0
    for number, line in enumerate(path.read_bytes().splitlines(keepends=True), start=1):
        if not line.endswith(b"\n"):
            break
        try:
            row = read_line(line)
        except ValueError:
            raise BrokenRecord(
                f"{path}, line {number} is damaged. Restore the file from a backup, or move it away to do this cycle "
                "again (and pay its calls again); finished cycles are safe in the record."
            ) from None
        if row.seq != len(rows):
            raise BrokenRecord(f"{path}, line {number}: row {row.seq} stands where row {len(rows)} belongs")
        rows.append(row)
        whole += len(line)
    return tuple(rows), whole


def tally(path: Path) -> Tally:
    """Return what a journal adds up to, as it is on the disk now."""
    counted = Tally()
    for row in read(path)[0]:
        counted.take(row)
    return counted


def write_line(row: Row) -> bytes:
    """Return the row as one line with its checksum."""
    data = row.model_dump(mode="json")
    return canonical({**data, "sum": _sum(data)}).encode("utf-8", "surrogatepass") + b"\n"


def read_line(line: bytes) -> Row:
    """Return the row on a line; ValueError when it is not what was written."""
    data = json.loads(line.decode("utf-8", "surrogatepass"))
    if not isinstance(data, dict) or data.pop("sum", None) != _sum(data):
        raise ValueError("the checksum does not match")
    if data.get("format") != FORMAT:
        raise ValueError(
            f"format {data.get('format')} is of another version of LRA than this one, which reads {FORMAT}"
        )
    try:
        return Row.model_validate(data)
    except ValidationError as error:
        raise ValueError(str(error)) from None


def _sum(data: Data) -> str:
    return hashlib.sha256(canonical(data).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
