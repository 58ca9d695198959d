"""What comes next? The whole policy of the main loop, as one pure function."""

from typing import Literal

from agents.domain.checklist import Status
from agents.domain.state import State
from agents.domain.value import Value


class Work(Value):
    """Work on `item`: go on with its open cycle, or begin one."""

    item: str


class Exhausted(Value):
    """A limit of the budget is reached; the mission stays alive."""

    limit: str


class Finished(Value):
    """Nothing is left to do. `unverified` means that no check could say whether the rest is done."""

    outcome: Literal["verified", "incomplete", "unverified"]


Next = Work | Exhausted | Finished


def next_step(state: State) -> Next:
    """Say what the run does next; total and deterministic.

    An open cycle comes before everything, also before the budget: its inputs are pinned, and most of it may be paid
    already. Then the budget, then the first ready item, then the end.
    """
    if state.standing.open is not None:
        return Work(item=state.standing.open.item)
    left = [item for item in state.checklist.items if item.status in (Status.TODO, Status.BLOCKED)]
    if not left:
        return Finished(outcome="verified")
    ready = state.checklist.ready()
    if not ready:
        unsure = all(item.blocked_by == "unverified" for item in left if item.status is Status.BLOCKED)
        return Finished(outcome="unverified" if unsure else "incomplete")
    if (limit := state.mission.budget.exhausted_by(state.standing.spend)) is not None:
        return Exhausted(limit=limit)
    return Work(item=ready[0].id)
