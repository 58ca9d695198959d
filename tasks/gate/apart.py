"""Do the tests that were there hold without the new ones? A module of tests may change what all tests after it see."""

import shlex
from collections.abc import Iterator
from pathlib import Path

from agents.domain.gate import Reason, Verdict, troubles
from agents.domain.protect import Change, matches
from agents.domain.reports import Report
from tasks.checks.measure import Plan, measure, remeasure
from tasks.checks.probes import MANY
from tasks.checks.pytest import arguments_of
from tasks.gate.contract import Contract
from tasks.git.trees import Trees

OF_TESTS = ("tests/**", "test/**", "**/tests/**", "**/__tests__/**", "**/test_*.py")
ONCE_MORE = 5


def apart_rules(
    trees: Trees, changes: tuple[Change, ...], candidate: Report, verdict: Verdict, contract: Contract, home: Path
) -> tuple[Reason, ...]:
    """Run pytest's checks on the tree without the Python files of tests that are new, and name what passed beside them.

    New tests may patch anything when they are imported. A granted file stays; what wavers in itself is no sign.
    """
    entries, new = trees.entries(candidate.tree), [c.path for c in changes if _is_new(c, contract.grants)]
    tree = candidate.tree
    for path in (path for path in new if path in entries):
        tree = trees.delete(tree, path)
    wanted = {} if tree == candidate.tree else dict(_wanted(candidate, verdict, frozenset(trees.entries(tree))))
    if not wanted:
        return ()
    checks = {check: _without(check, cases, new) for check, cases in wanted.items()}
    plan = Plan(suites=tuple(dict.fromkeys(checks.values())), seconds=contract.plan.seconds)
    report = measure(trees, tree, plan, home)
    if lost := {case for check, cases in wanted.items() for case in cases - _held(report, checks[check], cases)}:
        report = remeasure(trees, report, plan, home, tuple(sorted(lost)), ONCE_MORE)
        lost -= {case for check in report.suites for case in check.flaky}
    return (*troubles("candidate without its new tests", report), *map(_reason, sorted(lost)))


def _is_new(change: Change, grants: tuple[str, ...]) -> bool:
    path = change.path
    return change.kind == "added" and path.endswith(".py") and matches(path, OF_TESTS) and not matches(path, grants)


def _wanted(candidate: Report, verdict: Verdict, known: frozenset[str]) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield each check of pytest with the cases that pass, stand in a file that stays, and are settled on the base."""
    for check in (*candidate.suites, *candidate.acceptance):
        there = {case for case in check.cases if case.partition("::")[0] in known}
        passed = {case for case in there if check.cases[case] == "passed"}
        if check.kind == "pytest" and (cases := passed - {*verdict.quarantined, *check.flaky}):
            yield check.check, frozenset(cases)


def _without(check: str, cases: frozenset[str], gone: list[str]) -> str:
    """Return the check, or where it names a file that is gone, one that names its cases or their files."""
    words = arguments_of(check) if check.startswith("pytest") else ()
    if not {word.partition("::")[0].removeprefix("./") for word in words} & {*gone}:
        return check
    named = sorted(cases) if len(cases) <= MANY else sorted({case.partition("::")[0] for case in cases})
    return shlex.join(["pytest", *named])


def _held(report: Report, check: str, cases: frozenset[str]) -> frozenset[str]:
    """Return those of the cases that pass; all of them where the check could not be carried out, which is trouble."""
    told = next(one for one in report.suites if one.check == check)
    return cases if told.trouble else frozenset(case for case in cases if told.cases.get(case) == "passed")


def _reason(case: str) -> Reason:
    message = f"{case} passes beside the new modules of tests alone: without them it does not"
    return Reason(kind="apart", path=case, message=message)
