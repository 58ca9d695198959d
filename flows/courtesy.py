"""When Prefect is told about things it cannot know: whose run this is, and which runs died without a word."""

from uuid import UUID

from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import (
    FlowRunFilter,
    FlowRunFilterParentFlowRunId,
    FlowRunFilterState,
    FlowRunFilterStateType,
    FlowRunFilterTags,
)
from prefect.client.schemas.objects import StateType
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
        mine = FlowRunFilter(tags=FlowRunFilterTags(all_=[f"mission:{mission}"]), state=ALIVE)
        stale = [run.id for run in client.read_flow_runs(flow_run_filter=mine) if run.id != me]
        if not stale:
            return
        below = FlowRunFilter(parent_flow_run_id=FlowRunFilterParentFlowRunId(any_=stale), state=ALIVE)
        for run in [*stale, *(child.id for child in client.read_flow_runs(flow_run_filter=below))]:
            client.set_flow_run_state(run, Crashed(message=f"its process died; run {me} goes on"), force=True)
