"""What is written down? The rows of a cycle's journal, one format for resume, transcript, metrics and recording."""

from typing import Any, Literal, NamedTuple

from agents.domain.budget import Source, Usage
from agents.domain.value import Value

RowKind = Literal["cycle", "think", "act", "verify", "end"]


class Key(NamedTuple):
    """Names a step: `place` finds its row (stage, role, position), the digest of its `inputs` proves it is the same."""

    kind: RowKind
    place: str
    inputs: str


class Row(Value):
    """One line of a journal.

    `cycle` opens the file with the pin; a step is an `intent` and then a `result`; `end` closes it. `at` is seconds
    since the epoch by the clock of the machine, for people and metrics only. `inputs` is the digest of the step's
    inputs.
    """

    format: int = 1
    seq: int
    phase: Literal["intent", "result", "fact"]
    kind: RowKind
    place: str = ""
    inputs: str = ""
    at: float
    data: dict[str, Any] = {}


class Message(Value):
    """One message of a conversation with a model."""

    role: Literal["system", "user", "assistant"]
    content: str


class Request(Value):
    """What a model is asked: a function of trees, record and variant alone, so that equal work gives equal digests."""

    messages: tuple[Message, ...]
    tools: bool = False
    temperature: float = 0.0
    max_tokens: int = 4096


class ToolCall(Value):
    """A move as an API tool call: its name, and its arguments as the JSON text the model wrote."""

    name: str
    arguments: str


class Reply(Value):
    """What came back. `micros` is the price of the call in micro-dollars; None means that no price is known."""

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage
    micros: int | None = None
    source: Source
    model: str
    seconds: float = 0.0
    finish: str = ""


class Observation(Value):
    """What an act showed; `text` goes to the model, `ok` says whether the move did what it asked for."""

    text: str
    ok: bool = True
