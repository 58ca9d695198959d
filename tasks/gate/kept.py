"""Was exactly this judged before? A verdict is kept under everything that it depends on; luck has no second chance."""

import os
import threading
from pathlib import Path

from pydantic import ValidationError

from agents.domain.gate import Verdict
from agents.domain.value import digest_of
from tasks.checks.measure import environment_name, gate_digest
from tasks.gate.contract import Contract
from tasks.git.trees import Trees

PASSING = frozenset({"infra", "timeout", "crash", "memory", "disk", "garbage"})


def place_of(trees: Trees, base_tree: str, tree: str, contract: Contract, home: Path) -> Path:
    """Return where the verdict on these trees is kept: trees, contract, gate, tools and both environments name it."""
    environments = [environment_name(trees, one) for one in (base_tree, tree)]
    key = digest_of([base_tree, tree, contract.digest(), gate_digest(home), *environments])
    return home.absolute() / "verdicts" / f"{key}.json"


def load(place: Path, base_tree: str, tree: str) -> Verdict | None:
    """Read a kept verdict; one that is broken, or about other trees, counts as none."""
    try:
        verdict = Verdict.model_validate_json(place.read_bytes())
    except (OSError, ValidationError):
        return None
    return verdict if (verdict.base_tree, verdict.candidate_tree) == (base_tree, tree) else None


def keep(place: Path, verdict: Verdict) -> None:
    """Keep a verdict; one that rests on a check that could not be carried out is not kept, so it is tried again."""
    if any(reason.kind in PASSING for reason in verdict.reasons):
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    temporary = place.with_suffix(f".{os.getpid()}.{threading.get_ident()}.tmp")
    temporary.write_text(verdict.model_dump_json(), encoding="utf-8")
    temporary.replace(place)
