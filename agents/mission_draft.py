"""Who thinks what a mission is? Whoever wrote the file: a draft is what it says, before any repository is looked at."""

import re
import unicodedata
from collections.abc import Container, Mapping, Sequence
from difflib import get_close_matches
from graphlib import CycleError, TopologicalSorter
from hashlib import sha256
from typing import NoReturn

from agents.domain.budget import Budget
from agents.domain.checklist import Checklist, Item
from agents.domain.errors import Misconfigured
from agents.domain.value import Value

Place = int | str
"""A line of a text, or a path such as `tasks[2]` into JSON."""


class MissionDraft(Value):
    """A mission as its file tells it; None means that the file leaves it to the repository or to the defaults.

    `left_out` says which items of the file are not part of the draft, and why.
    """

    title: str
    brief: str = ""
    target: str | None = None
    checks: tuple[str, ...] | None = None
    protect: tuple[str, ...] | None = None
    budget: Budget = Budget()
    attempts: int | None = None
    checklist: Checklist
    left_out: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """The id of the mission: a slug of its title."""
        return slug(self.title) or "mission-" + sha256(self.title.encode()).hexdigest()[:8]

    @property
    def items(self) -> tuple[Item, ...]:
        """The items in the order they were written."""
        return self.checklist.items


def slug(text: str, limit: int = 40) -> str:
    """Return at most `limit` lower-case ASCII letters, digits and single dashes; "" when the text has none."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:limit].rstrip("-")


def unique(name: str, taken: Container[str]) -> str:
    """Return `name`, or the first of name-2, name-3, ... that is not taken."""
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name}-{number}"
    return free


def refuse(path: str, place: Place, reason: str) -> NoReturn:
    """Raise Misconfigured that names the place in a form an editor can open."""
    raise Misconfigured(f"{path}:{place}: {reason}")


def nearest(word: str, known: Sequence[str]) -> str:
    """Suggest the known word that was probably meant, else list them all."""
    close = get_close_matches(word, known, 1)
    return f"did you mean {str(close[0])!r}?" if close else f"it must be one of {', '.join(known)}"


def refuse_bad_needs(needs: Mapping[str, Sequence[tuple[Place, str]]], places: Mapping[str, Place], path: str) -> None:
    """Refuse needs that are no items, and items that wait for each other; `places` says where each item is written."""
    for name, wanted in needs.items():
        for place, need in wanted:
            if need not in places:
                refuse(path, place, f"{name} needs {need!r}, which is no item; {nearest(need, tuple(places))}")
    try:
        TopologicalSorter({name: [need for _, need in wanted] for name, wanted in needs.items()}).prepare()
    except CycleError as error:
        cycle = list(reversed(error.args[1]))
        refuse(path, places[cycle[0]], f"these items wait for each other: {' -> '.join(cycle)}; drop one of the needs")
