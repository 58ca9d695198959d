"""When is something said, and to whom? People on a terminal, plain text in a pipe, or one JSON object for a program."""

import json
import math
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple

import click

if TYPE_CHECKING:  # rich takes longer to import than most verbs take to answer
    from rich.console import Console


class Exit(IntEnum):
    """What the exit code of `lra` says."""

    DONE = 0
    INCOMPLETE = 1
    USAGE = 2
    WAITING = 3
    BUDGET = 4
    UNVERIFIED = 5
    INTERRUPTED = 130


EVERYWHERE: tuple[click.Parameter, ...] = (
    click.Option(["--json"], is_flag=True, expose_value=False, help="Print one JSON object on stdout, nothing else."),
    click.Option(["--debug"], is_flag=True, expose_value=False, help="Show the traceback of an error."),
)

View = str | Callable[["Console"], None] | None


class Answer(NamedTuple):
    """What a verb returns, and its only way to reach stdout: `data` is for `--json`, `view` is for people.

    A view that is a function runs only when people read, so it may also stream; None shows nothing.
    """

    data: dict[str, Any]
    view: View
    exit: Exit = Exit.DONE


def progress(text: str) -> None:
    """Say on stderr what is going on; never part of the answer."""
    print(text, file=sys.stderr, flush=True)


def give(answer: Answer) -> Answer:
    """Show the answer to people; a reader that went away (`lra log | head`) ends it in silence."""
    try:
        if isinstance(answer.view, str):
            print(answer.view)
        elif answer.view is not None:
            answer.view(screen())
        sys.stdout.flush()
    except (BrokenPipeError, SystemExit):  # rich turns the first into the second
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return answer


def screen() -> "Console":
    """Return stdout for people: colours on a terminal alone and never with NO_COLOR; lines stay unbroken."""
    from rich.console import Console

    return Console(markup=False, emoji=False, highlight=False, soft_wrap=True)


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> Callable[["Console"], None]:
    """Make a view of rows: a drawn table on a terminal, columns of plain unwrapped text in a pipe."""
    cells = [list(row) for row in rows]

    def show(console: "Console") -> None:
        if console.is_terminal:
            _draw(console, header, cells)
        else:
            console.print(columns(header, cells))

    return show


def columns(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Align rows under their header, two spaces apart; every row stays one line."""
    lines = [[" ".join(cell.split()) for cell in row] for row in (header, *rows)]
    widths = [max(len(line[n]) for line in lines) for n in range(len(header))]
    return "\n".join("  ".join(cell.ljust(widths[n]) for n, cell in enumerate(line)).rstrip() for line in lines)


def _draw(console: "Console", header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from rich.box import SIMPLE
    from rich.table import Table

    drawn = Table(*header, box=SIMPLE, pad_edge=False)
    for column in drawn.columns:
        column.overflow = "fold"
    for row in rows:
        drawn.add_row(*row)
    console.print(drawn, soft_wrap=False)


@contextmanager
def stdout_for_json() -> Iterator[Callable[[dict[str, Any]], None]]:
    """Keep stdout for one JSON object: what else is printed meanwhile, also by children, goes to stderr."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)

    def write(data: dict[str, Any]) -> None:
        sys.stdout.flush()
        try:
            os.write(kept, (json.dumps(_finite(data), default=str, allow_nan=False) + "\n").encode())
        except BrokenPipeError:
            return

    try:
        yield write
    finally:
        os.close(kept)


def _finite(data: Any) -> Any:
    """Return the same data with null for what JSON cannot say: not a number, and infinity."""
    if isinstance(data, dict):
        return {key: _finite(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_finite(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data
