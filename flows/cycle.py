"""When does what happen in one attempt at one item? Orient, engineer, verify, integrate."""

from typing import Any

from prefect import flow

from tasks.cycle import Cycle
from tasks.engineer import engineer
from tasks.integrate import integrate
from tasks.orient import orient
from tasks.verify import verify


@flow(name="cycle", flow_run_name="{name}", validate_parameters=False)
def run_cycle(cycle: Cycle, name: str) -> dict[str, Any]:
    """One attempt at one item; afterwards either target and record moved together, or the record alone says why not."""
    seen = orient(cycle)
    if seen["unverifiable"]:
        return integrate(cycle, _nothing(cycle, seen["unverifiable"]), None)
    proposal = engineer(cycle, seen["material"])
    verdict = verify(cycle, tree=proposal["tree"]) if proposal["ending"] == "submitted" else None
    return integrate(cycle, proposal, verdict)


def _nothing(cycle: Cycle, why: str) -> dict[str, Any]:
    return {"tree": cycle.pin.base_tree, "ending": "unverified", "summary": why, "calls": 0}
