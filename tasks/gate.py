"""Do it, durably: the merge gate for any two trees: measure both, settle what is flaky, then apply the rule."""

from pathlib import Path
from typing import NamedTuple

from agents.domain.gate import Report, Verdict, judge
from agents.domain.protect import violations
from tasks.checks.measure import Plan, measure, remeasure
from tasks.git.trees import Trees


class Contract(NamedTuple):
    """What a candidate is held to: the checks, what is protected, and what a human granted."""

    plan: Plan
    protect: tuple[str, ...]
    grants: tuple[str, ...]


def decide(trees: Trees, base_tree: str, tree: str, contract: Contract, home: Path) -> Verdict:
    """Return the verdict on `tree`. A case that seems broken is run again on both sides first: flaky is not broken."""
    integrity = violations(trees.diff(base_tree, tree), contract.protect, contract.grants)
    base = measure(trees, base_tree, contract.plan, home)
    candidate = measure(trees, tree, contract.plan, home)
    verdict = judge(base, candidate, integrity)
    if doubtful := _doubtful(candidate, verdict):
        base = remeasure(trees, base, contract.plan, home, doubtful)
        candidate = remeasure(trees, candidate, contract.plan, home, doubtful)
        verdict = judge(base, candidate, integrity)
    return verdict


def _doubtful(candidate: Report, verdict: Verdict) -> tuple[str, ...]:
    """Name the cases whose outcome must be seen again: what broke, and what is to count as turned green."""
    turned = [case for check in candidate.acceptance if check.check in verdict.fail_to_pass for case in check.cases]
    return tuple(dict.fromkeys((*verdict.pass_to_pass_broken, *turned)))
