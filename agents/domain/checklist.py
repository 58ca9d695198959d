"""What is to be done, and how far is it? Items with needs form a DAG; only evidence makes an item done."""

import re
from enum import StrEnum
from graphlib import CycleError, TopologicalSorter
from typing import Self

from pydantic import field_validator, model_validator

from agents.domain.errors import Misconfigured
from agents.domain.value import Value


class Status(StrEnum):
    """Where an item stands."""

    TODO = "todo"
    IN_PROGRESS = "in_progress"
    BLOCKED = "blocked"
    DONE = "done"
    SPLIT = "split"
    DROPPED = "dropped"


class Priority(StrEnum):
    """Which of several ready items comes first."""

    HIGH = "high"
    NORMAL = "normal"
    LOW = "low"


RANK = {Priority.HIGH: 0, Priority.NORMAL: 1, Priority.LOW: 2}
CLOSED = frozenset({Status.DONE, Status.SPLIT, Status.DROPPED})


class Evidence(Value):
    """Why an item is done: the cycle, the merge commit on the target, and the sha256 of the verdict that let it in."""

    cycle: int
    commit: str
    verdict: str


class Item(Value):
    """One unit of verified work.

    `calls` counts the model calls made for this item so far, by role; `last_cycle` is where the latest attempt is told.
    `blocked_by` is a stable word (attempts, unverified), `reason` is for people.
    """

    id: str
    description: str
    needs: tuple[str, ...] = ()
    priority: Priority = Priority.NORMAL
    files: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    may_edit: tuple[str, ...] = ()
    status: Status = Status.TODO
    attempts: int = 0
    last_cycle: int | None = None
    calls: dict[str, int] = {}
    blocked_by: str = ""
    reason: str = ""
    evidence: Evidence | None = None

    @field_validator("id")
    @classmethod
    def _id_is_a_word(cls, name: str) -> str:
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", name):
            raise ValueError(
                f"item id {name!r} must be at most 64 letters, digits, '.', '_' or '-', the first not a sign"
            )
        return name

    @model_validator(mode="after")
    def _done_needs_evidence(self) -> Self:
        if (self.status is Status.DONE) != (self.evidence is not None):
            raise ValueError(f"item {self.id}: done needs evidence, and evidence means done")
        return self

    def begun(self, cycle: int) -> "Item":
        """Start an attempt in `cycle`; only an item that is still to do can start."""
        self._must_be(Status.TODO, "begin")
        return self._to(status=Status.IN_PROGRESS, attempts=self.attempts + 1, last_cycle=cycle)

    def finished(self, evidence: Evidence, calls: dict[str, int]) -> "Item":
        """Become done, by the evidence of the attempt that is under way."""
        self._must_be(Status.IN_PROGRESS, "finish")
        return self._to(status=Status.DONE, evidence=evidence, calls=_sum(self.calls, calls), reason="", blocked_by="")

    def failed(self, reason: str, calls: dict[str, int], attempts_allowed: int) -> "Item":
        """End the attempt without success: to do again, or blocked once the allowed attempts are used."""
        self._must_be(Status.IN_PROGRESS, "fail")
        again = self.attempts < attempts_allowed
        return self._to(
            status=Status.TODO if again else Status.BLOCKED,
            blocked_by="" if again else "attempts",
            reason=reason,
            calls=_sum(self.calls, calls),
        )

    def postponed(self, reason: str, last_cycle: int | None) -> "Item":
        """Take the attempt under way back, for it could not even begin: it is not counted, and not told of again."""
        self._must_be(Status.IN_PROGRESS, "postpone")
        return self._to(status=Status.TODO, attempts=self.attempts - 1, last_cycle=last_cycle, reason=reason)

    def blocked(self, by: str, reason: str, calls: dict[str, int] | None = None) -> "Item":
        """Stop working on this item until a human or a change of plan lifts it; never from a closed state."""
        if self.status in CLOSED:
            raise ValueError(f"item {self.id} is {self.status}: it cannot be blocked")
        return self._to(status=Status.BLOCKED, blocked_by=by, reason=reason, calls=_sum(self.calls, calls or {}))

    def _must_be(self, status: Status, verb: str) -> None:
        if self.status is not status:
            raise ValueError(f"cannot {verb} item {self.id}: it is {self.status}, not {status}")

    def _to(self, **changes: object) -> "Item":
        return Item.model_validate({**self.model_dump(), **changes})


class Checklist(Value):
    """All items of a mission, in the order they were written. Ids are unique, needs exist and form no cycle."""

    items: tuple[Item, ...]

    @model_validator(mode="after")
    def _is_a_dag(self) -> Self:
        ids = [item.id for item in self.items]
        if twice := {name for name in ids if ids.count(name) > 1}:
            raise ValueError(f"item ids must be unique: {', '.join(sorted(twice))} is there more than once")
        for item in self.items:
            if missing := [need for need in item.needs if need not in ids]:
                raise ValueError(f"item {item.id} needs {', '.join(missing)}, which is not on the checklist")
        try:
            tuple(TopologicalSorter({item.id: item.needs for item in self.items}).static_order())
        except CycleError as error:
            raise ValueError(f"needs form a cycle: {' -> '.join(reversed(error.args[1]))}") from None
        return self

    def __getitem__(self, name: str) -> Item:
        for item in self.items:
            if item.id == name:
                return item
        raise Misconfigured(f"there is no item {name!r}; the items are {', '.join(item.id for item in self.items)}")

    def with_item(self, changed: Item) -> "Checklist":
        """Return this checklist with the item of the same id replaced."""
        assert self[changed.id]
        return Checklist(items=tuple(changed if item.id == changed.id else item for item in self.items))

    def ready(self) -> tuple[Item, ...]:
        """Return the items that can start now, the one to take first at the front: priority, then written order."""
        met = {item.id for item in self.items if item.status in CLOSED}
        can = [item for item in self.items if item.status is Status.TODO and met.issuperset(item.needs)]
        return tuple(sorted(can, key=lambda item: RANK[item.priority]))

    def by_status(self) -> dict[str, list[str]]:
        """Return the item ids under every status, in written order."""
        return {str(status): [item.id for item in self.items if item.status is status] for status in Status}


def _sum(one: dict[str, int], other: dict[str, int]) -> dict[str, int]:
    return {role: one.get(role, 0) + other.get(role, 0) for role in sorted({*one, *other})}
