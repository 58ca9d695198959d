"""Where did the time of the gate go? Beside the verdict, never in it: equal trees have equal verdicts."""

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Timing:
    """Seconds of wall time by stage, and whether the verdict was there already."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.cached = False

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Count the time of the block to a stage."""
        begun = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = round(self.seconds.get(name, 0.0) + time.perf_counter() - begun, 3)
