"""When a run ends: what came of it, in one form for `run --json`, `status --json` and people."""

from pathlib import Path
from typing import Any, Literal

from agents.domain.checklist import Status
from agents.domain.schedule import Exhausted, Finished, next_step
from agents.domain.state import State
from agents.domain.value import Value
from tasks.holder import lost_run
from tasks.journal import file_of, tally

Word = Literal[
    "verified", "incomplete", "unverified", "exhausted", "waiting", "paused", "working", "interrupted", "ready"
]


class Outcome(Value):
    """How a run ended, in one word, and why when it was not by itself finished."""

    status: Word
    why: str = ""


def with_open_cycle(state: State, folder: Path) -> State:
    """Return the state with what its open cycle has spent so far, when this machine has the journal of it."""
    pin = state.standing.open
    if pin is None or not (path := file_of(folder, pin.cycle)).exists():
        return state
    spend = state.standing.spend + tally(path).spend
    return state.model_copy(update={"standing": state.standing.model_copy(update={"spend": spend})})


def standing_of(state: State) -> Outcome:
    """Return how a mission stands: the record alone says it, and this machine whether the run that has it is alive."""
    if state.standing.open and (limit := state.mission.budget.exhausted_by(state.standing.spend)):
        return Outcome(status="exhausted", why=f"{limit}; cycle {state.standing.open.cycle} is kept open")
    match next_step(state):
        case Finished(outcome=outcome):
            return Outcome(status=outcome)
        case Exhausted(limit=limit):
            return Outcome(status="exhausted", why=limit)
        case _:
            opened = state.standing.open
            if opened is None:
                return Outcome(status="ready")
            lost = lost_run(state)
            return Outcome(status="interrupted" if lost else "working", why=lost or f"cycle {opened.cycle} is open")


def summary(state: State, outcome: Outcome) -> dict[str, Any]:
    """Return the documented JSON of a mission: items by status, calls by source, tokens, money, commits."""
    spend = state.standing.spend
    items = state.checklist.items
    return {
        "mission": state.mission.id,
        "status": outcome.status,
        "why": outcome.why,
        "items": state.checklist.by_status(),
        "cycles": state.standing.cycles,
        "model_calls": {"live": spend.live, "recorded": spend.recorded, "scripted": spend.scripted},
        "tokens": spend.usage.model_dump(),
        "cost_usd": spend.usd,
        "unpriced_calls": spend.unpriced,
        "possibly_billed_calls": spend.possibly_billed,
        "target": state.mission.target,
        "commits": [item.evidence.commit for item in items if item.evidence],
        "waiting_for": [outcome.why] if outcome.status == "waiting" else [],
        "details": {
            item.id: {
                "status": str(item.status),
                "attempts": item.attempts,
                "checks": list(item.checks),
                "evidence": item.evidence.model_dump() if item.evidence else None,
                "reason": item.reason,
            }
            for item in items
        },
    }


def told(state: State, outcome: Outcome) -> str:
    """Return the same for people."""
    marks = {Status.DONE: "done", Status.BLOCKED: "BLOCKED", Status.IN_PROGRESS: "working"}
    lines = [
        f"{state.mission.title}  ({state.mission.id}): {outcome.status}" + (f", {outcome.why}" if outcome.why else "")
    ]
    for item in state.checklist.items:
        tries = f", {item.attempts} attempt{'s' if item.attempts != 1 else ''}" if item.attempts else ""
        proof = f", merged as {item.evidence.commit[:12]}" if item.evidence else ""
        why = f"\n           {' '.join(item.reason.split())[:300]}" if item.reason else ""
        lines.append(f"  {marks.get(item.status, str(item.status)):8} {item.id}{tries}{proof}{why}")
    return "\n".join([*lines, f"  {cost_of(state)}"])


def cost_of(state: State) -> str:
    """Say in one line what was used, and where the replies came from."""
    spend = state.standing.spend
    calls = [f"{count} {word}" for word, count in (("live", spend.live), ("recorded", spend.recorded)) if count]
    if spend.scripted:
        calls.append(f"{spend.scripted} scripted (scripted, not a model)")
    partly = f", {spend.unpriced} calls unpriced" if spend.unpriced else ""
    money = "unpriced" if spend.usd is None else f"${spend.usd:.6f}{partly}"
    maybe = f", {spend.possibly_billed} possibly billed in a crash" if spend.possibly_billed else ""
    return (
        f"cycles {state.standing.cycles}; model calls {', '.join(calls) or 'none'}{maybe}; "
        f"tokens {spend.usage.prompt} in, {spend.usage.completion} out; "
        f"cost {money if spend.live else '$0, no live call'}"
    )
