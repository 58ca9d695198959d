"""When two trees are to be judged outside of a mission: which trees, which checks, and the documented answer."""

import time
from typing import Any

from agents.domain.errors import Misconfigured
from agents.domain.mission import PROTECTED
from flows.settings import read
from tasks.checks.detect import detect
from tasks.checks.measure import Plan
from tasks.gate import Contract, decide
from tasks.git.origin import Origin
from tasks.git.store import Store

WORKTREE = "WORKTREE"


def judged(
    origin: str, base: str, candidate: str, checks: tuple[str, ...], accept: tuple[str, ...], grants: tuple[str, ...]
) -> dict[str, Any]:
    """Return the gate's answer as the documented JSON; the repository itself is only read."""
    started = time.perf_counter()
    folder = Origin.parse(origin).folder
    if candidate == WORKTREE and (folder is None or not (folder / ".git").exists()):
        raise Misconfigured(f"{origin} has no files of its own to judge: name a revision instead of {WORKTREE}")
    settings = read(folder)
    store = Store.open(origin, settings.home)
    store.fetch()
    trees = store.trees
    base_tree = trees.tree_of(store.commit_of(base))
    tree = (
        trees.snapshot(base_tree, folder)
        if candidate == WORKTREE and folder
        else trees.tree_of(store.commit_of(candidate))
    )
    if blank := [check for check in (*checks, *accept) if not check.strip()]:
        raise Misconfigured(f"a check is empty ({blank[0]!r}): name tests, lint, types, build or a command")
    suites = checks or detect(trees.entries(base_tree), lambda path: trees.read(base_tree, path))
    plan = Plan(suites=suites, acceptance=accept, seconds=round(settings.check_seconds))
    verdict = decide(trees, base_tree, tree, Contract(plan, PROTECTED, grants), settings.home)
    return {
        "decision": verdict.decision,
        "reasons": [reason.model_dump() for reason in verdict.reasons],
        "fail_to_pass": list(verdict.fail_to_pass),
        "pass_to_pass_broken": list(verdict.pass_to_pass_broken),
        "quarantined": list(verdict.quarantined),
        "base_tree": base_tree,
        "candidate_tree": tree,
        "contract_tree": base_tree,
        "sandbox": verdict.sandbox,
        "seconds": round(time.perf_counter() - started, 3),
    }
