"""What was spent, and what may be? Tokens as the provider counted them, money in integer micro-dollars."""

from typing import Literal

from agents.domain.value import Value

Source = Literal["live", "recorded", "scripted"]


def label(source: Source) -> str:
    """Name a source for people: a script is never passed off as a model."""
    return "scripted, not a model" if source == "scripted" else source


class Usage(Value):
    """Tokens of one or more model calls. `cached` is part of `prompt`, `reasoning` is part of `completion`."""

    prompt: int = 0
    cached: int = 0
    completion: int = 0
    reasoning: int = 0

    @property
    def total(self) -> int:
        """All tokens that went in or came out."""
        return self.prompt + self.completion

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            prompt=self.prompt + other.prompt,
            cached=self.cached + other.cached,
            completion=self.completion + other.completion,
            reasoning=self.reasoning + other.reasoning,
        )


class Spend(Value):
    """What a cycle or a mission used. Money counts live calls alone; a live call without a price is never 0 money."""

    usage: Usage = Usage()
    micros: int = 0
    live: int = 0
    recorded: int = 0
    scripted: int = 0
    unpriced: int = 0
    possibly_billed: int = 0
    seconds: float = 0.0

    def __add__(self, other: "Spend") -> "Spend":
        return Spend(
            usage=self.usage + other.usage,
            micros=self.micros + other.micros,
            live=self.live + other.live,
            recorded=self.recorded + other.recorded,
            scripted=self.scripted + other.scripted,
            unpriced=self.unpriced + other.unpriced,
            possibly_billed=self.possibly_billed + other.possibly_billed,
            seconds=self.seconds + other.seconds,
        )

    @property
    def usd(self) -> float | None:
        """Money in dollars, or None when live calls were made and none of them had a price."""
        return None if self.unpriced and not self.micros else self.micros / 1_000_000


class Budget(Value):
    """Limits on one mission; None means no limit. Hours are those of finished calls, acts and verdicts alone."""

    usd: float | None = None
    tokens: int | None = None
    hours: float | None = None

    def exhausted_by(self, spend: Spend) -> str | None:
        """Say which limit is reached and by how much, or None while there is room."""
        if self.usd is not None and spend.micros >= round(self.usd * 1_000_000):
            return f"money: ${spend.micros / 1_000_000:.6f} of ${self.usd:.2f} spent"
        if self.tokens is not None and spend.usage.total >= self.tokens:
            return f"tokens: {spend.usage.total} of {self.tokens} used"
        if self.hours is not None and spend.seconds >= self.hours * 3600:
            return f"time: {spend.seconds / 3600:.2f} of {self.hours:.2f} hours worked"
        return None
