"""How did it go? Journals become tables: made again at will, and read from a snapshot that never stops the writer."""

import glob
import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
from filelock import FileLock, Timeout
from pydantic import ValidationError

from agents.domain.errors import Busy, Misconfigured
from agents.domain.events import Row
from agents.domain.value import Value

VERSION = 1
BYTES_AT_ONCE = 32 << 20
OFFLINE: dict[str, Any] = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
SEAL = len(b',"sum":"0123456789abcdef"}\n')  # "sum" sorts last, so every whole line ends with it

INSERT_EVENTS = """
    INSERT INTO events
    SELECT concat_ws('/', journal, cycle, seq), journal, mission, cycle, seq, phase, kind, place, inputs, "at", data
    FROM read_json($1, format = 'newline_delimited', columns = {
        journal: 'VARCHAR', mission: 'VARCHAR', cycle: 'INTEGER', seq: 'BIGINT', phase: 'VARCHAR', kind: 'VARCHAR',
        place: 'VARCHAR', inputs: 'VARCHAR', "at": 'DOUBLE', data: 'JSON'})
    ON CONFLICT DO NOTHING"""
KEEP_MARKS = "INSERT OR REPLACE INTO files SELECT " + ", ".join(f"unnest(${n})" for n in range(1, 8))


class Broken(Value):
    """A journal that is damaged: what stands before this line is in the warehouse, nothing from it on is."""

    file: str
    line: int
    reason: str


class Ingested(Value):
    """What one ingest saw: journals, rows read from them now, rows that were new, and journals that are damaged."""

    files: int
    rows_read: int
    rows_new: int
    broken: tuple[Broken, ...] = ()


class Mark(NamedTuple):
    """How far a journal has been read; the checksums of its first and last row prove that it is still the same file."""

    journal: str
    cycle: int
    mission: str = ""
    size: int = 0
    rows: int = 0
    first: str = ""
    last: str = ""


class Chunk(NamedTuple):
    """Whole rows of one journal as JSON texts, and the mark to keep once they are in."""

    mark: Mark
    texts: list[str]


class Flaw(Exception):
    """A whole line of a journal is not what was written."""


def ingest(home: Path, wait_s: float = 60.0) -> Ingested:
    """Bring all journals under `home` into the warehouse up to their last whole row, and publish a snapshot of it.

    Afterwards each row is in exactly once, however often this ran or was killed. Broken journals are reported, a
    warehouse that cannot be used is rebuilt. Busy after `wait_s` of another ingest; Misconfigured without a place.
    """
    metrics = home / "metrics"
    try:
        metrics.mkdir(parents=True, exist_ok=True)
        with _only_writer(metrics / "ingest.lock", wait_s):
            try:
                return _ingest(home)
            except duckdb.Error as error:
                if "Could not set lock" in str(error):
                    raise Busy(f"{metrics}/warehouse.duckdb is open elsewhere; read snapshot.duckdb instead") from None
            for name in ("warehouse.duckdb", "warehouse.duckdb.wal"):
                (metrics / name).unlink(missing_ok=True)
            return _ingest(home)
    except (duckdb.Error, OSError) as error:
        raise Misconfigured(f"the warehouse cannot be written in {metrics}: {error}") from None


def query(home: Path, sql: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Return column names and rows of `sql` on the snapshot; it can change nothing and reach no other file.

    Misconfigured when there is no snapshot yet, it cannot be opened, or the SQL is wrong.
    """
    snapshot = home / "metrics" / "snapshot.duckdb"
    if not snapshot.exists():
        raise Misconfigured(f"there are no metrics in {snapshot.parent} yet: run lra metrics ingest")
    try:
        with _reading(snapshot) as db:
            answer: duckdb.DuckDBPyConnection | None = db.execute(sql)
            if answer is None or answer.description is None:
                raise Misconfigured("the SQL asks for nothing: write a SELECT")
            return [str(column[0]) for column in answer.description], answer.fetchall()
    except duckdb.IOException as error:
        raise Misconfigured(f"{snapshot} cannot be read, delete it and run lra metrics ingest: {error}") from None
    except duckdb.Error as error:
        raise Misconfigured(f"the SQL was refused: {error}") from None


@contextmanager
def _only_writer(path: Path, wait_s: float) -> Iterator[None]:
    lock = FileLock(path)
    try:
        lock.acquire(timeout=wait_s)
    except Timeout:
        raise Busy(f"another ingest has held {path} for {wait_s:g} s: wait for it to end") from None
    try:
        yield
    finally:
        lock.release()


def _ingest(home: Path) -> Ingested:
    metrics = home / "metrics"
    files = sorted(file for file in (home / "journals").glob("*/*.jsonl") if file.stem.isdecimal())
    broken: list[Broken] = []
    read = new = 0
    with duckdb.connect(str(metrics / "warehouse.duckdb"), config=OFFLINE) as db:
        _prepare(db)
        for chunks in _batches(_chunks(db, files, broken)):
            read += sum(len(chunk.texts) for chunk in chunks)
            new += _insert(db, metrics / "stage.jsonl", chunks)
        _publish(db, metrics)
    return Ingested(files=len(files), rows_read=read, rows_new=new, broken=tuple(broken))


def _prepare(db: duckdb.DuckDBPyConnection) -> None:
    """Make the tables in a new file; a file of another version is refused like one that cannot be read."""
    if not db.execute("SELECT 1 FROM duckdb_tables()").fetchall():
        db.execute(f"BEGIN; {Path(__file__).with_name('schema.sql').read_text('utf-8')}; COMMIT")
    if db.execute("SELECT version FROM schema_version").fetchall() != [(VERSION,)]:
        raise duckdb.Error("made by another version")


def _chunks(db: duckdb.DuckDBPyConnection, files: list[Path], broken: list[Broken]) -> Iterator[Chunk]:
    marks = {mark[:2]: mark for mark in map(Mark._make, db.execute("FROM files").fetchall())}
    for file in files:
        start = Mark(file.parent.name, int(file.stem))
        try:
            mark = marks.get(start[:2], start)
            if not _continues(file, mark):
                _forget(db, mark)
                mark = start
            yield from _whole_rows(file, mark)
        except Flaw as flaw:
            line, reason = flaw.args
            broken.append(Broken(file=str(file), line=line, reason=reason))
        except OSError as error:
            broken.append(Broken(file=str(file), line=0, reason=f"it cannot be read: {error}"))


def _continues(file: Path, mark: Mark) -> bool:
    """Say whether the rows up to the mark are still those in the file; nothing read yet is always true."""
    if not mark.rows:
        return True
    with file.open("rb") as stream:
        first = stream.readline()
        stream.seek(max(mark.size - SEAL, 0))
        return (mark.first, mark.last) == (_sum(first), _sum(stream.read(SEAL)))


def _forget(db: duckdb.DuckDBPyConnection, mark: Mark) -> None:
    db.execute("BEGIN")
    db.execute("DELETE FROM events WHERE journal = $1 AND cycle = $2", [mark.journal, mark.cycle])
    db.execute("DELETE FROM files WHERE journal = $1 AND cycle = $2", [mark.journal, mark.cycle])
    db.execute("UPDATE schema_version SET revision = uuid(); COMMIT")


def _whole_rows(file: Path, mark: Mark) -> Iterator[Chunk]:
    """Give the rows after the mark, up to a torn last line; at a damaged line give those before it, then raise Flaw."""
    with file.open("rb") as stream:
        stream.seek(mark.size)
        while lines := stream.readlines(BYTES_AT_ONCE):
            texts, flaw = _texts(lines, mark.rows)
            if texts:
                mark = _advance(mark, lines[: len(texts)], texts[0])
                yield Chunk(mark, texts)
            if flaw:
                raise flaw


def _texts(lines: list[bytes], seq: int) -> tuple[list[str], Flaw | None]:
    texts: list[str] = []
    for line in lines:
        if not line.endswith(b"\n"):
            break
        try:
            texts.append(_row(line, seq + len(texts)))
        except Flaw as flaw:
            return texts, Flaw(seq + len(texts) + 1, str(flaw))
    return texts, None


def _advance(mark: Mark, lines: list[bytes], first: str) -> Mark:
    if not mark.rows:
        mission = json.loads(first)["data"].get("mission", mark.journal[:-9])
        mark = mark._replace(mission=str(mission), first=_sum(lines[0]))
    return mark._replace(size=mark.size + sum(map(len, lines)), rows=mark.rows + len(lines), last=_sum(lines[-1]))


def _row(line: bytes, seq: int) -> str:
    """Return a row as JSON text without its checksum, or raise Flaw when it is not the row that was written here."""
    body = line[:-SEAL] + b"}"
    if line[-SEAL:] != b',"sum":"%b"}\n' % hashlib.sha256(body).hexdigest()[:16].encode():
        raise Flaw("the checksum does not match")
    text = body.decode("utf-8", "replace")  # a model may write half a surrogate pair, which DuckDB refuses
    try:
        row = Row.model_validate_json(text)
    except ValidationError as error:
        raise Flaw(f"it is not a row: {error.errors()[0]['msg']}") from None
    if row.format != 1:
        raise Flaw(f"format {row.format} is of a newer LRA")
    if row.seq != seq:
        raise Flaw(f"row {row.seq} stands where row {seq} belongs")
    if "NaN" in text or "Infinity" in text:  # pydantic reads them, DuckDB does not
        json.loads(text, parse_constant=_refuse)
    return text


def _refuse(name: str) -> None:
    raise Flaw(f"{name} is not a number that JSON knows")


def _sum(line: bytes) -> str:
    return line[-19:-3].decode("ascii", "replace")


def _batches(chunks: Iterator[Chunk]) -> Iterator[list[Chunk]]:
    batch: list[Chunk] = []
    size = 0
    for chunk in chunks:
        batch.append(chunk)
        size += sum(map(len, chunk.texts))
        if size >= BYTES_AT_ONCE:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _insert(db: duckdb.DuckDBPyConnection, stage: Path, chunks: list[Chunk]) -> int:
    """Put rows and marks in as one transaction, and say how many rows were new."""
    with stage.open("w", encoding="utf-8") as stream:  # DuckDB reads a file four times as fast as parameters
        for mark, texts in chunks:
            head = json.dumps({"journal": mark.journal, "mission": mark.mission, "cycle": mark.cycle})[:-1]
            stream.writelines(f"{head},{text[1:]}\n" for text in texts)
    db.execute("BEGIN")
    new = db.execute(INSERT_EVENTS, [glob.escape(str(stage))]).fetchall()[0][0]
    db.execute(KEEP_MARKS, [list(column) for column in zip(*(chunk.mark for chunk in chunks), strict=True)])
    db.execute("UPDATE schema_version SET revision = uuid(); COMMIT")
    stage.unlink()
    return int(new)


def _publish(db: duckdb.DuckDBPyConnection, metrics: Path) -> None:
    """Replace the snapshot in one rename; who has the old one open keeps reading it and stops nobody."""
    snapshot, fresh = metrics / "snapshot.duckdb", metrics / "snapshot.new.duckdb"
    if snapshot.exists() and _revision(snapshot) == db.execute("SELECT revision FROM schema_version").fetchall():
        return
    for left in (fresh, fresh.with_name(fresh.name + ".wal")):  # by an ingest that was killed
        left.unlink(missing_ok=True)
    db.execute(f"ATTACH {_quoted(fresh)} AS snapshot; COPY FROM DATABASE warehouse TO snapshot")
    db.execute("CHECKPOINT snapshot; DETACH snapshot")
    fresh.replace(snapshot)


def _revision(snapshot: Path) -> list[tuple[Any, ...]]:
    try:
        with _reading(snapshot) as db:
            return db.execute("SELECT revision FROM schema_version").fetchall()
    except duckdb.Error:  # damaged, or of another version: it is replaced
        return []


def _reading(snapshot: Path) -> duckdb.DuckDBPyConnection:
    """Open the snapshot as it is now; connecting to it could give what this process opened before it was replaced."""
    db = duckdb.connect(":memory:", config=OFFLINE)
    db.execute(f"ATTACH {_quoted(snapshot)} AS snapshot (READ_ONLY); USE snapshot")
    db.execute("SET enable_external_access = false; SET lock_configuration = true")
    return db


def _quoted(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"
