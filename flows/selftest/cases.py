"""When is a patch a case? A text file with front matter and moves, as a newcomer reads it, or a few made in code."""

from collections.abc import Callable, Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import PurePosixPath
from typing import Any, Literal, NamedTuple

import yaml
from pydantic import ValidationError

from agents.domain.edits import apply_hunks, text_to_bytes
from agents.domain.errors import AskAgain, Misconfigured
from agents.domain.moves import Delete, Edit, Move, Write
from agents.domain.value import Value
from agents.moves_text import parse
from tasks.git.trees import Trees

SUITE = files("flows") / "selftest"
Side = Literal["cheats", "honest"]


class Head(Value):
    """The front matter of a case.

    `item` names the solution whose acceptance checks are claimed, `accept` other checks instead. With `solved`, the
    item's honest solution is applied first, and the patch is what comes on top. `refused` lists the kinds of which at
    least one must be among the reasons; an honest patch has none. `start` names another state of the project, and
    `held_out` the tests that the patch was written without.
    """

    title: str
    item: str = ""
    accept: tuple[str, ...] = ()
    solved: bool = False
    grants: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    start: str = ""
    held_out: tuple[str, ...] = ()


class Case(NamedTuple):
    """One patch to judge: `make` returns the candidate for a start tree.

    `id` is the number in the catalogue, with a letter where a kind of cheat has several spellings. A case that is
    `alone` gets a repository of its own, because it changes more of it than a tree.
    """

    id: str
    side: Side
    head: Head
    make: Callable[[Trees, str], str]
    alone: bool = False

    @property
    def section(self) -> str:
        """The letter of the catalogue."""
        return self.id[0]


def read_cases(side: Side) -> tuple[Case, ...]:
    """Return every case of a folder by id; Misconfigured, naming the file, when one cannot be read."""
    return tuple(_case(file, side) for file in _texts(SUITE / side))


def project_files() -> dict[str, bytes]:
    """Return the toy project as it stands on the base, by path."""
    return dict(_walk(SUITE / "project", PurePosixPath()))


def solution(item: str) -> Case:
    """Return the honest solution of an item: its acceptance checks, and the moves that finish it."""
    return _case(SUITE / "solutions" / f"{item}.md", "honest")


def start(name: str) -> Case:
    """Return the moves that turn the project into another state of it."""
    return _case(SUITE / "bases" / f"{name}.md", "honest")


def held_out(names: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Return test files that no patch was shown, each a name and a text."""
    return tuple((name, (SUITE / "held_out" / name).read_text(encoding="utf-8")) for name in names)


def _case(file: Traversable, side: Side) -> Case:
    try:
        head, text = _split(file.read_text(encoding="utf-8"))
        moves = parse(text)
        known = Head.model_validate(head)
    except (ValidationError, AskAgain, ValueError, yaml.YAMLError) as error:
        raise Misconfigured(f"the case {file.name} cannot be read: {error}") from None
    return Case(
        id=file.name.removesuffix(".md").partition("-")[0],
        side=side,
        head=known,
        make=lambda trees, tree: _after(trees, tree, moves, file.name),
    )


def _after(trees: Trees, tree: str, moves: tuple[Move, ...], name: str) -> str:
    """Return the tree after the moves; Misconfigured, naming the case, when one does not fit."""
    try:
        for move in moves:
            tree = _moved(trees, tree, move)
    except AskAgain as error:
        raise Misconfigured(f"the case {name} does not fit the project: {error}") from None
    return tree


def _moved(trees: Trees, tree: str, move: Move) -> str:
    match move:
        case Edit():
            return trees.write(tree, move.path, apply_hunks(trees.read(tree, move.path), move.hunks, move.path))
        case Write():
            old = trees.read(tree, move.path) if move.path in trees.entries(tree) else None
            return trees.write(tree, move.path, text_to_bytes(move.text, old))
        case Delete():
            return trees.delete(tree, move.path)
    raise AskAgain(f"a case changes files; {move.kind} does not")


def _split(text: str) -> tuple[Any, str]:
    opening, _, rest = text.partition("---\n")
    head, closed, moves = rest.partition("\n---\n")
    if opening or not closed:
        raise ValueError("it must open with front matter between two lines ---")
    return yaml.safe_load(head), moves


def _texts(folder: Traversable) -> list[Traversable]:
    found = [file for file in folder.iterdir() if file.name.endswith(".md")]
    return sorted(found, key=lambda file: file.name)


def _walk(folder: Traversable, above: PurePosixPath) -> Iterator[tuple[str, bytes]]:
    for each in folder.iterdir():
        if each.name.startswith("__pycache__") or each.name.endswith("_cache"):
            continue
        if each.is_dir():
            yield from _walk(each, above / each.name)
        else:
            yield str(above / each.name), each.read_bytes()
