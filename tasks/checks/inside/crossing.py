"""How does a value cross between the judge and the candidate? As JSON that names its type: never by pickle.

Only a value whose type is exactly a plain one crosses. A subclass is none: it may compare, print or hash as it likes.
Read by the repository's own Python, which may be as old as 3.8.
"""

from __future__ import annotations

import datetime
import decimal
from typing import Any, Callable  # noqa: UP035  Python 3.8 knows collections.abc.Callable, but not its brackets

SAFE = 1 << 53
DEEPEST = 100
SEQUENCES = {kind.__name__: kind for kind in (list, tuple, set, frozenset)}
TIMES = {kind.__name__: kind for kind in (datetime.date, datetime.datetime, datetime.time)}
Other = Callable[[Any], Any]


class CannotCross(Exception):
    """A value is nested too deeply, or is nothing that the other process could have."""


def packed(value: Any, other: Other, depth: int = 0) -> Any:
    """Return the JSON that stands for `value`; what is not plain is left to `other`. CannotCross when nothing does."""
    kind = type(value)
    if depth > DEEPEST:
        raise CannotCross(f"a value that is nested more than {DEEPEST} deep cannot cross between the two processes")
    if value is None or kind in (bool, float, str) or (kind is int and -SAFE <= value <= SAFE):
        return value
    if kind is int:
        return ["int", hex(value)]  # decimal digits have a limit in Python
    if kind in SEQUENCES.values():
        return [kind.__name__, [packed(one, other, depth + 1) for one in value]]
    if kind is dict:
        return ["dict", [[packed(part, other, depth + 1) for part in pair] for pair in value.items()]]
    if kind in (bytes, bytearray):
        return [kind.__name__, value.hex()]
    if kind is complex:
        return ["complex", [value.real, value.imag]]
    if kind in TIMES.values():
        return [kind.__name__, value.isoformat()]
    if kind is datetime.timedelta:
        return ["timedelta", [value.days, value.seconds, value.microseconds]]
    if kind is decimal.Decimal:
        return ["Decimal", str(value)]
    return other(value)


def unpacked(data: Any, other: Other) -> Any:
    """Return the value that JSON from `packed` stands for; ValueError or TypeError when it stands for none."""
    if not isinstance(data, list):
        if isinstance(data, dict):
            raise TypeError("an object of JSON stands for no value")
        return data
    name, content = data
    if name in SEQUENCES:
        return SEQUENCES[name](unpacked(one, other) for one in content)
    if name == "dict":
        return {unpacked(key, other): unpacked(one, other) for key, one in content}
    if name == "int":
        return int(content, 16)
    if name in ("bytes", "bytearray"):
        return (bytes if name == "bytes" else bytearray).fromhex(content)
    if name == "complex":
        return complex(*content)
    if name in TIMES:
        return TIMES[name].fromisoformat(content)
    if name == "timedelta":
        return datetime.timedelta(*content)
    if name == "Decimal":
        return decimal.Decimal(content)
    return other(data)
