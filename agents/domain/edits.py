"""What does an edit make of a file? Exactly what was asked, in the one place that was meant, or nothing at all."""

import difflib
from bisect import bisect_left

from agents.domain.errors import AskAgain
from agents.domain.moves import Hunk

_BOM = b"\xef\xbb\xbf"
_SHOWN_LINES, _SHOWN_PLACES = 30, 10
_COMPARED_LINES, _COMPARED_LETTERS, _LIKE = 30, 160, 0.5


def apply_hunks(original: bytes, hunks: tuple[Hunk, ...], path: str) -> bytes:
    """Return the file with every hunk applied in order, each to what the one before it left.

    A search text must stand in the file exactly once; otherwise the edit is refused whole with AskAgain, which says
    which hunk, why, and shows the closest text. What no hunk changes keeps every byte: line endings, encoding, BOM,
    and whether the file ends with a newline.
    """
    if not hunks:
        raise AskAgain(f"the edit of {path} has no SEARCH/REPLACE block; write at least one")
    raw = original.removeprefix(_BOM).decode("utf-8", "surrogateescape")
    usual = _usual_ending(raw)
    edited = raw
    for number, hunk in enumerate(hunks, 1):
        edited = _apply(edited, hunk, usual, f"hunk {number} of {len(hunks)} in {path}")
    if raw and edited:
        edited = (
            _with_final_newline(edited, usual) if raw.endswith("\n") else edited.removesuffix("\n").removesuffix("\r")
        )
    return (_BOM if original.startswith(_BOM) else b"") + edited.encode("utf-8", "surrogateescape")


def text_to_bytes(text: str, original: bytes | None) -> bytes:
    """Return the content of a whole-file write: it ends with exactly one newline, unless it is empty.

    A file that is replaced keeps its byte order mark, and CRLF where most of its lines had it. AskAgain for text that
    no UTF-8 file can hold.
    """
    ending, mark = "\n", b""
    if original is not None:
        ending = _usual_ending(original.decode("utf-8", "surrogateescape"))
        mark = _BOM if original.startswith(_BOM) else b""
    body = text.removeprefix("\ufeff").replace("\r\n", "\n").rstrip("\n")
    _assert_unicode(body, "the file")
    return mark + (body + "\n" if body else "").replace("\n", ending).encode()


def _apply(raw: str, hunk: Hunk, usual: str, name: str) -> str:
    search, replace = hunk.search.replace("\r\n", "\n"), hunk.replace.replace("\r\n", "\n")
    _assert_unicode(replace, f"the REPLACE text of {name}")
    text, wide = _plain(raw)
    start, end = _place_of(text, search, name)
    if end > len(text):  # the last line has no newline in the file, and none is added
        end, replace = len(text), replace.removesuffix("\n")
    first, last = start + bisect_left(wide, start), end + bisect_left(wide, end)
    return raw[:first] + _with_endings(raw[first:last], replace, _ending_at(raw, first, usual)) + raw[last:]


def _plain(raw: str) -> tuple[str, list[int]]:
    """Return the text with LF endings only, and where in it the line ends are that were CRLF."""
    pieces = raw.split("\r\n")
    wide: list[int] = []
    at = 0
    for piece in pieces[:-1]:
        at += len(piece)
        wide.append(at)
        at += 1
    return "\n".join(pieces), wide


def _place_of(text: str, search: str, name: str) -> tuple[int, int]:
    """Return where the search text stands, once and only once, or refuse."""
    if not search.strip("\n"):
        if not text.strip("\n"):
            return 0, len(text)
        raise AskAgain(
            f"{name}: the SEARCH text is empty; copy the lines to replace, or write the whole file with FILE"
        )
    within = text if text.endswith("\n") else text + "\n"
    places: list[int] = []
    at = within.find(search)
    while at >= 0:
        places.append(at)
        at = within.find(search, at + 1)
    if len(places) == 1:
        return places[0], places[0] + len(search)
    if not places:
        raise AskAgain(f"{name}: the SEARCH text is not in the file. {_closest(text, search)} Nothing was changed")
    lines = ", ".join(str(text.count("\n", 0, place) + 1) for place in places[:_SHOWN_PLACES])
    more = "" if len(places) <= _SHOWN_PLACES else " and more"
    raise AskAgain(
        f"{name}: the SEARCH text was found {len(places)} times (lines {lines}{more}); add lines around it until only "
        "one place is meant. Nothing was changed"
    )


def _with_endings(old: str, new: str, ending: str) -> str:
    """Give the new text the line endings of what it replaces; a line that stays keeps its own."""
    before, after = old.split("\n"), new.split("\n")
    kinds = {"\r\n" if line.endswith("\r") else "\n" for line in before[:-1]}
    if len(kinds) < 2:
        return new.replace("\n", kinds.pop() if kinds else ending)
    plain = [line.removesuffix("\r") for line in before[:-1]] + before[-1:]
    fresh = [line + ending for line in after[:-1]] + after[-1:]
    for first, to, size in difflib.SequenceMatcher(None, plain, after).get_matching_blocks():
        for step in range(min(size, len(before) - 1 - first, len(after) - 1 - to)):
            fresh[to + step] = before[first + step] + "\n"
    return "".join(fresh)


def _ending_at(raw: str, place: int, usual: str) -> str:
    end = raw.find("\n", place)
    if end < 0:
        return usual
    return "\r\n" if raw[:end].endswith("\r") else "\n"


def _usual_ending(raw: str) -> str:
    wide = raw.count("\r\n")
    return "\r\n" if wide > raw.count("\n") - wide else "\n"


def _with_final_newline(text: str, usual: str) -> str:
    return text if text.endswith("\n") else text + usual


def _closest(text: str, search: str) -> str:
    """Say what in the file is most like the search text, with line numbers; the work is bounded for any file."""
    lines, wanted = text.split("\n"), search.strip("\n").split("\n")
    start = _likeliest(lines, wanted)
    if start is None:
        return "Nothing like it is there; READ the file first."
    there = lines[start : start + len(wanted)]
    same = [line.split() for line in there] == [line.split() for line in wanted]
    why = "Only the white space differs from" if same else "The closest text is"
    shown = [f"{start + n}: {line[:300]}" for n, line in enumerate(there[:_SHOWN_LINES], 1)]
    return f"{why} lines {start + 1} to {start + len(there)}:\n" + "\n".join(shown) + "\n"


def _likeliest(lines: list[str], wanted: list[str]) -> int | None:
    """Return the first line of the place that shares most lines with what is wanted, or has the line most like one."""
    keys = {line.strip() for line in wanted if line.strip()}
    hits = [line.strip() in keys for line in lines]
    if any(hits):
        width = len(wanted)
        score = best = sum(hits[:width])
        place = 0
        for start in range(1, len(lines)):
            score += (hits[start + width - 1] if start + width - 1 < len(lines) else 0) - hits[start - 1]
            if score > best:
                best, place = score, start
        return _aligned(lines, wanted, place)
    offset = max(range(len(wanted)), key=lambda number: len(wanted[number].strip()))
    number = _most_like(wanted[offset].strip(), lines)
    return None if number is None else max(0, number - offset)


def _most_like(line: str, lines: list[str]) -> int | None:
    """Return the line most like one: quickly by the letter triples they share, then by difflib among the best."""
    wanted = _triples(line)
    shared = [len(wanted & _triples(other.strip())) for other in lines]
    few = sorted(range(len(lines)), key=lambda number: -shared[number])[:_COMPARED_LINES]
    matcher = difflib.SequenceMatcher(b=line[:_COMPARED_LETTERS], autojunk=False)
    likeness = {}
    for number in few:
        matcher.set_seq1(lines[number].strip()[:_COMPARED_LETTERS])
        likeness[number] = matcher.ratio()
    best = max(few, key=lambda number: likeness[number])
    return best if likeness[best] >= _LIKE else None


def _triples(line: str) -> set[str]:
    short = line[:_COMPARED_LETTERS]
    return {short[at : at + 3] for at in range(len(short) - 2)}


def _aligned(lines: list[str], wanted: list[str], place: int) -> int:
    """Shift a place so that its first shared line stands where the search text has it."""
    plain = [line.strip() for line in wanted]
    for number in range(place, min(place + len(wanted), len(lines))):
        if lines[number].strip() and lines[number].strip() in plain:
            return max(0, number - plain.index(lines[number].strip()))
    return place


def _assert_unicode(text: str, where: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        letter = ascii(text[error.start])
        raise AskAgain(f"{where} holds {letter}, half a character that no UTF-8 file can hold; leave it out") from None
