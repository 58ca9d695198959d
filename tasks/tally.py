"""Do it, durably: what a journal's rows add up to, counted the same way by the run, by a resume and by a watcher."""

from typing import Any

from agents.domain.budget import Spend
from agents.domain.events import Reply, Row


class Tally:
    """Counts rows as they come: spend, finished steps, calls by role, models and sources, the latest row.

    A model call whose intent has no result of its own was in flight at a crash: it counts at its worst case.
    """

    def __init__(self) -> None:
        self.spend = Spend()
        self.steps = 0
        self.calls: dict[str, int] = {}
        self.models: tuple[str, ...] = ()
        self.sources: tuple[str, ...] = ()
        self.doing = ""
        self.at = 0.0
        self._asked: dict[str, Row] = {}

    def take(self, row: Row) -> None:
        """Count one row; rows come in the order of the journal."""
        self.doing, self.at = row.place, row.at
        if row.phase == "intent" and row.kind == "think":
            if (lost := self._asked.get(row.place)) is not None:
                self.spend += worst_case(lost.data)
            self._asked[row.place] = row
        elif row.phase == "fact" and row.kind == "think":
            self._asked.pop(row.place, None)
        elif row.phase == "result":
            self.steps += row.kind in ("think", "act", "verify")
            if row.kind in ("act", "verify"):
                self.spend += Spend(seconds=row.data.get("seconds", 0.0))
            if row.kind == "think":
                self._count(self._asked.pop(row.place), Reply.model_validate(row.data))

    def interrupt(self) -> None:
        """Count what is unanswered as lost: the process that asked is dead; the budget has it before more is asked."""
        for row in self._asked.values():
            self.spend += worst_case(row.data)
        self._asked.clear()

    def _count(self, asked: Row, reply: Reply) -> None:
        role = str(asked.data["role"])
        self.spend += cost_of(reply)
        self.calls[role] = self.calls.get(role, 0) + 1
        self.models = tuple(dict.fromkeys((*self.models, reply.model)))
        self.sources = tuple(dict.fromkeys((*self.sources, reply.source)))


def cost_of(reply: Reply) -> Spend:
    """Return what one answered call adds to the spend; only live calls cost money."""
    live = reply.source == "live"
    return Spend(
        usage=reply.usage,
        micros=(reply.micros or 0) if live else 0,
        unpriced=int(live and reply.micros is None),
        seconds=reply.seconds,
        **{reply.source: 1},
    )


def worst_case(intent: dict[str, Any]) -> Spend:
    """Return what a call that was in flight at a crash may have cost; nothing for replies that nobody bills."""
    if intent.get("source") != "live":
        return Spend()
    usage = {"prompt": intent["worst_prompt"], "completion": intent["worst_completion"]}
    return Spend.model_validate({"usage": usage, "micros": intent["worst_micros"] or 0, "possibly_billed": 1})
