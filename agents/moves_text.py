"""Who thinks? Moves written as text, for models without tool calling and for scripted replies."""

import re

from agents.domain.errors import AskAgain
from agents.domain.moves import (
    Check,
    Delete,
    Edit,
    GiveUp,
    Hunk,
    List,
    Move,
    Read,
    Run,
    Search,
    Submit,
    Write,
)

FENCE = re.compile(r"^\s*(`{3,})[^`]*$")
HEAD = re.compile(
    r"^[\s*#>-]*(FILE|EDIT|DELETE|READ|LIST|FIND|RUN|CHECK|SUBMIT|GIVE UP)\b[*`]*(?::[ \t]*(.*?))?[ \t]*$"
)
RANGE = re.compile(r"^(.*?)\s+(\d+)\s*-\s*(\d+)$")


def parse(text: str) -> tuple[Move, ...]:
    """Return the moves of a reply in order; prose around them is ignored.

    A move that cannot be read, or none at all, is refused with AskAgain that says what was wrong and what is expected.
    """
    lines = text.splitlines()
    moves: list[Move] = []
    at = 0
    while at < len(lines):
        if fence := FENCE.match(lines[at]):
            at = _end_of_fence(lines, at, fence.group(1)) + 1
            continue
        head = HEAD.match(lines[at])
        if head is None:
            at += 1
            continue
        move, at = _read_move(head.group(1), (head.group(2) or "").strip(), lines, at + 1)
        if move is not None:
            moves.append(move)
    if not moves:
        raise AskAgain(
            "Your reply holds no move. Write a move on a line of its own, outside of a code fence, for example\n"
            "FILE: path/of/file.py\nand then a fenced block with the whole file, or READ: path, CHECK, SUBMIT: summary."
        )
    return tuple(moves)


def _read_move(word: str, rest: str, lines: list[str], at: int) -> tuple[Move | None, int]:
    if word == "CHECK":
        return (Check(), at) if not rest else (None, at)
    if word == "LIST":
        return List(path=_path(rest).strip("/").removeprefix("./").removeprefix(".")), at
    if not rest:
        raise AskAgain(f"{word}: needs something after the colon on the same line")
    match word:
        case "FILE":
            return _read_file(_path(rest), lines, at)
        case "EDIT":
            return _read_edit(_path(rest), lines, at)
        case "DELETE":
            return Delete(path=_path(rest)), at
        case "READ":
            return _read_read(rest), at
        case "FIND":
            return Search(pattern=rest.strip("`")), at
        case "RUN":
            return Run(command=rest.strip("`")), at
        case "SUBMIT":
            return Submit(summary=rest), at
        case _:
            return GiveUp(reason=rest), at


def _read_file(path: str, lines: list[str], at: int) -> tuple[Move, int]:
    while at < len(lines) and not lines[at].strip():
        at += 1
    fence = FENCE.match(lines[at]) if at < len(lines) else None
    if fence is None:
        raise AskAgain(f"FILE: {path} must be followed by a fenced block that holds the whole file")
    end = _end_of_fence(lines, at, fence.group(1))
    if end == len(lines):
        raise AskAgain(f"the fenced block of FILE: {path} never ends: send the file again, whole, and close the fence")
    return Write(path=path, text="\n".join(lines[at + 1 : end]) + "\n"), end + 1


def _read_edit(path: str, lines: list[str], at: int) -> tuple[Move, int]:
    hunks: list[Hunk] = []
    while True:
        start = at
        while at < len(lines) and (not lines[at].strip() or FENCE.match(lines[at])):
            at += 1
        if at == len(lines) or not lines[at].startswith("<<<<<<< SEARCH"):
            break
        middle = _find(lines, at + 1, "=======", path)
        end = _find(lines, middle + 1, ">>>>>>> REPLACE", path)
        hunks.append(Hunk(search=_text(lines[at + 1 : middle]), replace=_text(lines[middle + 1 : end])))
        at = end + 1
    if not hunks:
        raise AskAgain(
            f"EDIT: {path} must be followed by <<<<<<< SEARCH, the old lines, =======, the new lines, >>>>>>> REPLACE"
        )
    return Edit(path=path, hunks=tuple(hunks)), start


def _read_read(rest: str) -> Move:
    if found := RANGE.match(rest):
        return Read(path=_path(found.group(1)), first=int(found.group(2)), last=int(found.group(3)))
    return Read(path=_path(rest))


def _find(lines: list[str], at: int, mark: str, path: str) -> int:
    for number in range(at, len(lines)):
        if lines[number].rstrip() == mark:
            return number
    raise AskAgain(f"EDIT: {path} has a block without its line {mark!r}: send the edit again, whole")


def _text(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _end_of_fence(lines: list[str], at: int, run: str) -> int:
    for number in range(at + 1, len(lines)):
        if lines[number].strip() == run:
            return number
    return len(lines)


def _path(text: str) -> str:
    return text.strip().strip("`*\"'").strip()
