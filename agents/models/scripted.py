"""Who thinks? A person wrote these replies; never presented as model output."""

import json
import time
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from agents.domain.budget import Source, Usage
from agents.domain.errors import Misconfigured, TryLater
from agents.domain.events import Reply, Request
from agents.domain.value import Value
from agents.models.model import Call


class Fault(Value):
    """A provider's error to play, with its HTTP status."""

    status: int
    retry_after: float | None = None


class Entry(Value):
    """One line of a script. Entries of one (role, item) are used in order."""

    role: str
    item: str
    text: str = ""
    usage: Usage = Usage()
    delay_s: float = 0.0
    error: Fault | None = None


class Scripted:
    """Replies from a JSON-lines file. The ordinal of the call picks the entry: a resumed run goes on where it was."""

    source: Source = "scripted"

    def __init__(self, path: Path) -> None:
        self.name = f"scripted:{path.name}"
        self._path = path
        self._entries = _read(path)
        self._faults_played: set[tuple[str, str, int]] = set()

    def check(self) -> None:
        """Accept: what can be wrong was refused when the files were read."""

    def reply(self, request: Request, call: Call) -> Reply:
        """Return the entry for this call; the end of the script is Misconfigured and names role and item."""
        entries = self._entries.get((call.role, call.item), [])
        answers = [index for index, entry in enumerate(entries) if entry.error is None]
        self._play_fault(entries, answers, call)
        if call.ordinal >= len(answers):
            raise Misconfigured(
                f"the script {self._path} ends: call {call.ordinal + 1} of role {call.role!r} for item {call.item!r} "
                f"needs another line, and it has {len(answers)}"
            )
        entry = entries[answers[call.ordinal]]
        time.sleep(entry.delay_s)
        return Reply(text=entry.text, usage=entry.usage, source="scripted", model=self.name, seconds=entry.delay_s)

    def price(self, usage: Usage) -> int | None:
        """A script costs nothing and has no price."""
        return None

    def calls_tools(self) -> Literal[False]:
        """Scripts are written as text."""
        return False

    def _play_fault(self, entries: list[Entry], answers: list[int], call: Call) -> None:
        """Play, once each, the errors between the answer before and this one (or the end of the script)."""
        places, at = [-1, *answers, len(entries)], min(call.ordinal, len(answers))
        for index in range(places[at] + 1, places[at + 1]):
            fault, mark = entries[index].error, (call.role, call.item, index)
            if fault is not None and mark not in self._faults_played:
                self._faults_played.add(mark)
                raise TryLater(f"scripted error {fault.status}", retry_after_s=fault.retry_after)


def _read(path: Path) -> dict[tuple[str, str], list[Entry]]:
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise Misconfigured(f"cannot read the script {path}: {error}") from None
    entries: dict[tuple[str, str], list[Entry]] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            entry = Entry.model_validate(json.loads(line))
        except (ValidationError, ValueError) as error:
            raise Misconfigured(f"{path}, line {number}: {error}") from None
        entries.setdefault((entry.role, entry.item), []).append(entry)
    return entries
