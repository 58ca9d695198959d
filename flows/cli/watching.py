"""When a mission runs: item, step, tokens, cost and the age of the last event, for whoever is looking."""

import logging
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from agents.domain.budget import Spend, label
from agents.domain.errors import LraError
from agents.domain.state import State
from flows.cli.console import Answer
from flows.outcome import standing_of, summary, told
from tasks.git.reading import Shelf
from tasks.journal import file_of, folder_of, tally
from tasks.tally import Tally

if TYPE_CHECKING:
    from rich.console import Console

EVERY_SECONDS = 0.5
BETWEEN_SECONDS = 15.0  # from the end of a cycle to the record of the next one, at a slow origin


def follow(shelf: Shelf, mission: str, home: Path, once: bool) -> Answer:
    """Return the view that follows a mission until no run works on it any more, or shows it once."""
    state = shelf.state(mission)
    journals = _journals(shelf, mission, home)

    def show(console: "Console") -> None:
        with _shown_on(console) as say:
            seen = float("-inf")
            while _is_at_work(now := shelf.state(mission)) or _is_between(now, seen):
                seen = time.monotonic() if now.standing.open else seen
                say(line(now, journals))
                time.sleep(EVERY_SECONDS)
        console.print(told(now, standing_of(now)))

    data = summary(state, standing_of(state)) | {"now": line(state, journals)}
    return Answer(data, line(state, journals) if once else show)


def line(state: State, journals: Path) -> str:
    """Say in one line what is going on."""
    pin = state.standing.open
    if pin is None:
        return f"{state.mission.id}: {standing_of(state).status}, no cycle is open"
    path = file_of(journals, pin.cycle)
    seen = tally(path) if path.exists() else Tally()
    spend = state.standing.spend + seen.spend
    age = f"{max(0.0, time.time() - seen.at):.0f} s ago" if seen.at else "not yet"
    return (
        f"{pin.item} (cycle {pin.cycle}, attempt {pin.attempt}): {seen.doing or 'orient'}, step {seen.steps}; "
        f"{spend.usage.total} tokens, {_money(spend)}; last event {age}; {label(pin.source)}"
    )


@contextmanager
def _shown_on(console: "Console") -> Iterator[Callable[[str], None]]:
    """Give the way to say the present line: redrawn on a terminal; in a pipe a new line when something happened."""
    from rich.live import Live

    said: list[str] = []

    def say(text: str) -> None:
        happened = text.rpartition("; last event ")[0] or text
        if said != [happened]:
            said[:] = [happened]
            console.print(text)
            console.file.flush()

    if not console.is_terminal:
        yield say
        return
    with Live(console=console, auto_refresh=False, transient=True) as live:
        yield lambda text: live.update(text, refresh=True)


@contextmanager
def shown(home: Path, origin: str, mission: str) -> Iterator[None]:
    """While the block runs, say on stderr what LRA logs; on a terminal with a live line below."""
    log = logging.getLogger("lra")
    log.setLevel(logging.INFO)
    if sys.stderr.isatty():
        with _live(Shelf(origin, home), mission, home) as handler, _heard(log, handler):
            yield
    else:
        with _heard(log, logging.StreamHandler(sys.stderr)):
            yield


@contextmanager
def _heard(log: logging.Logger, handler: logging.Handler) -> Iterator[None]:
    log.addHandler(handler)
    try:
        yield
    finally:
        log.removeHandler(handler)


@contextmanager
def _live(shelf: Shelf, mission: str, home: Path) -> Iterator[logging.Handler]:
    from rich.console import Console
    from rich.live import Live

    over = threading.Event()
    with Live(console=Console(stderr=True, markup=False, highlight=False), auto_refresh=False, transient=True) as live:

        def refresh() -> None:
            journals: Path | None = None  # found once: its name is in the first commit of a record that only grows
            while not over.wait(EVERY_SECONDS):
                if (state := _state(shelf, mission)) is not None:
                    journals = journals or _journals(shelf, mission, home)
                    live.update(line(state, journals), refresh=True)

        watcher = threading.Thread(target=refresh, daemon=True)
        watcher.start()
        try:
            yield _Above(live.console.print)
        finally:
            over.set()
            watcher.join()


class _Above(logging.Handler):
    """Prints records above a live line."""

    def __init__(self, show: Callable[[str], None]) -> None:
        super().__init__()
        self._show = show

    def emit(self, record: logging.LogRecord) -> None:
        """Show one record."""
        self._show(self.format(record))


def _is_at_work(state: State) -> bool:
    return state.standing.open is not None and standing_of(state).status != "interrupted"


def _is_between(state: State, seen: float) -> bool:
    """Say whether the next cycle of a run may be about to open: work is left, and one was open a moment ago."""
    return standing_of(state).status == "ready" and time.monotonic() - seen < BETWEEN_SECONDS


def _state(shelf: Shelf, mission: str) -> State | None:
    try:
        return shelf.state(mission)
    except LraError:
        return None  # not started yet, or an origin that is away for a moment: the run itself will say so


def _journals(shelf: Shelf, mission: str, home: Path) -> Path:
    return folder_of(home, mission, shelf.root(mission))


def _money(spend: Spend) -> str:
    return "unpriced" if spend.usd is None else f"${spend.usd:.4f}"
