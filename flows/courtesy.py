"""When Prefect is told about things it cannot know: whose run this is, and which runs died without a word."""

from typing import Any
from uuid import UUID

from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import (
    FlowFilter,
    FlowFilterName,
    FlowRunFilter,
    FlowRunFilterParentFlowRunId,
    FlowRunFilterState,
    FlowRunFilterStateType,
)
from prefect.client.schemas.objects import FlowRun, StateType
from prefect.runtime import flow_run
from prefect.states import Crashed

from agents.domain.state import State

ALIVE = FlowRunFilterState(type=FlowRunFilterStateType(any_=[StateType.RUNNING, StateType.PENDING]))


def introduce(state: State, variant: str, source: str) -> None:
    """Name and tag this flow run, and close every other run of the mission that still looks alive: its process is dead.

    Call it while holding the mission: only then is it sure that no other run of it works.
    """
    mission, name = state.mission.id, f"{state.mission.id}, run {state.standing.epoch}"
    me = UUID(str(flow_run.id))
    with get_client(sync_client=True) as client:
        client.update_flow_run(me, name=name, tags=[f"mission:{mission}", f"variant:{variant}", f"source:{source}"])
        mine = client.read_flow_run(me).parameters
        alive = client.read_flow_runs(
            flow_filter=FlowFilter(name=FlowFilterName(any_=["mission"])), flow_run_filter=FlowRunFilter(state=ALIVE)
        )
        stale = [run.id for run in alive if run.id != me and _is_of(run, mission, mine)]
        if not stale:
            return
        below = FlowRunFilter(parent_flow_run_id=FlowRunFilterParentFlowRunId(any_=stale), state=ALIVE)
        # Cycles first: should this process die in between, the next one still finds them by their parent.
        for run in [*(child.id for child in client.read_flow_runs(flow_run_filter=below)), *stale]:
            client.set_flow_run_state(run, Crashed(message=f"its process died; run {me} goes on"), force=True)


def _is_of(run: FlowRun, mission: str, mine: dict[str, Any]) -> bool:
    """Say whether a run is of the same mission of the same repository; one that died before it was tagged is, too."""
    same = f"mission:{mission}" in run.tags or run.parameters.get("mission") == mine["mission"]
    return same and bool(run.parameters.get("repo") == mine["repo"])
