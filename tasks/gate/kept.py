"""Was exactly this judged before? A verdict is kept under everything that it depends on; luck has no second chance."""

from pathlib import Path

from agents.domain.gate import Verdict
from agents.domain.value import digest_of
from tasks.checks import keeping
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
    verdict = keeping.load(place, Verdict)
    return verdict if verdict and (verdict.base_tree, verdict.candidate_tree) == (base_tree, tree) else None


def keep(place: Path, verdict: Verdict) -> None:
    """Keep a verdict; one that rests on a check that could not be carried out is not kept, so it is tried again."""
    if not any(reason.kind in PASSING for reason in verdict.reasons):
        keeping.keep(place, verdict.model_dump_json())
