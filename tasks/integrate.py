"""Do it, durably: the single write to the target: it moves together with the record, or neither moves."""

from datetime import UTC, datetime
from typing import NamedTuple

from prefect import task

from agents.briefing import cut
from agents.domain.cycle import CycleResult, Ending, Proposal
from agents.domain.decisions import Decision
from agents.domain.errors import TryLater
from agents.domain.gate import Reason, Verdict
from tasks.cycle import Cycle
from tasks.git.record import DECISIONS, Event, cycle_path
from tasks.git.store import Moved
from tasks.git.trees import EXECUTABLE, FILE
from tasks.journal import Data
from tasks.policies import INTEGRATE
from tasks.redact import is_secret
from tasks.verify import verdict_on

RACES = 5
WRITTEN_FILES = 4
WRITTEN_CHARS = 4000


class Merge(NamedTuple):
    """What is about to land: the merge commit, and the verdict on exactly its tree."""

    commit: str
    verdict: Verdict


@task(name="integrate", **INTEGRATE)
def integrate(cycle: Cycle, proposal: Data, verdict: Data | None) -> Data:
    """Close the cycle: with a passing verdict target and record move in one push, else the record alone tells why."""
    judged = Verdict.model_validate(verdict) if verdict else None
    result = close(cycle, Proposal.model_validate(proposal), judged)
    cycle.journal.end({"result": result.model_dump(mode="json")})
    return result.model_dump(mode="json")


def close(cycle: Cycle, proposal: Proposal, verdict: Verdict | None) -> CycleResult:
    """Merge if the gate passed; when the target moved meanwhile the merged tree is verified again before it lands."""
    if verdict is None or not verdict.passed:
        return _record(cycle, _unmerged(cycle, proposal, verdict), None)
    for _ in range(RACES):
        outcome = _merge(cycle, proposal, verdict)
        if isinstance(outcome, CycleResult):
            return _record(cycle, outcome, None)
        try:
            return _record(cycle, _result(cycle, proposal, "merged", outcome.verdict, commit=outcome.commit), outcome)
        except Moved:
            cycle.held.store.fetch()
    raise TryLater(f"{cycle.mission.target} moved {RACES} times while cycle {cycle.pin.cycle} was merging; run again")


def postpone(cycle: Cycle, why: str) -> None:
    """Close a cycle in which no model was asked, uncounted: the next begins from the target as it is then."""
    if cycle.held.state.standing.open != cycle.pin or cycle.journal.tally.calls:
        return
    nothing = Proposal(tree=cycle.pin.base_tree, ending="unverified", summary=why, calls=0)
    result = _record(cycle, _result(cycle, nothing, "postponed", None), None)
    cycle.journal.end({"result": result.model_dump(mode="json")})


def _merge(cycle: Cycle, proposal: Proposal, verdict: Verdict) -> Merge | CycleResult:
    store, trees = cycle.held.store, cycle.trees
    onto = store.head(cycle.mission.target)
    if onto is None or not trees.is_ancestor(cycle.pin.base, onto):
        return _result(cycle, proposal, "conflict", verdict, reasons=(_rewritten(cycle, onto is None),))
    work = trees.commit(proposal.tree, (cycle.pin.base,), f"{cycle.item.id}: {proposal.summary.strip()}\n")
    tree = proposal.tree
    if onto != cycle.pin.base:
        merged = trees.merge(cycle.pin.base, onto, work)
        if merged.conflicts:
            return _result(cycle, proposal, "conflict", verdict, reasons=_conflict_reasons(merged.conflicts))
        verdict = verdict_on(cycle, trees.tree_of(onto), merged.tree)
        if not verdict.passed:
            return _result(cycle, proposal, "refused", verdict)
        tree = merged.tree
    commit = trees.commit(tree, (onto, work), _message(cycle, verdict, trees.tree_of(onto)))
    return Merge(commit, verdict)


def _record(cycle: Cycle, result: CycleResult, merge: Merge | None) -> CycleResult:
    held = cycle.held
    state = held.state.ended(result)
    files = {cycle_path(result.pin.cycle): result.model_dump_json(indent=1).encode(), **_decisions(cycle, result)}
    also = {f"refs/heads/{cycle.mission.target}": merge.commit} if merge else {}
    event = Event("cycle_ended", f"{result.pin.item}: {result.ending}", result.pin.cycle, result.pin.item)
    held.record.append(event, state, files, also)
    return result


def _decisions(cycle: Cycle, result: CycleResult) -> dict[str, bytes]:
    """Return the decision log with what this cycle decided: unstable cases are left out of the gate, for all to see."""
    if not result.quarantined:
        return {}
    decision = Decision(
        by="gate",
        choice=f"quarantine {', '.join(result.quarantined)}",
        why="differed between two runs of the same tree, so it can neither break nor prove anything",
        evidence=f"verdict {result.verdict}",
        at=result.ended_at,
    )
    before = cycle.held.record.read(DECISIONS) or b""
    return {DECISIONS: before + decision.model_dump_json().encode() + b"\n"}


def _unmerged(cycle: Cycle, proposal: Proposal, verdict: Verdict | None) -> CycleResult:
    if verdict is None:
        return _result(cycle, proposal, proposal.ending if proposal.ending != "submitted" else "refused", None)
    return _result(cycle, proposal, "unverified" if verdict.decision == "unverified" else "refused", verdict)


def _result(
    cycle: Cycle,
    proposal: Proposal,
    ending: Ending,
    verdict: Verdict | None,
    commit: str | None = None,
    reasons: tuple[Reason, ...] = (),
) -> CycleResult:
    return CycleResult(
        pin=cycle.pin,
        ending=ending,
        summary=cycle.redact(proposal.summary)[:2000],
        reasons=reasons or (verdict.reasons if verdict else ()),
        verdict=verdict.digest() if verdict else None,
        quarantined=verdict.quarantined if verdict else (),
        self_written=verdict.self_written if verdict else (),
        candidate_tree=proposal.tree,
        written={} if ending == "merged" else _written(cycle, proposal.tree),
        commit=commit,
        steps=cycle.journal.tally.steps,
        spend=cycle.journal.tally.spend,
        calls=cycle.journal.tally.calls,
        ended_at=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def _written(cycle: Cycle, tree: str) -> dict[str, str]:
    changes = cycle.trees.diff(cycle.pin.base_tree, tree)
    changed = [c.path for c in changes if c.new_mode in (FILE, EXECUTABLE) and not is_secret(c.path)]
    return {path: cut(cycle.text(tree, path), WRITTEN_CHARS) for path in changed[:WRITTEN_FILES]}


def _rewritten(cycle: Cycle, gone: bool) -> Reason:
    what = "is gone" if gone else "was rewritten and no longer holds the commit this attempt began from"
    return Reason(kind="conflict", message=f"{cycle.mission.target} {what}; a merge would bring back what was removed")


def _conflict_reasons(paths: tuple[str, ...]) -> tuple[Reason, ...]:
    return tuple(
        Reason(kind="conflict", path=path, message=f"{path} was changed on the target meanwhile; both sides touch it")
        for path in paths
    )


def _message(cycle: Cycle, verdict: Verdict, base_tree: str) -> str:
    trailers = {
        "LRA-Mission": cycle.mission.id,
        "LRA-Item": cycle.item.id,
        "LRA-Cycle": cycle.pin.cycle,
        "LRA-Base": base_tree,
        "LRA-Verdict": verdict.digest(),
        "LRA-Model": ", ".join(cycle.journal.tally.models),
        "LRA-Source": ", ".join(cycle.journal.tally.sources),
    }
    subject = f"{cycle.item.id}: {' '.join(cycle.item.description.split())}"[:120]
    return subject + "\n\n" + "\n".join(f"{key}: {value}" for key, value in trailers.items()) + "\n"
