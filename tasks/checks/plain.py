"""Make text free of the machine it was made on: no paths, times or addresses, so that equal work gives equal text."""

import os
import re
from collections.abc import Mapping
from pathlib import Path

ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{4,16}\b")
TIMES = (
    (re.compile(r"\bin \d+(?:\.\d+)? ?(s|ms|sec|seconds?)\b"), r"in N \1"),
    (re.compile(r"\b\d+\.\d+ ?(s|ms|µs|sec|seconds?)\b"), r"N \1"),
    (re.compile(r"\(\d+ ?ms\)"), "(N ms)"),
    (re.compile(r"\b(duration_ms|duration)([\"']?[:= ] ?)\d+(?:\.\d+)?"), r"\1\2N"),
    (re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?"), "<time>"),
)


def without_places(text: str, places: Mapping[Path, str]) -> str:
    """Replace each folder of the machine by its word, the longest first; "" stands for the workspace itself."""
    spellings = {spelling: word for place, word in places.items() for spelling in (str(place), os.path.realpath(place))}
    for spelling in sorted(spellings, key=len, reverse=True):
        word = spellings[spelling]
        below = word and f"{word}/"
        text = text.replace(spelling + "/", below)
        text = re.sub(re.escape(spelling) + r"(?![\w.-])", lambda _: word or ".", text)  # noqa: B023  used at once
    return ADDRESS.sub("0x...", text)


def without_times(text: str) -> str:
    """Replace what looks like a duration or a time of day; for the output of tools, never for a failed assertion."""
    for pattern, word in TIMES:
        text = pattern.sub(word, text)
    return text


def shortened(text: str, lines: int, characters: int) -> str:
    """Keep the head and the tail of a text that is too long, with a line in its middle that says how much is gone."""
    rows = text.splitlines()
    if len(rows) > lines:
        head = lines // 3
        tail = lines - head - 1
        rows = [*rows[:head], f"[... {len(rows) - head - tail} lines left out ...]", *rows[-tail:]]
    text = "\n".join(rows)
    if len(text) > characters:
        head = characters // 3
        tail = characters - head - 40
        text = f"{text[:head]}\n[... {len(text) - head - tail} characters left out ...]\n{text[-tail:]}"
    return text
