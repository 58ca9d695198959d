"""When somebody asks what a cycle did: its result and its steps, in the words of the journal."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agents.domain.budget import label
from agents.domain.cycle import CycleResult
from agents.domain.events import Row
from tasks.journal import read


def transcript(result: CycleResult | None, journal: Path) -> tuple[dict[str, Any], str]:
    """Return a cycle as data and text; either half may be missing: it is open, or the journal is elsewhere."""
    rows = read(journal)[0] if journal.exists() else ()
    data = {
        "result": result.model_dump(mode="json") if result else None,
        "journal": str(journal) if journal.exists() else None,
        "steps": [row.model_dump(mode="json") for row in rows],
    }
    where = f"journal: {journal}" if journal.exists() else f"no steps to show: this machine has no journal {journal}"
    return data, "\n".join([*_result(result), *(line for row in rows for line in _row(row)), where])


def _result(result: CycleResult | None) -> Iterator[str]:
    if result is None:
        yield "this cycle is open"
        return
    pin, usage = result.pin, result.spend.usage
    yield f"cycle {pin.cycle}: item {pin.item}, attempt {pin.attempt}: {result.ending}"
    used = f"{usage.prompt} tokens in, {usage.completion} out"
    yield f"model {pin.model} ({label(pin.source)}), variant {pin.variant}; {used}"
    for reason in result.reasons:
        yield f"  {reason.kind}: {reason.message}"
    if result.commit:
        yield f"  merged as {result.commit}"


def _row(row: Row) -> Iterator[str]:
    data = row.data
    match row.phase, row.kind:
        case "intent", "think":
            for message in data.get("messages", ()):
                yield f"\n--- {message['role']}, to the model"
                yield message["content"]
        case "result", "think":
            said = f"{data['seconds']:.1f} s, {data['usage']['completion']} tokens"
            yield f"\n--- {data['model']} ({label(data['source'])}), {said}"
            yield from (data["text"], *(f"{call['name']} {call['arguments']}" for call in data["tool_calls"]))
        case "result", "act":
            move = {key: value for key, value in data["move"].items() if value not in (None, "")}
            yield f"\n--- {' '.join(map(str, move.values()))}"
            yield data["observation"]["text"]
        case "result", "verify":
            verdict = data["verdict"]
            yield f"\n--- verdict: {verdict['decision']} ({data['seconds']:.1f} s)"
            for reason in verdict["reasons"]:
                yield f"  {reason['kind']}: {reason['message']}"
        case _:
            return
