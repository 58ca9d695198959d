"""Is this candidate done, and worse in nothing? The stages in their order, and the one pure rule at the end.

Cheap stages come first, and every stage runs whatever the ones before said: a cheat is never hidden by an earlier red.
Only the probes, which cost most, are spared for a candidate that is refused already.
"""

from pathlib import Path
from typing import NamedTuple

from agents.domain.gate import Reason, Report, Verdict, judge
from agents.domain.protect import matches
from tasks.checks.measure import Plan, measure, remeasure
from tasks.gate import kept
from tasks.gate.contract import Contract
from tasks.gate.looking import by_meaning, diff_rules, path_rules
from tasks.gate.overlay import owned_by, trusted
from tasks.gate.probing import mutant_rules, twin_rules
from tasks.gate.timing import Timing
from tasks.git.trees import Trees

NOT_ITS_OWN = frozenset({"protected", "odd_file", "outside", "configuration", "dependencies", "shadowing", "odd_name"})
BROKEN_AGAIN = 5
TURNED_AGAIN = 2


class Sides(NamedTuple):
    """The two trees that are measured; see `_sides`."""

    base: str
    candidate: str


def decide(
    trees: Trees, base_tree: str, tree: str, contract: Contract, home: Path, timing: Timing | None = None
) -> Verdict:
    """Return the verdict on `tree`; judged before, under the same contract and gate, it is the same verdict.

    What decides is seen more than once: a case that broke is run again on the base, which may be unstable in it, and a
    check that turned green is run again on both sides, so that luck turns nothing green.
    """
    timing = timing or Timing()
    place = kept.place_of(trees, base_tree, tree, contract, home)
    if (known := kept.load(place, base_tree, tree)) is not None:
        timing.cached = True
        return known
    with timing.stage("paths"):
        changes = trees.diff(base_tree, tree)
        paths = path_rules(trees, base_tree, changes, contract)
    with timing.stage("diff"):
        integrity = by_meaning(paths, diff_rules(trees, base_tree, tree, changes, contract))
        sides = _sides(trees, base_tree, tree, contract, _not_its_own(integrity))
    with timing.stage("base"):
        base = measure(trees, sides.base, contract.plan, home)
    with timing.stage("checks"):
        candidate = measure(trees, sides.candidate, contract.plan, home, sides.base)
    base = _without(base, contract.grants)
    first = judge(base, candidate, integrity)
    with timing.stage("again"):
        base, candidate = _seen_again(trees, base, candidate, first, contract.plan, home)
    verdict = judge(_named(base, base_tree), _named(candidate, tree), integrity)
    if verdict.passed:
        with timing.stage("twin"):
            probed = twin_rules(trees, candidate, verdict, contract, home)
        with timing.stage("mutants"):
            probed += mutant_rules(trees, changes, candidate, verdict, contract, home)
        verdict = judge(_named(base, base_tree), _named(candidate, tree), (*integrity, *probed))
    kept.keep(place, verdict)
    return verdict


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
    if first.pass_to_pass_broken:
        base = remeasure(trees, base, plan, home, first.pass_to_pass_broken, BROKEN_AGAIN)
    if turned:
        base = remeasure(trees, base, plan, home, turned, TURNED_AGAIN)
        seeds = tuple(int(candidate.tree[8 * n : 8 * n + 8], 16) for n in range(TURNED_AGAIN))
        candidate = remeasure(trees, candidate, plan, home, turned, TURNED_AGAIN, seeds)
    return base, candidate


def _without(base: Report, grants: tuple[str, ...]) -> Report:
    """Leave out the cases of granted files: a human allowed that they go, move or expect something else."""
    suites = tuple(
        check.model_copy(
            update={"cases": {c: o for c, o in check.cases.items() if not matches(c.partition("::")[0], grants)}}
        )
        for check in base.suites
    )
    return base.model_copy(update={"suites": suites})


def _named(report: Report, tree: str) -> Report:
    """Say of a report that it is about `tree`: where files were laid over it, what ran was not quite that tree."""
    return report.model_copy(update={"tree": tree})
