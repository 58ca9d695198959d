"""Do it: which paths a tree may hold, and which one was meant."""

import difflib
import os
import re
import unicodedata
from collections.abc import Iterable

from agents.domain.errors import AskAgain

_LONGEST_PATH, _LONGEST_NAME = 1024, 255
_COMPARED = 5_000
# A byte that is no UTF-8 stands in a text as one letter of this range, which no name of a person's uses; a name that
# does has the three bytes of that letter written so, one by one. Unlike halves of surrogates, such text is Unicode.
_RAW = re.compile("[\uef80-\uefff]")
_TO_RAW = {0xDC00 + byte: 0xEF00 + byte for byte in range(0x80, 0x100)}
_FROM_RAW = {raw: half for half, raw in _TO_RAW.items()}


def parts_of(path: str) -> tuple[bytes, ...]:
    """Split a path to be written into its names, or AskAgain: no way out of the tree and no way into a .git folder."""
    raw = bytes_of(path)
    if raw is None:
        raise AskAgain(f"the path {shown(path)} is not valid Unicode")
    parts = tuple(raw.split(b"/"))
    if raw.startswith(b"/"):
        fault = "is absolute; name it from the root of the repository, without a leading /"
    elif b"" in parts:
        fault = "has an empty part; write folder/file"
    elif any(not is_safe_name(part) for part in parts):
        fault = 'has a part that no file may have: ".", "..", ".git" or a spelling of it'
    elif "\\" in path or any(unicodedata.category(letter) == "Cc" for letter in path):
        fault = "has a backslash or a control character; use / between folders and plain letters in names"
    elif len(raw) > _LONGEST_PATH or any(len(part) > _LONGEST_NAME for part in parts):
        fault = f"is too long: at most {_LONGEST_NAME} bytes a name and {_LONGEST_PATH} in all"
    else:
        return parts
    raise AskAgain(f"the path {shown(path)} {fault}")


def is_safe_name(name: bytes) -> bool:
    """Say whether a name stays where it is put, on every file system git knows: HFS+ drops letters, NTFS final dots."""
    text = name.decode("utf-8", "surrogateescape")
    seen = "".join(letter for letter in text if unicodedata.category(letter) != "Cf").casefold()
    seen = seen.split(":", 1)[0].rstrip(". ")
    return seen not in ("", ".git", "git~1") and b"/" not in name and b"\0" not in name


def text_of(raw: bytes) -> str:
    """Return a path as git's bytes say it: valid Unicode, and one text per path, also where it is not UTF-8."""
    text = raw.decode("utf-8", "surrogateescape")
    if text.isascii():
        return text
    return _RAW.sub(lambda found: found[0].encode().decode("ascii", "surrogateescape"), text).translate(_TO_RAW)


def bytes_of(path: str) -> bytes | None:
    """Return the bytes that `text_of` makes this text of, None where there are none: no path has two spellings."""
    plain = utf8(path)
    if plain is None or not _RAW.search(path):
        return plain
    raw = path.translate(_FROM_RAW).encode("utf-8", "surrogateescape")
    return raw if text_of(raw) == path else None


def utf8(text: str) -> bytes | None:
    """Return a text as UTF-8, None where it holds half a surrogate pair and no file could."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return None


def on_disk(path: str) -> str:
    """Return a path of a tree as the file system is told it."""
    return os.fsdecode(bytes_of(path) or b"")


def shown(path: str) -> str:
    """Quote a path for a message: one line, printable, at most 200 letters."""
    return ascii(path)[:200] if not path.isprintable() else f'"{path[:200]}"'


def nearest(path: str, paths: Iterable[str]) -> str:
    """Say which paths may have been meant, as the end of a message."""
    known = list(paths)
    name = path.rstrip("/").rsplit("/", 1)[-1].casefold()
    close = [other for other in known if other.rsplit("/", 1)[-1].casefold() == name][:3]
    close = close or difflib.get_close_matches(path, known[:_COMPARED], 3)
    return f"; nearest: {', '.join(map(shown, close))}" if close else "; LIST shows what there is"
