"""Does LRA go on after a loss, stop before a lie, and pay nothing again in silence?"""

import json
import os
import shutil
import subprocess

import pytest
from laboratory import CALLS, ITEMS, killed

from tasks.git.reading import Shelf
from tasks.git.record import state_files
from tasks.journal import read

IN_CYCLE_2 = "2:engineer/lead_engineer/1:result:after"


def flip(path, line):
    """Flip one bit in the middle of a line of a file."""
    lines = path.read_bytes().splitlines(keepends=True)
    damaged = bytearray(lines[line])
    damaged[len(damaged) // 2] ^= 4
    lines[line] = bytes(damaged)
    path.write_bytes(b"".join(lines))
    return range(1, len(lines) + 1)[line]


def commit_by_hand(world, files, message):
    """Put files on the record branch with git alone."""
    hand = world.folder / "hand"
    world.git("worktree", "add", "-q", "--force", str(hand), world.record)
    for name, text in files.items():
        (hand / name).write_text(text)
    world.git("-C", str(hand), "add", "-A")
    world.git("-C", str(hand), "commit", "-q", "--allow-empty", "-m", message)
    world.git("worktree", "remove", "--force", str(hand))


def bit_in_the_middle(world):
    line = flip(world.journals()[-1], 2)
    return f"{world.journals()[-1]}, line {line} is damaged"


def bit_in_the_last_line(world):
    line = flip(world.journals()[-1], -1)
    return f"{world.journals()[-1]}, line {line} is damaged"


def commit_of_a_stranger(world):
    commit_by_hand(world, {"note.txt": "hello"}, "a note")
    return "LRA did not write it"


def done_by_hand(world, *items):
    """Say in the record that items are done, in a commit with every trailer right, by the evidence of item one."""
    state = Shelf(str(world.origin), world.home).state(world.mission)
    listed = json.loads(state_files(state)["checklist.json"])
    for item in listed["items"]:
        if item["id"] in items:
            item |= {"status": "done", "evidence": listed["items"][0]["evidence"]}
    forged = state.model_copy(update={"checklist": type(state.checklist).model_validate(listed)})
    text = state_files(forged)["checklist.json"].decode()
    commit_by_hand(world, {"checklist.json": text}, f"epoch: run\n\nLRA-Event: epoch\nLRA-State: {forged.digest()}")


def item_done_by_hand(world):
    done_by_hand(world, "three")
    return "the record says item three is done by commit"


def record_rewound(world):
    world.git("update-ref", f"refs/heads/{world.record}", f"{world.record}~1")
    return "was rewound or rewritten"


def record_deleted(world):
    world.git("update-ref", "-d", f"refs/heads/{world.record}")
    return "was deleted"


QUICK = (bit_in_the_middle,)
THOROUGH = (item_done_by_hand, bit_in_the_last_line, commit_of_a_stranger, record_rewound, record_deleted)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("damages", [QUICK, pytest.param(THOROUGH, marks=pytest.mark.nightly)], ids=["quick", "all"])
def test_damage_is_refused_before_a_request_is_sent_and_a_torn_line_is_not_damage(world, damages):
    world.die_at(IN_CYCLE_2)
    assert killed(world.run())
    for damage in damages:
        journal, record = world.journals()[-1].read_bytes(), world.git("rev-parse", world.record)
        asked = len(world.provider.log)
        told = damage(world)
        ran = world.run()
        assert (ran.exit, ran.answer["kind"]) == (1, "BrokenRecord"), ran
        assert told in ran.answer["error"]
        assert len(world.provider.log) == asked
        world.journals()[-1].write_bytes(journal)
        if damage in (bit_in_the_middle, bit_in_the_last_line):
            continue
        world.git("update-ref", f"refs/heads/{world.record}", record)
    world.journals()[-1].write_bytes(journal[:-40])
    ran = world.run()
    assert (ran.exit, ran.answer["possibly_billed_calls"]) == (0, 1)
    assert len(world.provider.log) == CALLS + 1
    assert world.merges() == list(ITEMS)


@pytest.mark.nightly
@pytest.mark.timeout(600)
@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a small disk")
def test_a_full_disk_ends_the_run_and_with_room_again_it_goes_on(world):
    disk = world.home / "journals"
    disk.mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", disk], check=True)
    try:
        ballast = disk / "ballast"
        ballast.write_bytes(b"x" * 56 * 1024)
        ran = world.run()
        assert (ran.exit, ran.answer["kind"]) == (2, "Misconfigured"), ran
        assert "Make room" in ran.answer["error"]
        assert world.merges() == []
        ballast.unlink()
        lost = len(world.provider.log) - sum(row.kind == "think" and row.phase == "result" for row in world.rows())
        ran = world.run()
        assert (ran.exit, ran.answer["status"]) == (0, "verified")
        assert len(world.provider.log) == CALLS + lost
        assert ran.answer["possibly_billed_calls"] >= lost
        assert world.merges() == list(ITEMS)
    finally:
        subprocess.run(["umount", "--lazy", disk], check=True)


@pytest.mark.timeout(600)
def test_a_mission_that_was_finished_by_hand_is_not_verified(world):
    assert world.run("--cycles", "1").answer["status"] == "paused"
    done_by_hand(world, "two", "three")
    ran = world.run()
    assert (ran.exit, ran.answer.get("kind")) == (1, "BrokenRecord"), ran
    assert "the record says item two is done by commit" in ran.answer["error"]


def lose(world, *names):
    for name in names:
        shutil.rmtree(world.home / name)


@pytest.mark.timeout(600)
def test_every_cache_may_be_lost_in_the_middle_of_a_cycle(world):
    world.die_at("1:engineer/lead_engineer/2:result:after", "2:record:cycle_ended:before")
    assert killed(world.run())
    lose(world, "store", "results", "environments", "reports", "workspaces")
    assert killed(world.run())
    lose(world, "store")
    ran = world.run()
    assert (ran.exit, len(world.provider.log)) == (0, CALLS), ran
    assert world.merges() == list(ITEMS)


@pytest.mark.nightly
@pytest.mark.timeout(600)
@pytest.mark.parametrize("point", [IN_CYCLE_2, "2:record:cycle_ended:before"])
def test_a_lost_journal_costs_the_calls_of_its_cycle_again_and_that_is_said(world, point):
    world.die_at(point)
    assert killed(world.run())
    journal = world.journals()[-1]
    paid = sum(row.kind == "think" and row.phase == "result" for row in read(journal)[0])
    journal.unlink()
    ran = world.run()
    assert (ran.exit, ran.answer["status"]) == (0, "verified"), ran
    assert len(world.provider.log) == CALLS + paid
    assert ran.answer["model_calls"]["live"] == CALLS
    assert "the journal of cycle 2 is not on this machine" in ran.said + world.git("log", "--format=%B", world.record)
    assert world.merges() == list(ITEMS)


@pytest.mark.nightly
@pytest.mark.timeout(600)
def test_the_whole_home_may_be_lost(world):
    world.die_at(IN_CYCLE_2)
    assert killed(world.run())
    shutil.rmtree(world.home)
    ran = world.run()
    assert (ran.exit, len(world.provider.log)) == (0, CALLS + 2), ran
    assert world.merges() == list(ITEMS)


@pytest.mark.nightly
@pytest.mark.timeout(600)
def test_the_prefect_database_may_be_lost(world, prefect_server):
    world.die_at(IN_CYCLE_2)
    assert killed(world.run())
    prefect_server.stop()
    for file in prefect_server.folder.glob("prefect.db*"):
        file.unlink()
    prefect_server.start()
    ran = world.run()
    assert (ran.exit, len(world.provider.log)) == (0, CALLS), ran


@pytest.mark.nightly
@pytest.mark.timeout(600)
def test_damage_in_the_journal_of_a_finished_cycle_stops_nothing(world):
    world.die_at(IN_CYCLE_2)
    assert killed(world.run("--cycles", "2"))
    world.die_at("2:end:result:before")
    assert killed(world.run())
    flip(world.journals()[-1], 3)
    ran = world.run()
    assert (ran.exit, ran.answer["status"]) == (0, "verified"), ran
