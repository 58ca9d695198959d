"""Where does a mission stand? The values that the record holds, taken together."""

from typing import Literal, Self

from pydantic import model_validator

from agents.domain.budget import Spend
from agents.domain.checklist import Checklist, Evidence, Item, Status
from agents.domain.cycle import CycleResult, Pin
from agents.domain.mission import Mission
from agents.domain.value import Value

REASONS_TOLD = 3
REASON_CHARS = 1000


class Standing(Value):
    """The moving part of the record: who owns the mission now, the cycle that is open, and the totals so far.

    `epoch` grows by one with every run that takes the mission; `holder` says where that run is (host and process).
    """

    format: Literal[1] = 1
    epoch: int = 0
    holder: str = ""
    cycles: int = 0
    open: Pin | None = None
    spend: Spend = Spend()


class State(Value):
    """A mission at one commit of its record. An open cycle and the item in progress always belong together."""

    mission: Mission
    checklist: Checklist
    standing: Standing

    @model_validator(mode="after")
    def _one_open_cycle(self) -> Self:
        working = [item.id for item in self.checklist.items if item.status is Status.IN_PROGRESS]
        opened = [self.standing.open.item] if self.standing.open else []
        if working != opened:
            raise ValueError(f"open cycle on {opened}, but items in progress are {working}")
        return self

    def begun(self, pin: Pin) -> "State":
        """Open the cycle that `pin` describes; there is never more than one."""
        if self.standing.open is not None:
            raise ValueError(f"cycle {self.standing.open.cycle} is still open")
        if pin.cycle != self.standing.cycles + 1:
            raise ValueError(f"the next cycle is {self.standing.cycles + 1}, not {pin.cycle}")
        checklist = self.checklist.with_item(self.checklist[pin.item].begun(pin.cycle))
        return self._to(checklist, self.standing.model_copy(update={"open": pin, "cycles": pin.cycle}))

    def ended(self, result: CycleResult) -> "State":
        """Close the open cycle: its item is done by the evidence of the result, or to do again, or blocked."""
        if self.standing.open != result.pin:
            raise ValueError(f"cycle {result.pin.cycle} is not the open one")
        item = _left_by(result, self.checklist[result.pin.item], self.mission.attempts)
        spend = self.standing.spend + result.spend
        return self._to(self.checklist.with_item(item), self.standing.model_copy(update={"open": None, "spend": spend}))

    def held_by(self, holder: str) -> "State":
        """Hand the mission to a new run: the epoch grows by one."""
        update = {"epoch": self.standing.epoch + 1, "holder": holder}
        return self._to(self.checklist, self.standing.model_copy(update=update))

    def _to(self, checklist: Checklist, standing: Standing) -> "State":
        return State(mission=self.mission, checklist=checklist, standing=standing)


def _left_by(result: CycleResult, item: Item, attempts_allowed: int) -> Item:
    if result.ending == "merged":
        if result.commit is None or result.verdict is None:
            raise ValueError(f"cycle {result.pin.cycle} says merged, but names no commit or no verdict")
        evidence = Evidence(cycle=result.pin.cycle, commit=result.commit, verdict=result.verdict)
        return item.finished(evidence, result.calls)
    why = "; ".join(reason.message for reason in result.reasons[:REASONS_TOLD]) or result.summary
    if result.ending == "postponed":
        return item.postponed(why[:REASON_CHARS], result.pin.previous)
    if result.ending == "unverified":
        return item.blocked("unverified", why[:REASON_CHARS], result.calls)
    return item.failed(why[:REASON_CHARS], result.calls, attempts_allowed)
