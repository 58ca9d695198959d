"""How did it go? What each stage found, in their order, and beside that where the time went."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from agents.domain.gate import Reason, Stage


class Course:
    """The stages of one judgement as they are gone through; `cached` when none was, since the verdict was there.

    Their outcomes are part of the verdict, their wall time in `seconds` never: equal trees have equal verdicts.
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.cached = False
        self._found: dict[str, list[Reason] | None] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[list[Reason]]:
        """Go through a stage, which refuses for as long as the list that it is given holds a reason."""
        begun = time.perf_counter()
        found = self._found[name] = list[Reason]()
        try:
            yield found
        finally:
            self.seconds[name] = round(time.perf_counter() - begun, 3)

    def spare(self, name: str) -> None:
        """Leave a stage out: its answer could change nothing."""
        self._found[name] = None

    @property
    def stages(self) -> tuple[Stage, ...]:
        """Every stage so far, in order."""
        return tuple(_ended(name, found) for name, found in self._found.items())


def _ended(name: str, found: list[Reason] | None) -> Stage:
    if found is None:
        return Stage(name=name, outcome="spared")
    return Stage(name=name, outcome="refused" if found else "clear", reasons=len(found))
