"""When two trees are to be judged outside of a mission: which trees, which checks, and the documented answer."""

import time
from pathlib import Path
from typing import Any, NamedTuple

from agents.domain.errors import Misconfigured
from agents.domain.mission import PROTECTED
from flows.settings import read
from tasks.checks.detect import detect
from tasks.checks.measure import Plan
from tasks.gate.contract import Contract
from tasks.gate.course import Course
from tasks.gate.decide import decide
from tasks.gate.held_out import read_held_out
from tasks.git.origin import Origin
from tasks.git.store import Store

WORKTREE = "WORKTREE"


class Question(NamedTuple):
    """What `lra verify` was asked: revisions, checks, acceptance checks, grants; an empty contract is the base.

    `held_out` names test files of the operator's that are no part of the repository.
    """

    base: str
    candidate: str
    contract: str = ""
    checks: tuple[str, ...] = ()
    accept: tuple[str, ...] = ()
    grants: tuple[str, ...] = ()
    held_out: tuple[str, ...] = ()


def judged(origin: str, asked: Question) -> dict[str, Any]:
    """Return the gate's answer as the documented JSON; the repository itself is only read."""
    started = time.perf_counter()
    folder = Origin.parse(origin).folder
    if asked.candidate == WORKTREE and (folder is None or not (folder / ".git").exists()):
        raise Misconfigured(f"{origin} has no files of its own to judge: name a revision instead of {WORKTREE}")
    if blank := [check for check in (*asked.checks, *asked.accept) if not check.strip()]:
        raise Misconfigured(f"a check is empty ({blank[0]!r}): name tests, lint, types, build or a command")
    settings = read(folder)
    store = Store.open(origin, settings.home)
    store.fetch()
    trees = store.trees
    base_tree = trees.tree_of(store.commit_of(asked.base))
    tree = (
        store.checkout_tree(base_tree, folder)
        if asked.candidate == WORKTREE and folder
        else trees.tree_of(store.commit_of(asked.candidate))
    )
    trusted = trees.tree_of(store.commit_of(asked.contract)) if asked.contract else ""
    suites = asked.checks or detect(trees.entries(base_tree), lambda path: trees.read(base_tree, path))
    plan = Plan(suites=suites, acceptance=asked.accept, seconds=round(settings.check_seconds))
    held_out = read_held_out(trees, (base_tree, tree), tuple(map(Path, asked.held_out)))
    contract = Contract(
        plan, PROTECTED, asked.grants, tree=trusted, held_out=held_out, unsandboxed=settings.allow_unsandboxed
    )
    course = Course()
    verdict = decide(trees, base_tree, tree, contract, settings.home, course)
    return {
        "decision": verdict.decision,
        "reasons": [reason.model_dump() for reason in verdict.reasons],
        "fail_to_pass": list(verdict.fail_to_pass),
        "pass_to_pass_broken": list(verdict.pass_to_pass_broken),
        "quarantined": list(verdict.quarantined),
        "self_written": list(verdict.self_written),
        "unprobed": list(verdict.unprobed),
        "base_tree": base_tree,
        "candidate_tree": tree,
        "contract_tree": trusted or base_tree,
        "sandbox": verdict.sandbox,
        "cached": course.cached,
        "seconds": round(time.perf_counter() - started, 3),
        "stages": [{**stage.model_dump(), "seconds": course.seconds.get(stage.name)} for stage in verdict.stages],
    }
