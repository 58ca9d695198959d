"""Does Prefect learn that a run died?"""

import pytest
from laboratory import killed


@pytest.mark.nightly
@pytest.mark.timeout(600)
def test_the_runs_of_a_killed_process_are_crashed_by_the_next(world):
    world.die_at("1:engineer/act/0.0:intent:after")
    assert killed(world.run())
    stale = {run["id"] for run in world.runs("RUNNING", "PENDING")}
    assert len(stale) == 2
    assert world.run("--cycles", "1").answer["status"] == "paused"
    assert {run["id"] for run in world.runs("CRASHED")} >= stale
    assert world.alive() == []
