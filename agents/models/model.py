"""Who thinks? One small protocol: a request goes in, a reply comes out, and its source is never in doubt."""

from typing import NamedTuple, Protocol

from agents.domain.budget import Source, Usage
from agents.domain.events import Reply, Request


class Call(NamedTuple):
    """Who asks, for which item, and how many calls this role made for this item before (in all its attempts)."""

    role: str
    item: str
    ordinal: int


class Model(Protocol):
    """Answers requests. `source` is live, recorded or scripted, and stands in every reply, row and report."""

    @property
    def name(self) -> str:
        """The name the provider knows the model by, or the file the replies come from."""
        ...

    @property
    def source(self) -> Source:
        """Where the replies come from."""
        ...

    def check(self) -> None:
        """Refuse a model that can never answer (Misconfigured), before a mission begins; asks nobody outside."""
        ...

    def reply(self, request: Request, call: Call) -> Reply:
        """Answer, or raise TryLater (worth trying again) or Misconfigured (not)."""
        ...

    def price(self, usage: Usage) -> int | None:
        """Return what this usage costs in micro-dollars, or None when no price is known."""
        ...

    def calls_tools(self) -> bool:
        """Say whether the model is known to make API tool calls."""
        ...
