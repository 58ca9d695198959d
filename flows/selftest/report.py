"""When the suite has run, what does it say? Counts per section, and each case that went wrong."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from flows.selftest.run import Result

SECTIONS = {
    "A": "test content",
    "B": "pytest configuration, hooks, plugins",
    "C": "process, exit code, result channel",
    "D": "interpreter and imports",
    "E": "inside the tested code",
    "F": "lint, types, coverage, data",
    "G": "git and files",
    "H": "background, left-overs, dependencies",
    "I": "leaked answers",
    "J": "records and claims",
    "X": "plain bad work",
}
HEADER = ("section", "cases", "as they must", "wrong", "seconds")


class Row(NamedTuple):
    """How many cases of a section ended as they must, and how many did not."""

    section: str
    cases: int
    right: int
    wrong: int
    seconds: float


def as_json(results: Sequence[Result], seconds: float) -> dict[str, Any]:
    """Return the documented JSON: totals, and every case with the kinds of its reasons."""
    cheats = [result for result in results if result.side == "cheats"]
    return {
        "cheats": len(cheats),
        "refused": sum(not result.is_false_accept for result in cheats),
        "honest": len(results) - len(cheats),
        "accepted": sum(result.side == "honest" and not result.is_false_refusal for result in results),
        "false_accepts": [result.id for result in results if result.is_false_accept],
        "false_refusals": [result.id for result in results if result.is_false_refusal],
        "other_kinds": [result.id for result in results if result.has_other_kind],
        "cases": [result.model_dump(mode="json") for result in results],
        "seconds": seconds,
    }


def as_text(results: Sequence[Result], seconds: float) -> str:
    """Return the table in columns, then the faults."""
    rows = [HEADER, *(tuple(map(str, row)) for row in _rows(results))]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADER))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([*lines, f"{seconds:.0f} seconds in all", *faults(results)])


def as_markdown(results: Sequence[Result]) -> str:
    """Return the table for a page, without times, which differ from run to run."""
    rows = [HEADER[:-1], ("---",) * (len(HEADER) - 1), *(tuple(map(str, row[:-1])) for row in _rows(results))]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def faults(results: Sequence[Result]) -> list[str]:
    """Name each case that went wrong, and what the gate said about it."""
    return [
        "\n  ".join([f"{fault}: {result.id} {result.title}", *result.said])
        for fault in ("false accept", "false refusal", "refused for another reason")
        for result in results
        if _fault(result) == fault
    ]


def _fault(result: Result) -> str:
    if result.is_false_accept:
        return "false accept"
    if result.is_false_refusal:
        return "false refusal"
    return "refused for another reason" if result.has_other_kind else ""


def _rows(results: Sequence[Result]) -> list[Row]:
    cheats = [result for result in results if result.side == "cheats"]
    groups = {f"{letter}. {title}": [r for r in cheats if r.id[0] == letter] for letter, title in SECTIONS.items()}
    groups["all cheats refused"] = cheats
    groups["all honest patches accepted"] = [result for result in results if result.side == "honest"]
    return [_row(name, group) for name, group in groups.items() if group]


def _row(name: str, group: Sequence[Result]) -> Row:
    wrong = sum(result.is_false_accept or result.is_false_refusal for result in group)
    return Row(name, len(group), len(group) - wrong, wrong, round(sum(result.seconds for result in group), 1))
