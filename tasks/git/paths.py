"""Do it: which paths a tree may hold, and which one was meant."""

import difflib
import unicodedata
from collections.abc import Iterable

from agents.domain.errors import AskAgain

_LONGEST_PATH, _LONGEST_NAME = 1024, 255
_COMPARED = 5_000


def parts_of(path: str) -> tuple[bytes, ...]:
    """Split a path to be written into its names, or AskAgain: no way out of the tree and no way into a .git folder."""
    try:
        raw = path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise AskAgain(f"the path {shown(path)} is not valid Unicode") from None
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
    """Return a path as git's bytes say it, one text per path, also where it is not UTF-8."""
    return raw.decode("utf-8", "surrogateescape")


def bytes_of(path: str) -> bytes | None:
    """Return the bytes of a path, None where no path can be spelled like this."""
    try:
        return path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return None


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
