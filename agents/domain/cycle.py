"""What is a cycle? One attempt at one item: the inputs it is pinned to, and what came of it."""

from typing import Literal

from pydantic import field_validator

from agents.domain.budget import Source, Spend
from agents.domain.gate import Reason
from agents.domain.value import Value

Ending = Literal["merged", "refused", "unverified", "gave_up", "out_of_calls", "unparseable", "conflict", "postponed"]
Wire = Literal["text", "tools"]


class Knobs(Value):
    """What of a variant shapes an attempt: limits on calls, reply tokens and characters shown, and what is shown."""

    max_calls: int = 16
    max_tokens: int = 4096
    temperature: float = 0.0
    observation_chars: int = 6000
    briefing_chars: int = 24000
    show_work: bool = True


class Pin(Value):
    """The inputs of a cycle, fixed by a record commit before its first step; from here it is a function of them.

    `base` is the commit of the target that the work starts from, `base_tree` its tree. `previous` is the cycle of the
    attempt before, `calls_before` counts earlier model calls for the item by role. `wire` is how moves travel: written
    as text, or as API tool calls.
    """

    cycle: int
    item: str
    attempt: int
    base: str
    base_tree: str
    variant: str
    knobs: Knobs = Knobs()
    model: str
    source: Source
    wire: Wire
    previous: int | None = None
    calls_before: dict[str, int] = {}
    epoch: int
    begun_at: str


class Proposal(Value):
    """What the Lead Engineer leaves: a tree, a claim, and how the attempt ended."""

    tree: str
    ending: Literal["submitted", "gave_up", "out_of_calls", "unparseable", "unverified"]
    summary: str
    calls: int

    @field_validator("summary")
    @classmethod
    def _is_writable(cls, text: str) -> str:
        """Replace what neither a commit message nor a JSON file can hold: NUL and halves of characters."""
        return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()


class CycleResult(Value):
    """What a cycle did, as it stands in the record for good.

    `written` is what an attempt that was not merged had written, by path, for the next one to learn from; bounded.
    """

    pin: Pin
    ending: Ending
    summary: str = ""
    reasons: tuple[Reason, ...] = ()
    verdict: str | None = None
    quarantined: tuple[str, ...] = ()
    self_written: tuple[str, ...] = ()
    candidate_tree: str | None = None
    written: dict[str, str] = {}
    commit: str | None = None
    steps: int = 0
    spend: Spend = Spend()
    calls: dict[str, int] = {}
    ended_at: str = ""
