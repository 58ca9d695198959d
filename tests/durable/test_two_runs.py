"""Can two runs of one mission ever both work on it?"""

import threading
import time

import pytest
from laboratory import ITEMS, ended


@pytest.fixture
def first(world):
    """A run that waits for the answer to its first request; `world.provider.hold["a"]` lets it go on."""
    world.provider.hold["a"] = threading.Event()
    process = world.start(LRA_API_KEY="a")
    until = time.monotonic() + 120
    while not world.provider.log:
        assert process.poll() is None, ended(process)
        assert time.monotonic() < until
        time.sleep(0.05)
    yield process
    world.provider.hold["a"].set()
    process.kill()
    process.communicate()


@pytest.mark.timeout(600)
def test_with_one_home_the_second_is_told_that_the_mission_is_taken(world, first):
    second = world.run(LRA_API_KEY="b")
    assert (second.exit, second.answer["kind"]) == (1, "Busy")
    assert f"lra watch {world.mission}" in second.answer["error"]
    world.provider.hold["a"].set()
    assert ended(first).exit == 0
    assert {caller for caller, _, _ in world.provider.log} == {"a"}
    assert world.merges() == list(ITEMS)


@pytest.mark.timeout(600)
def test_with_two_homes_the_later_takes_over_and_the_first_is_fenced(world, first):
    second = world.run(LRA_API_KEY="b", LRA_HOME=str(world.folder / "other"))
    assert (second.exit, second.answer["status"]) == (0, "verified")
    world.provider.hold["a"].set()
    fenced = ended(first)
    assert (fenced.exit, fenced.answer["kind"]) == (1, "Busy"), fenced
    assert "epoch 2" in fenced.answer["error"]
    assert world.merges() == list(ITEMS)


@pytest.mark.nightly
@pytest.mark.timeout(600)
def test_two_homes_that_work_at_full_speed_merge_every_item_once(world):
    first = world.start(LRA_API_KEY="a")
    while not world.merges():
        time.sleep(0.05)
    second = world.start(LRA_API_KEY="b", LRA_HOME=str(world.folder / "other"))
    ends = [ended(first), ended(second)]
    assert 0 in {ran.exit for ran in ends}, ends
    assert world.merges() == list(ITEMS)
