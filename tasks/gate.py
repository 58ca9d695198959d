"""Do it, durably: the merge gate for any two trees: measure both, settle what is flaky, then apply the rule."""

from pathlib import Path
from typing import NamedTuple

from agents.domain.gate import Verdict, judge
from agents.domain.protect import own_checks, strays, violations
from tasks.checks.measure import Plan, measure, remeasure
from tasks.git.trees import Trees

BROKEN_AGAIN = 5
TURNED_AGAIN = 2


class Contract(NamedTuple):
    """What a candidate is held to: checks, protected globs, a human's grants, and the item's own files, if named."""

    plan: Plan
    protect: tuple[str, ...]
    grants: tuple[str, ...]
    files: tuple[str, ...] = ()


def decide(trees: Trees, base_tree: str, tree: str, contract: Contract, home: Path) -> Verdict:
    """Return the verdict on `tree`.

    What decides is seen more than once: a case that broke is run again on the base, which may be unstable in it, and a
    check that turned green is run again on both sides, so that luck turns nothing green.
    """
    plan = contract.plan
    changes = trees.diff(base_tree, tree)
    integrity = (
        *violations(changes, contract.protect, contract.grants),
        *own_checks(changes, plan.acceptance, contract.grants),
        *strays(changes, contract.files, contract.grants),
    )
    base, candidate = measure(trees, base_tree, plan, home), measure(trees, tree, plan, home)
    verdict = judge(base, candidate, integrity)
    turned = tuple(case for c in candidate.acceptance if c.check in verdict.fail_to_pass for case in c.cases)
    if verdict.pass_to_pass_broken:
        base = remeasure(trees, base, plan, home, verdict.pass_to_pass_broken, BROKEN_AGAIN)
    if turned:
        base = remeasure(trees, base, plan, home, turned, TURNED_AGAIN)
        candidate = remeasure(trees, candidate, plan, home, turned, TURNED_AGAIN)
    return judge(base, candidate, integrity)
