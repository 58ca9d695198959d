"""Do it, durably: an open cycle, with its pinned inputs and everything that its stages work with."""

from datetime import UTC, datetime
from typing import NamedTuple

from agents.domain.checklist import Item
from agents.domain.cycle import Knobs, Pin
from agents.domain.errors import Misconfigured
from agents.domain.mission import Mission
from agents.lead_engineer import ROLE
from agents.models.model import Model
from tasks.checks.measure import Plan
from tasks.git.record import Event
from tasks.git.trees import Trees
from tasks.hold import Held
from tasks.redact import Redactor


class Means(NamedTuple):
    """What a run brings to every cycle: model, variant and knobs, how moves travel, and what the operator allows."""

    model: Model
    variant: str
    knobs: Knobs
    moves: str
    check_seconds: int
    unsandboxed: bool = False


class Cycle:
    """One attempt at one item. All that its stages do is a function of `pin`; what they did is in `journal`."""

    def __init__(self, held: Held, means: Means, pin: Pin) -> None:
        self.held = held
        self.model = means.model
        self.pin = pin
        self.mission: Mission = held.state.mission
        self.item: Item = held.state.checklist[pin.item]
        self.trees: Trees = held.store.trees
        self.plan = Plan(suites=self.mission.checks, acceptance=self.item.checks, seconds=means.check_seconds)
        self.unsandboxed = means.unsandboxed
        self.redact = Redactor(self.trees, pin.base_tree)
        self.journal = held.journal(pin)

    def text(self, tree: str, path: str) -> str:
        """Return a file as a model may read it: UTF-8, plain line ends, no secret of the repository."""
        return self.redact(self.trees.read(tree, path).decode("utf-8", "replace").replace("\r\n", "\n"))


def begin(held: Held, item: str, means: Means) -> Pin:
    """Pin the inputs of a new cycle by a record commit: from here it is a function of them, on any machine."""
    state = held.state
    target = state.mission.target
    held.store.fetch()
    base = held.store.head(target)
    if base is None:
        raise Misconfigured(f"{held.store.origin} has no branch {target!r} any more, which the mission merges into")
    model = means.model
    tools = means.moves == "tools" or (means.moves == "auto" and model.calls_tools())
    number = state.standing.cycles + 1
    pin = Pin(
        cycle=number,
        item=item,
        attempt=state.checklist[item].attempts + 1,
        base=base,
        base_tree=held.store.trees.tree_of(base),
        variant=means.variant,
        knobs=means.knobs,
        model=model.name,
        source=model.source,
        wire="tools" if tools else "text",
        previous=state.checklist[item].last_cycle,
        calls_before=state.checklist[item].calls,
        epoch=state.standing.epoch,
        begun_at=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    event = Event("cycle_begun", f"attempt {pin.attempt} at {item}", number, item)
    held.record.append(event, state.begun(pin))
    return pin


def ordinal(cycle: Cycle, position: int) -> int:
    """Return how many calls the Lead Engineer made for this item before call `position` of this attempt."""
    return cycle.pin.calls_before.get(ROLE, 0) + position
