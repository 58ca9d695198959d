"""Is this candidate done, and worse in nothing? The stages in their order, and the one pure rule at the end.

Cheap stages come first, and every stage runs whatever the ones before said: a cheat is never hidden by an earlier red.
Only the probes, which cost most, are spared for a candidate that is refused already.
"""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from agents.domain.gate import Reason, Verdict, fenced, judge, settled, troubles
from agents.domain.protect import matches
from agents.domain.reports import CheckReport, Report
from tasks.checks.measure import Plan, measure, remeasure
from tasks.gate import kept
from tasks.gate.apart import apart_rules
from tasks.gate.contract import Contract
from tasks.gate.course import Course
from tasks.gate.held_out import held_out_rules
from tasks.gate.looking import by_meaning, diff_rules, path_rules
from tasks.gate.overlay import owned_by, trusted
from tasks.gate.probing import mutant_rules, twin_rules
from tasks.git.trees import Change, Trees

NOT_ITS_OWN = frozenset({"protected", "odd_file", "outside", "configuration", "dependencies", "shadowing", "odd_name"})
BROKEN_AGAIN = 5
UNSTABLE_AGAIN = 20
TURNED_AGAIN = 2
NO_REFUSAL = frozenset({"unverified", "unchanged"})  # of the sides as measured; the trees themselves may differ


class Sides(NamedTuple):
    """The two trees that are measured; see `_sides`."""

    base: str
    candidate: str


def decide(
    trees: Trees, base_tree: str, tree: str, contract: Contract, home: Path, course: Course | None = None
) -> Verdict:
    """Return the verdict on `tree`; judged before, under the same contract and gate, it is the same verdict.

    What decides is seen more than once: a case that broke is run again on both sides, since the base may be unstable in
    it, and a check that turned green is run again on both sides, so that luck turns nothing green. What leans on the
    order of tests on the base already is not held against the candidate.
    """
    course = course or Course()
    place = kept.place_of(trees, base_tree, tree, contract, home)
    if (known := kept.load(place, base_tree, tree)) is not None:
        course.cached = True
        return known
    changes = trees.diff(base_tree, tree)
    integrity = _rules(trees, base_tree, tree, changes, contract, course)
    sides = _sides(trees, base_tree, tree, contract, _not_its_own(integrity))
    base, candidate = _measured(trees, sides, contract, home, course)
    named = _named(base, base_tree), _named(candidate, tree)
    verdict = judge(*named, integrity)
    candidate, probed = settled(base, candidate), list[Reason]()
    probes: dict[str, Callable[[], tuple[Reason, ...]]] = {
        "apart": lambda: apart_rules(trees, changes, candidate, verdict, contract, home),
        "twin": lambda: twin_rules(trees, candidate, verdict, contract, home),
        "held_out": lambda: held_out_rules(trees, candidate, contract, home),
        "mutants": lambda: mutant_rules(trees, changes, candidate, verdict, contract, home),
    }
    for name, probe in probes.items():
        if verdict.decision == "fail" or (name == "held_out" and not contract.held_out):
            course.spare(name)
            continue
        with course.stage(name) as found:
            found += probe()
        probed += found
    verdict = judge(*named, (*integrity, *probed)).model_copy(update={"stages": course.stages})
    verdict = fenced(verdict, contract.unsandboxed)
    kept.keep(place, verdict)
    return verdict


def _rules(
    trees: Trees, base_tree: str, tree: str, changes: tuple[Change, ...], contract: Contract, course: Course
) -> tuple[Reason, ...]:
    """Go through the stages that run nothing."""
    with course.stage("paths") as touched:
        touched += path_rules(trees, base_tree, changes, contract)
    with course.stage("diff") as said:
        said += diff_rules(trees, base_tree, tree, changes, contract)
    touched[:] = by_meaning(tuple(touched), tuple(said))
    return (*touched, *said)


def _measured(trees: Trees, sides: Sides, contract: Contract, home: Path, course: Course) -> tuple[Report, Report]:
    """Go through the stages that measure: both sides once, and once more what decides."""
    with course.stage("base") as before:
        base = _without(measure(trees, sides.base, contract.plan, home), contract.grants)
        before += troubles("base", base)
    with course.stage("checks") as once:
        candidate = measure(trees, sides.candidate, contract.plan, home, sides.base)
        first = judge(base, candidate)
    with course.stage("again") as more:
        base, candidate = _seen_again(trees, base, candidate, first, contract.plan, home)
        last = [reason for reason in judge(base, candidate).reasons if reason not in before]
        once += (reason for reason in last if reason in first.reasons and reason.kind not in NO_REFUSAL)
        more += (reason for reason in last if reason not in first.reasons)
    return base, candidate


def _not_its_own(integrity: tuple[Reason, ...]) -> frozenset[str]:
    return frozenset(reason.path for reason in integrity if reason.path and reason.kind in NOT_ITS_OWN)


def _sides(trees: Trees, base: str, candidate: str, contract: Contract, touched: frozenset[str]) -> Sides:
    """Return what is measured: both sides with the contract's files, the candidate without what it may not touch."""
    source = contract.tree or base
    owned = owned_by(trees, source, contract.protect, contract.grants) if contract.tree else frozenset()
    return Sides(
        base=trusted(trees, source, base, owned) if owned else base,
        candidate=trusted(trees, source, candidate, owned | touched),
    )


def _seen_again(
    trees: Trees, base: Report, candidate: Report, first: Verdict, plan: Plan, home: Path
) -> tuple[Report, Report]:
    turned = tuple(case for c in candidate.acceptance if c.check in first.fail_to_pass for case in c.cases)
    if broken := first.pass_to_pass_broken:
        candidate = remeasure(trees, candidate, plan, home, broken, BROKEN_AGAIN)
        base = remeasure(trees, base, plan, home, broken, BROKEN_AGAIN)
    if unsettled := _flaky(candidate).intersection(broken) - _flaky(base):
        base = remeasure(trees, base, plan, home, tuple(sorted(unsettled)), UNSTABLE_AGAIN)
    if turned:
        seeds = tuple(int(candidate.tree[8 * n : 8 * n + 8], 16) for n in range(TURNED_AGAIN))
        base = _joined(base, remeasure(trees, _accepting(base), plan, home, turned, TURNED_AGAIN))
        whole = remeasure(trees, candidate, plan, home, turned, 1, seeds[:1])
        rest = remeasure(trees, _accepting(whole), plan, home, turned, 1, seeds[1:])
        candidate = _joined(whole, rest)
        if wavering := _flaky(candidate) - _flaky(base):
            base = remeasure(trees, base, plan, home, tuple(sorted(wavering)), TURNED_AGAIN, seeds)
    return base, candidate


def _accepting(report: Report) -> Report:
    return report.model_copy(update={"suites": ()})


def _joined(whole: Report, part: Report) -> Report:
    return whole.model_copy(update={"acceptance": part.acceptance})


def _flaky(report: Report) -> frozenset[str]:
    return frozenset(case for check in (*report.suites, *report.acceptance) for case in check.flaky)


def _without(base: Report, grants: tuple[str, ...]) -> Report:
    """Leave out what passed in granted files: a human allowed that these cases go, move or expect something else."""

    def held(check: CheckReport) -> CheckReport:
        free = {case for case, outcome in check.cases.items() if outcome == "passed" and matches(_file(case), grants)}
        rest = {case: outcome for case, outcome in check.cases.items() if case not in free}
        return check.model_copy(update={"cases": rest})

    suites = tuple(map(held, base.suites))
    return base.model_copy(update={"suites": suites})


def _file(case: str) -> str:
    return case.partition("::")[0]


def _named(report: Report, tree: str) -> Report:
    """Say of a report that it is about `tree`: where files were laid over it, what ran was not quite that tree."""
    return report.model_copy(update={"tree": tree})
