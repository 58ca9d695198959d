"""Who thinks? A run captured earlier, replayed strictly: the journals of that run are the recording."""

import json
from pathlib import Path
from typing import Any, Literal, NamedTuple

from agents.domain.budget import Source, Usage
from agents.domain.errors import BrokenRecord, Misconfigured
from agents.domain.events import Reply, Request
from agents.models.model import Call


class Take(NamedTuple):
    """One captured call: the digest of what was asked, and what came back."""

    request: str
    reply: Reply


class Recorded:
    """Replies from the journals (`*.jsonl`) in a folder.

    The ordinal of the call finds the reply, the digest of the request proves that it belongs; anything else is drift
    and stops loudly, it never becomes a live call. What a person had written stays `scripted` in every replay.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.takes = _read(folder)
        first = next(iter(self.takes.values()), None)
        if not first:
            raise Misconfigured(f"there is no recorded model call in {folder}")
        self.name = first[0].reply.model
        replies = [take.reply for takes in self.takes.values() for take in takes]
        self.source: Source = "scripted" if any(reply.source == "scripted" for reply in replies) else "recorded"

    def check(self) -> None:
        """Accept: what can be wrong was refused when the files were read."""

    def reply(self, request: Request, call: Call) -> Reply:
        """Return what was answered then, labelled by where it is from now."""
        takes = self.takes.get((call.role, call.item), [])
        if call.ordinal >= len(takes):
            raise BrokenRecord(
                f"the recording {self._folder} drifted: call {call.ordinal + 1} of {call.role} for item {call.item!r} "
                f"was never made when it was captured ({len(takes)} were). Record it again."
            )
        take = takes[call.ordinal]
        if take.request != request.digest():
            raise BrokenRecord(
                f"the recording {self._folder} drifted: call {call.ordinal + 1} of {call.role} for item {call.item!r} "
                f"asks something else now ({request.digest()[:12]}, recorded {take.request[:12]}). Prompts, moves, "
                "checks or the repository changed since it was captured. Record it again."
            )
        return take.reply.model_copy(update={"source": self.source})

    def price(self, usage: Usage) -> int | None:
        """A replay costs nothing."""
        return None

    def calls_tools(self) -> Literal[False]:
        """The recording fixes how moves travel; see the pin."""
        return False


def _read(folder: Path) -> dict[tuple[str, str], list[Take]]:
    files = sorted(folder.glob("*.jsonl"))
    if not files:
        raise Misconfigured(f"there is no recording in {folder}: it holds no *.jsonl file")
    takes: dict[tuple[str, str], list[Take]] = {}
    for path in files:
        asked: dict[str, dict[str, Any]] = {}
        for number, line in enumerate(path.read_bytes().splitlines(), start=1):
            try:
                _take(json.loads(line.decode("utf-8", "surrogatepass")), asked, takes)
            except (ValueError, KeyError, TypeError):
                raise BrokenRecord(f"{path}, line {number} is no row of a recording. Record it again.") from None
    return takes


def _take(row: dict[str, Any], asked: dict[str, dict[str, Any]], takes: dict[tuple[str, str], list[Take]]) -> None:
    if row["kind"] == "think" and row["phase"] == "intent":
        asked[row["place"]] = row["data"]
    elif row["kind"] == "think" and row["phase"] == "result":
        who = asked[row["place"]]
        take = Take(request=row["inputs"], reply=Reply.model_validate(row["data"]))
        takes.setdefault((who["role"], who["item"]), []).append(take)
