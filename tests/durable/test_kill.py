"""Does a mission end well, with nothing done or paid twice, when its process is killed at any step?"""

import json
import time
from collections import Counter

import pytest
from laboratory import CALLS, ITEMS, STEPS, World, killed
from provider import COMPLETION, PROMPT, place_of

from tasks.git.reading import Shelf

MANY = 400
SAMPLE = (
    "-:record:epoch:after",
    "1:record:cycle_begun:after",
    "1:engineer/act/1.0:result:before",
    "1:engineer/lead_engineer/2:result:before",
    "2:record:cycle_ended:before",
    "2:record:cycle_ended:after",
    "3:record:cycle_ended:after",
)


@pytest.mark.timeout(600)
def test_a_mission_survives_a_kill_of_every_kind(world):
    world.die_at(*SAMPLE)
    world.provider.lethal = once(lambda place: place == "one.1")
    assert resumed(world).exit == 0
    assert world.died_at() == list(SAMPLE)
    assert len(world.provider.killed) == 1
    assert {bool(run["parent_task_run_id"]) for run in world.runs("CRASHED")} == {True, False}
    assert_all_is_well(world)


@pytest.mark.nightly
@pytest.mark.timeout(7200)
def test_a_mission_survives_a_kill_at_the_start_the_middle_and_the_end_of_every_step(world, tmp_path):
    calm = World(tmp_path / "calm", world.provider, world.environment["PREFECT_API_URL"])
    assert calm.run().exit == 0
    world.provider.log.clear()
    world.die_at("*")
    world.provider.lethal = once(lambda place: True)
    started = time.monotonic()
    assert resumed(world).exit == 0
    died = world.died_at()
    print(f"\n{len(died) + len(world.provider.killed)} kills in {time.monotonic() - started:.0f} s")
    assert Counter(died).most_common(1)[0][1] == 1
    assert len([point for point in died if "/act/" in point or "/lead_engineer/" in point]) == 4 * STEPS
    assert len(world.provider.killed) == CALLS
    assert world.tree() == calm.tree()
    assert_all_is_well(world)


def once(chosen):
    """Choose requests by place, each the first time that it is sent."""
    seen = set()

    def lethal(place, body):
        new = chosen(place) and body not in seen
        seen.add(body)
        return new

    return lethal


def resumed(world):
    """Give the same command again until it is not killed any more."""
    for _ in range(MANY):
        ran = world.run()
        if not killed(ran):
            return ran
    raise AssertionError(f"still killed after {MANY} starts: {world.died_at()[-3:]}")


def assert_all_is_well(world):
    assert_each_call_was_sent_once_but_for_the_one_in_flight_at_a_kill(world)
    assert world.merges() == list(ITEMS)
    assert [world.git("show", f"main:{item}.txt") for item in ITEMS] == ["start\nend\nbegun\nright"] * 3
    assert world.git("diff", "--name-only", f"main~{len(ITEMS)}", "main").split() == sorted(f"{i}.txt" for i in ITEMS)
    for journal in world.journals():
        rows = [row for row in world.rows_of(journal) if row.phase != "intent"]
        assert [row.kind for row in rows].count("end") == 1, journal
        assert len({row.place for row in rows}) == len(rows), journal
    assert world.alive() == []


def assert_each_call_was_sent_once_but_for_the_one_in_flight_at_a_kill(world):
    """A request comes again only when its sender died between sending it and writing the answer down."""
    died, provider = world.died_at(), world.provider
    unwritten = {body for body in provider.sent() if f"{row_of(body)}:result:before" in died}
    assert provider.sent() == {
        body: 1 + provider.killed.count(body) + (body in unwritten) for body in provider.answered()
    }
    assert provider.answered() == {body: 1 + (body in unwritten) for body in provider.sent()}
    lost = len(provider.killed) + len([p for p in died if "lead_engineer" in p and p.endswith(MAY_BE_BILLED)])
    spend = Shelf(str(world.origin), world.home).state(world.mission).standing.spend
    assert (spend.live, spend.possibly_billed) == (CALLS, lost)
    worst = [row.data for row in world.rows() if row.kind == "think" and row.phase == "intent"]
    answered = CALLS * (PROMPT + COMPLETION)
    assert answered <= spend.usage.total <= answered + sum(w["worst_prompt"] + w["worst_completion"] for w in worst)
    assert (spend.usage.total > answered) == (lost > 0)


MAY_BE_BILLED = (":intent:after", ":result:before")


def row_of(body):
    """Name the journal row that holds the answer to a request, as the victim names it."""
    item, _, number = place_of(json.loads(body)).partition(".")
    return f"{ITEMS.index(item) + 1}:engineer/lead_engineer/{number}"
