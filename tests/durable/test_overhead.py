"""How much of the time of a mission is LRA's own? The numbers are printed; see `-s`."""

import json
import time

import pytest


@pytest.mark.nightly
@pytest.mark.timeout(600)
def test_a_mission_takes_little_more_than_its_model_and_its_checks(world):
    world.provider.seconds = 8.0
    started = time.monotonic()
    assert world.run().exit == 0
    wall = time.monotonic() - started
    thought = sum(row.data["seconds"] for row in world.rows() if (row.kind, row.phase) == ("think", "result"))
    checked = sum(json.loads(report.read_text())["seconds"] for report in world.home.glob("reports/*.json"))
    needed = thought + checked
    rows = [world.rows_of(path) for path in world.journals()]
    inside = sum(cycle[-1].at - cycle[0].at for cycle in rows)
    print(
        f"\nwall {wall:.1f} s; model {thought:.1f} s; checks {checked:.1f} s; inside cycles {inside:.1f} s; "
        f"to the first cycle {wall - (rows[-1][-1].at - rows[0][0].at):.1f} s; "
        f"ratios {wall / needed:.3f}, inside {inside / needed:.3f}"
    )
    assert inside < 1.15 * needed
