"""Do it, durably: measure base and candidate, and let the gate decide; a verdict is made once per tree."""

import time

from prefect import task

from agents.domain.events import Key
from agents.domain.gate import Verdict
from agents.domain.value import digest_of
from tasks.cycle import Cycle
from tasks.gate.contract import Contract
from tasks.gate.course import Course
from tasks.gate.decide import decide
from tasks.journal import Data, step
from tasks.policies import STAGE


@task(name="verify", **STAGE)
def verify(cycle: Cycle, tree: str) -> Data:
    """Return the gate's verdict on the candidate tree against the cycle's base."""
    return verdict_on(cycle, cycle.pin.base_tree, tree).model_dump(mode="json")


def verdict_on(cycle: Cycle, base_tree: str, tree: str) -> Verdict:
    """Judge one tree against one base as a journaled step."""
    mission, item = cycle.mission, cycle.item
    contract = Contract(cycle.plan, mission.protect, item.may_edit, item.files, unsandboxed=cycle.unsandboxed)
    inputs = digest_of([base_tree, tree, contract.digest()])

    def run() -> Data:
        started, course = time.perf_counter(), Course()
        verdict = _redacted(cycle, decide(cycle.trees, base_tree, tree, contract, cycle.held.home, course))
        seconds = round(time.perf_counter() - started, 3)
        spent = {"seconds": seconds, "stage_seconds": course.seconds}
        return {"verdict": verdict.model_dump(mode="json"), "digest": verdict.digest(), **spent}

    done = step(cycle.journal, Key("verify", f"verify/{base_tree[:12]}/{tree[:12]}", inputs), run)
    return Verdict.model_validate(done["verdict"])


def _redacted(cycle: Cycle, verdict: Verdict) -> Verdict:
    reasons = tuple(r.model_copy(update={"message": cycle.redact(r.message)}) for r in verdict.reasons)
    return verdict.model_copy(update={"reasons": reasons})
