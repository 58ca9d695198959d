"""When is a finished mission doubted? Every merge is judged again, from git alone, as if nothing were known of it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from agents.domain.checklist import Item
from agents.domain.errors import Misconfigured
from agents.domain.gate import Verdict
from agents.domain.mission import Mission
from tasks.checks.measure import Plan
from tasks.gate.contract import Contract
from tasks.gate.decide import decide
from tasks.git.reading import Shelf
from tasks.git.store import Store


class Landed(NamedTuple):
    """A merge of the mission as the target branch tells it: the commit, its tree, and what its trailers claim."""

    commit: str
    tree: str
    item: str
    base: str
    verdict: str


class Allowed(NamedTuple):
    """What the operator of this machine allows: the limit of one check, and whether isolation may be missing."""

    seconds: int
    unsandboxed: bool


def audited(origin: str, home: Path, mission: str, allowed: Allowed, progress: Callable[[str], None]) -> dict[str, Any]:
    """Return, for every item, whether its merge passes the gate again, and where history and record disagree."""
    store = Store.open(origin, home)
    store.fetch()
    state = Shelf(origin, home).state(mission)
    merges, items = _merges(store, state.mission), {item.id: item for item in state.checklist.items}
    rows = []
    for landed in merges:
        progress(f"{landed.item}: {landed.commit[:12]}")
        item = items.get(landed.item)
        rows.append(_row(landed, item, _again(store, state.mission, item, landed, home, allowed)))
    claimed = {item.evidence.commit: item.id for item in state.checklist.items if item.evidence}
    missing = [f"{name}: {commit[:12]}" for commit, name in claimed.items() if commit not in {m.commit for m in merges}]
    strange = [f"{m.item}: {m.commit[:12]}" for m in merges if claimed.get(m.commit) != m.item]
    return {
        "mission": mission,
        "sound": bool(rows) and all(row["decision"] == "pass" for row in rows) and not missing and not strange,
        "merges": rows,
        "not_on_target": missing,
        "not_in_record": strange,
    }


def _merges(store: Store, mission: Mission) -> list[Landed]:
    """Read the first-parent history of the target, oldest first: merges whose trailers name this mission."""
    marks = "%x1f".join(f"%(trailers:key=LRA-{key},valueonly,separator=%x20)" for key in ("Item", "Base", "Verdict"))
    named = f"%(trailers:key=LRA-Mission,valueonly,separator=%x20)%x1f%H%x1f%T%x1f{marks}"
    head = store.head(mission.target)
    if head is None:
        raise Misconfigured(f"{store.origin} has no branch {mission.target!r} any more, which the mission merged into")
    log = store.git("log", "--first-parent", "--merges", "--reverse", f"--format={named}", head)
    fields = [line.split("\x1f") for line in log.splitlines() if "\x1f" in line]
    return [Landed(row[1], row[2], row[3], row[4], row[5]) for row in fields if row[0].strip() == mission.id]


def _again(
    store: Store, mission: Mission, item: Item | None, landed: Landed, home: Path, allowed: Allowed
) -> Verdict | None:
    """Judge a merge by the mission's own contract; None when the record knows no such item or git no such base."""
    if item is None or not store.trees.has(landed.base):
        return None
    plan = Plan(suites=mission.checks, acceptance=item.checks, seconds=allowed.seconds)
    contract = Contract(plan, mission.protect, item.may_edit, item.files, unsandboxed=allowed.unsandboxed)
    return decide(store.trees, landed.base, landed.tree, contract, home)


def _row(landed: Landed, item: Item | None, verdict: Verdict | None) -> dict[str, Any]:
    why = "the record has no such item" if item is None else "its base is gone" if verdict is None else ""
    return {
        "item": landed.item,
        "commit": landed.commit,
        "decision": verdict.decision if verdict else "unknown",
        "same_verdict": verdict is not None and verdict.digest() == landed.verdict,
        "reasons": [reason.model_dump() for reason in verdict.reasons] if verdict else [],
        "why": why,
    }
