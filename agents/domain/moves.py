"""What may a role ask for? A closed set of moves; anything else is not a move."""

from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from agents.domain.value import Value


class Read(Value):
    """Show a file, or its lines `first` to `last` (from 1, both included)."""

    kind: Literal["read"] = "read"
    path: str
    first: int | None = None
    last: int | None = None


class List(Value):
    """Name the files below a folder; "" is the root."""

    kind: Literal["list"] = "list"
    path: str = ""


class Search(Value):
    """Find lines that match a regular expression."""

    kind: Literal["search"] = "search"
    pattern: str


class Hunk(Value):
    """Replace the one place where `search` stands by `replace`."""

    search: str
    replace: str


class Edit(Value):
    """Change a file by hunks; applied whole or refused whole."""

    kind: Literal["edit"] = "edit"
    path: str
    hunks: tuple[Hunk, ...]


class Write(Value):
    """Make a file, or replace all of it."""

    kind: Literal["write"] = "write"
    path: str
    text: str


class Delete(Value):
    """Remove a file."""

    kind: Literal["delete"] = "delete"
    path: str


class Run(Value):
    """Run a command in a workspace of the present tree."""

    kind: Literal["run"] = "run"
    command: str


class Check(Value):
    """Run the item's checks on the present tree."""

    kind: Literal["check"] = "check"


class Submit(Value):
    """Claim that the item is done; a claim, not a fact."""

    kind: Literal["submit"] = "submit"
    summary: str


class GiveUp(Value):
    """End the attempt and say why."""

    kind: Literal["give_up"] = "give_up"
    reason: str


Move = Annotated[
    Read | List | Search | Edit | Write | Delete | Run | Check | Submit | GiveUp, Field(discriminator="kind")
]
Change = Edit | Write | Delete

MOVE: TypeAdapter[Move] = TypeAdapter(Move)
