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

FENCE = re.compile(r"([ \t]*)(`{3,})([^`]*)")
HEAD = re.compile(
    r"(?:[\s#>-]|\*\s)*(?P<open>\*{1,3}|`?)"
    r"(?P<word>FILE|EDIT|DELETE|READ|LIST|FIND|RUN|CHECK|SUBMIT|GIVE UP)"
    r"(?P<close>[*`]*)(?:(?P<colon>:)(?P<rest>.*)|\s*)"
)
RANGE = re.compile(r"(.*?)\s+(?:lines?\s+)?(\d+)\s*-\s*(\d+)")
QUOTED = re.compile(r"(`+)([^`]+)\1")
OLD, MIDDLE, NEW = "<<<<<<< SEARCH", "=======", ">>>>>>> REPLACE"


def parse(text: str) -> tuple[Move, ...]:
    """Return the moves of a reply in order; prose around them is ignored.

    A move that cannot be read, or none at all, is refused with AskAgain that says what was wrong and what is expected.
    """
    lines = text.replace("\r\n", "\n").split("\n")
    moves: list[Move] = []
    at = 0
    while at < len(lines):
        if head := HEAD.fullmatch(lines[at]):
            move, at = _read_move(head["word"], _rest(head), lines, at + 1)
            moves += [move] if move is not None else []
        elif lines[at].startswith(OLD):
            raise AskAgain(f"line {at + 1}: {OLD} belongs to no file here; write EDIT: path on the line before it")
        else:
            at = _after_prose(lines, at)
    if not moves:
        raise AskAgain(
            "Your reply holds no move. Write a move on a line of its own, outside of a code fence, for example\n"
            "FILE: path/of/file.py\nfollowed by a fenced block with the whole file, or READ: path, CHECK, "
            "SUBMIT: summary."
        )
    return tuple(moves)


def _rest(head: re.Match[str]) -> str | None:
    """Return what follows the colon, without the other half of bold or back-ticks; None if there is no colon."""
    if head["colon"] is None:
        return None
    rest, mark = head["rest"], head["open"]
    if mark and not head["close"]:
        rest = rest.removeprefix(mark) if rest.startswith(mark) else rest.rstrip().removesuffix(mark)
    return rest.strip()


def _read_move(word: str, rest: str | None, lines: list[str], at: int) -> tuple[Move | None, int]:
    match word:
        case "CHECK":
            return (None if rest else Check()), at
        case "LIST":
            folder = _path(rest or "").strip("/")
            return List(path="" if folder == "." else folder), at
        case _ if rest is None:
            return None, at
        case _ if not rest:
            raise AskAgain(f"{word}: needs something after the colon on the same line")
        case "FILE":
            return _read_file(_path(rest), lines, at)
        case "EDIT":
            return _read_edit(_path(rest), lines, at)
        case "DELETE":
            return Delete(path=_path(rest)), at
        case "READ":
            return _read_read(_unquoted(rest)), at
        case "FIND":
            return Search(pattern=_unquoted(rest)), at
        case "RUN":
            return Run(command=_unquoted(rest)), at
        case "SUBMIT":
            return Submit(summary=rest), at
        case _:
            return GiveUp(reason=rest), at


def _read_file(path: str, lines: list[str], at: int) -> tuple[Move, int]:
    while at < len(lines) and not lines[at].strip():
        at += 1
    fence = FENCE.fullmatch(lines[at]) if at < len(lines) else None
    if fence is None:
        raise AskAgain(f"FILE: {path} must be followed by a fenced block that holds the whole file")
    end = _end_of_fence(lines, at, fence)
    if end is None:
        raise AskAgain(f"the fenced block of FILE: {path} never ends: send the file again, whole, and close the fence")
    return Write(path=path, text=_text(_unindented(lines[at + 1 : end], fence[1]))), end + 1


def _read_edit(path: str, lines: list[str], at: int) -> tuple[Move, int]:
    """Take every hunk up to the next move, each bare or in a fence; prose between them is ignored."""
    hunks: list[Hunk] = []
    fence = ""
    end = at
    while at < len(lines):
        if lines[at].startswith(OLD):
            hunk, at = _read_hunk(path, lines, at + 1)
            hunks.append(hunk)
            end = at
        elif fence and lines[at].strip() == fence:
            fence, at = "", at + 1
            end = at
        elif (found := FENCE.fullmatch(lines[at])) and not fence and _opens_hunk(lines, at):
            fence, at = found[2], at + 1
        elif found or HEAD.fullmatch(lines[at]):
            break
        else:
            at += 1
    if not hunks:
        raise AskAgain(f"EDIT: {path} must be followed by {OLD}, the old lines, {MIDDLE}, the new lines, {NEW}")
    return Edit(path=path, hunks=tuple(hunks)), end


def _read_hunk(path: str, lines: list[str], at: int) -> tuple[Hunk, int]:
    middle = _marker(path, lines, at, MIDDLE)
    end = _marker(path, lines, middle + 1, NEW)
    return Hunk(search=_text(lines[at:middle]), replace=_text(lines[middle + 1 : end])), end + 1


def _marker(path: str, lines: list[str], at: int, mark: str) -> int:
    """Return where the next marker line is; any other marker there means that the edit cannot be read for sure."""
    for number in range(at, len(lines)):
        line = lines[number].rstrip()
        if line == mark:
            return number
        if line in (OLD, MIDDLE, NEW):
            raise AskAgain(
                f"EDIT: {path} has the line {line!r} where {mark!r} must come first: send the edit again, whole, or, "
                "when the file itself holds such lines, send the file with FILE"
            )
    raise AskAgain(f"EDIT: {path} has a block without its line {mark!r}: send the edit again, whole")


def _after_prose(lines: list[str], at: int) -> int:
    """Return the line after this one, or after the fenced block that it opens; a fence that never ends is none."""
    fence = FENCE.fullmatch(lines[at])
    end = _end_of_fence(lines, at, fence) if fence and not _opens_hunk(lines, at) else None
    return at + 1 if end is None else end + 1


def _opens_hunk(lines: list[str], at: int) -> bool:
    return bool(FENCE.fullmatch(lines[at])) and at + 1 < len(lines) and lines[at + 1].startswith(OLD)


def _end_of_fence(lines: list[str], at: int, fence: re.Match[str]) -> int | None:
    """Return the line that ends the block: the same run alone, not deeper; None if there is none.

    A block inside that names a language has an end of its own; where they do not come out even, the first end counts.
    """
    first: int | None = None
    inner = 0
    for number in range(at + 1, len(lines)):
        found = FENCE.fullmatch(lines[number])
        if found is None or found[2] != fence[2] or len(found[1]) > len(fence[1]):
            continue
        if found[3].strip():
            inner += 1
        elif inner:
            first, inner = first or number, inner - 1
        else:
            return number
    return first


def _unindented(lines: list[str], indent: str) -> list[str]:
    """Take away the indentation of the fence, as long as every line that says something has it."""
    if indent and all(line.startswith(indent) for line in lines if line.strip()):
        return [line.removeprefix(indent) for line in lines]
    return lines


def _read_read(rest: str) -> Move:
    if found := RANGE.fullmatch(rest):
        return Read(path=_path(found[1]), first=int(found[2]), last=int(found[3]))
    return Read(path=_path(rest))


def _text(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _unquoted(text: str) -> str:
    quoted = QUOTED.fullmatch(text)
    return quoted[2].strip() if quoted else text


def _path(text: str) -> str:
    return text.strip().strip("`*\"'").strip().removeprefix("./")
