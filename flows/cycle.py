"""When does what happen in one attempt at one item? Orient, engineer, verify, integrate."""

import logging
from typing import Any

from prefect import flow

from tasks.cycle import Cycle
from tasks.engineer import engineer
from tasks.integrate import integrate
from tasks.orient import orient
from tasks.verify import verify

log = logging.getLogger("lra")


@flow(name="cycle", flow_run_name="{name}", validate_parameters=False)
def run_cycle(cycle: Cycle, name: str) -> dict[str, Any]:
    """One attempt at one item; afterwards either target and record moved together, or the record alone says why not."""
    log.info("%s: attempt %s (cycle %s)", cycle.item.id, cycle.pin.attempt, cycle.pin.cycle)
    seen = orient(cycle)
    for remark in seen["remarks"]:
        log.info("  %s", remark)
    if seen["unverifiable"]:
        result = integrate(cycle, _nothing(cycle, seen["unverifiable"]), None)
    else:
        proposal = engineer(cycle, seen["material"])
        verdict = verify(cycle, tree=proposal["tree"]) if proposal["ending"] == "submitted" else None
        result = integrate(cycle, proposal, verdict)
    log.info("%s: %s", cycle.item.id, _told(result))
    return result


def _nothing(cycle: Cycle, why: str) -> dict[str, Any]:
    return {"tree": cycle.pin.base_tree, "ending": "unverified", "summary": why, "calls": 0}


def _told(result: dict[str, Any]) -> str:
    if result["commit"]:
        unstable = ", ".join(result["quarantined"][:5])
        said = f"; unstable, so it decided nothing: {unstable}" if unstable else ""
        own = (
            f"; the engineer wrote its own test: {', '.join(result['self_written'])}" if result["self_written"] else ""
        )
        return f"merged as {result['commit'][:12]}{said}{own}"
    why = "; ".join(reason["message"] for reason in result["reasons"][:3]) or result["summary"]
    return f"{result['ending']}: {' '.join(why.split())[:300]}"
