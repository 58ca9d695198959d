"""Put a green acceptance check to the proof: does it fail on its impossible twin, and notice what is broken?"""

import random
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from agents.domain.hollow import hollow
from agents.domain.mutation import Mutant, mutants
from agents.domain.reports import CheckReport
from agents.domain.twin import twin
from agents.domain.value import Value
from tasks.checks.environment import Environment
from tasks.checks.pytest import run_pytest
from tasks.checks.workspace import LaysOut, Workspace, laid_out

MANY = 500
SHORTEST_S = 10
SLOWER = 4
DENIALS = ("AssertionError", "assert ", "DID NOT RAISE", "Failed: ")


class Bench(NamedTuple):
    """Where a tree is probed; `seconds` is the limit of one run of the check."""

    trees: LaysOut
    tree: str
    made: Environment
    home: Path
    seconds: int


class TwinReport(Value):
    """What the impossible twin did: `passed` must be empty, and names tests without their parameters.

    `untouched` names tests that could not be changed.
    """

    tried: tuple[str, ...] = ()
    passed: tuple[str, ...] = ()
    untouched: tuple[str, ...] = ()
    trouble: str | None = None


class Survivor(Value):
    """One thing that was broken on a changed line, and that no test noticed."""

    path: str
    line: int
    what: str


class MutationReport(Value):
    """How many of `made` mutants were `tried` in the time there was, how many `killed`, and which survived.

    A mutant is killed by a test that asserts otherwise, or by a run that hangs or crashes. That a call raises, or gives
    None in place of a value, any test would notice: it kills nothing, and does not survive.
    """

    made: int = 0
    tried: int = 0
    killed: int = 0
    survivors: tuple[Survivor, ...] = ()
    trouble: str | None = None


def twin_passes(bench: Bench, report: CheckReport, seed: int) -> TwinReport:
    """Run the impossible twin of the tests that passed in `report`, a pytest check of this very tree.

    A test of it that passes accepts an answer that cannot be right: it, or what it tests, was made to pass.
    """
    passed = _passed(report)
    with laid_out(bench.trees, bench.tree, bench.home) as root:
        changed: set[tuple[str, str]] = set()
        untouched: list[str] = []
        for path in sorted({case.partition("::")[0] for case in passed}):
            text = _text(root, path)
            made = twin(text, seed) if text is not None else None
            if made is None:
                untouched += [case for case in passed if case.partition("::")[0] == path]
                continue
            (root / path).write_bytes(made.source.encode())
            changed |= {(path, test) for test in made.tests}
            untouched += [case for case in passed if _name(case) in {(path, test) for test in made.untouched}]
        tried = tuple(case for case in passed if _name(case) in changed)
        if not tried:
            return TwinReport(untouched=tuple(untouched))
        whole = tuple(dict.fromkeys(map(_function, tried)))  # parameters that were changed have other ids
        ran = run_pytest(Workspace(root=root, environment=bench.made, seconds=bench.seconds), "twin", _named(whole))
    if ran.trouble:
        return TwinReport(tried=tried, untouched=tuple(untouched), trouble=ran.trouble)
    green = {_function(case) for case, outcome in ran.cases.items() if outcome == "passed" and _name(case) in changed}
    return TwinReport(tried=tried, passed=tuple(one for one in whole if one in green), untouched=tuple(untouched))


def survivors(
    bench: Bench, report: CheckReport, lines: Mapping[str, frozenset[int]], seed: int, limit: int, seconds: float
) -> MutationReport:
    """Break the changed `lines` of each path in turn, at most `limit` times, and see whether the check notices.

    Each mutant runs in a sandbox of its own, on a tree of its own. After `seconds` no further mutant is begun. Trouble,
    and no count, when the check is not green on the unbroken tree.
    """
    end = time.monotonic() + seconds
    passed = _passed(report)
    with laid_out(bench.trees, bench.tree, bench.home) as root:
        broken = _broken(root, lines, {case.partition("::")[0] for case in passed}, seed, limit)
        if not passed or not broken:
            return MutationReport(made=len(broken))
        first = _run(bench, root, passed, bench.seconds)
        if not _all_pass(first, passed):
            return MutationReport(made=len(broken), trouble=first.trouble or "the tests fail on the unbroken tree")
    patience = min(bench.seconds, max(SHORTEST_S, int(first.seconds * SLOWER) + 1))
    lived, tried, killed = [], 0, 0
    for path, mutant in broken:
        if time.monotonic() >= end:
            break
        tried += 1
        ran = _with(bench, (path, mutant), passed, patience)
        killed += _is_denied(ran) and not mutant.what.endswith("-> None")
        if _all_pass(ran, passed):
            lived.append(Survivor(path=path, line=mutant.line, what=mutant.what))
    return MutationReport(made=len(broken), tried=tried, killed=killed, survivors=tuple(lived))


def passes_hollow(bench: Bench, report: CheckReport, lines: Mapping[str, frozenset[int]]) -> bool:
    """Say whether the check stays green when every function that `lines` touch does nothing at all."""
    passed = _passed(report)
    with laid_out(bench.trees, bench.tree, bench.home) as root:
        made = {path: hollow(text, lines[path]) for path in sorted(lines) if (text := _text(root, path)) is not None}
        if not passed or not any(made.values()):
            return False
        for path, text in made.items():
            if text is not None:
                (root / path).write_bytes(text.encode())
        return _all_pass(_run(bench, root, passed, bench.seconds), passed)


def _with(bench: Bench, broken: tuple[str, Mutant], passed: tuple[str, ...], patience: int) -> CheckReport:
    """Run the tests with one mutant in its place.

    Nothing has run in this tree before: a file that the tests replaced by a link would be written where that leads.
    """
    with laid_out(bench.trees, bench.tree, bench.home) as root:
        (root / broken[0]).write_bytes(broken[1].source.encode())
        return _run(bench, root, passed, patience)


def _is_denied(ran: CheckReport) -> bool:
    """Say whether a run hung, crashed, or has a test that asserts otherwise."""
    return bool(ran.trouble) or any(word in ran.details for word in DENIALS)


def _broken(
    root: Path, lines: Mapping[str, frozenset[int]], tests: set[str], seed: int, limit: int
) -> tuple[tuple[str, Mutant], ...]:
    """Draw from all files together, and in random order: those that time is left for are a fair sample."""
    found: list[tuple[str, Mutant]] = []
    for path in sorted(lines):
        text = _text(root, path) if path.endswith(".py") and path not in tests else None
        if text is not None:
            found += [(path, mutant) for mutant in mutants(text, lines[path], seed, limit)]
    random.Random(seed).shuffle(found)  # noqa: S311  the same seed, the same sample
    return tuple(found[:limit])


def _run(bench: Bench, root: Path, passed: tuple[str, ...], seconds: int) -> CheckReport:
    return run_pytest(Workspace(root=root, environment=bench.made, seconds=seconds), "mutants", _named(passed))


def _all_pass(ran: CheckReport, passed: tuple[str, ...]) -> bool:
    return not ran.trouble and all(ran.cases.get(case) == "passed" for case in passed)


def _passed(report: CheckReport) -> tuple[str, ...]:
    return tuple(case for case, outcome in report.cases.items() if outcome == "passed" and "::" in case)


def _name(case: str) -> tuple[str, str]:
    """Return the path of a test and its name in the module, without parameters."""
    path, _, name = case.partition("::")
    return path, name.partition("[")[0].replace("::", ".")


def _function(case: str) -> str:
    """Return the id of a test without its parameters, whose own text may hold any sign."""
    path, _, name = case.partition("::")
    return f"{path}::{name.partition('[')[0]}"


def _named(cases: tuple[str, ...]) -> tuple[str, ...]:
    """Name the tests themselves, or their files when they are too many for a command line."""
    return cases if len(cases) <= MANY else tuple(sorted({case.partition("::")[0] for case in cases}))


def _text(root: Path, path: str) -> str | None:
    """Read a file of the tree; None for one that is none, is no UTF-8, or lies elsewhere by a link."""
    file = root / path
    if not file.is_file() or not file.resolve().is_relative_to(root.resolve()):
        return None
    try:
        return file.read_bytes().decode()
    except UnicodeDecodeError:
        return None
