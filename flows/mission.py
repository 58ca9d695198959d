"""When is a mission worked on? The main loop: what comes next, until it is finished, waits, or the slice is over."""

import logging
import time
from typing import Any

from prefect import flow

from agents.domain.errors import NeedsHuman, OutOfBudget
from agents.domain.schedule import Exhausted, Finished, Work, next_step
from flows.courtesy import introduce
from flows.cycle import run_cycle
from flows.outcome import Outcome
from flows.wanted import find_mission
from flows.wiring import is_unpriced, means
from tasks.cycle import Cycle, Means, begin
from tasks.hold import Held, holding

log = logging.getLogger("lra")


@flow(name="mission", flow_run_name="{mission}")
def run_mission(
    repo: str,
    mission: str,
    cycles: int | None = None,
    hours: float | None = None,
    settings: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Work on one mission until it is finished, exhausted, or the time slice (`cycles`, `hours`) is over.

    `repo` is a path or URL, `mission` a mission file in it or a mission's id, `settings` are flags that win over the
    machine's settings. Run again, it goes on where it was.
    """
    wanted = find_mission(repo, mission, settings)
    chosen = wanted.settings
    bring = means(chosen)
    with holding(chosen.home, wanted.origin, wanted.id, wanted.start) as held:
        for said in wanted.draft.left_out if wanted.draft else ():
            log.info("left out: %s", said)
        if differs := wanted.differs_from(held.state):
            log.warning(
                "%s was changed (%s); the mission goes on as it was started. Give it another title to start anew",
                mission,
                ", ".join(differs),
            )
        if held.state.mission.budget.usd is not None and is_unpriced(bring.model):
            log.warning("%s has no known price: the limit on money cannot hold it", bring.model.name)
        introduce(held.state, bring.variant, bring.model.source)
        try:
            return work(held, bring, cycles, hours).model_dump(mode="json")
        except OutOfBudget as limit:
            return Outcome(status="exhausted", why=str(limit)).model_dump(mode="json")
        except NeedsHuman as wait:
            return Outcome(status="waiting", why=str(wait)).model_dump(mode="json")


def work(held: Held, bring: Means, cycles: int | None, hours: float | None) -> Outcome:
    """The main loop."""
    spec = held.state.mission
    log.info("into %s, held to: %s", spec.target, ", ".join(spec.checks) or "the items' own checks alone")
    done, ends = 0, time.monotonic() + hours * 3600 if hours else None
    while True:
        match next_step(held.state):
            case Finished(outcome=outcome):
                return Outcome(status=outcome)
            case Exhausted(limit=limit):
                return Outcome(status="exhausted", why=limit)
            case Work(item=item):
                if done == cycles or (ends and time.monotonic() >= ends):
                    return Outcome(
                        status="paused",
                        why=f"the slice of this run is over after {done} cycle{'' if done == 1 else 's'}",
                    )
                pin = held.state.standing.open or begin(held, item, bring)
                run_cycle(Cycle(held, bring, pin), f"{item}, cycle {pin.cycle}")
                done += 1
