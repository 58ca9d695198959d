"""Does everyone who looks see what is true: status, log, show, watch, missions, metrics and the gate alone?"""

import json
import os
import pty
import select
import time
from collections.abc import Callable

import pytest
from place import FILES, HELLO, LRA, ONE, Place, ended, reply

NewPlace = Callable[[str, dict[str, str]], Place]


@pytest.fixture(scope="module")
def done(new_place: NewPlace) -> Place:
    """A mission of one item that is verified."""
    place = new_place("looking", FILES)
    place.write(ONE, reply("hello", HELLO))
    assert place.run().exit == 0
    return place


def look(place: Place, verb: str, *args: str) -> dict:
    ran = place.lra(verb, *args, "--repo", str(place.repo), "--json")
    assert ran.exit == 0, ran.err
    return ran.data


def test_status_tells_every_item_with_its_evidence(done: Place) -> None:
    told = look(done, "status")
    assert (told["status"], told["items"]["done"]) == ("verified", ["hello"])
    item = told["details"]["hello"]
    assert (item["attempts"], item["evidence"]["commit"]) == (1, told["commits"][0])


def test_status_for_people_says_that_a_script_is_not_a_model(done: Place) -> None:
    out = done.lra("status", "--repo", str(done.repo)).out
    assert "scripted, not a model" in out
    assert "hello" in out


def test_missions_lists_what_was_started_here(done: Place) -> None:
    (mission,) = look(done, "missions")["missions"]
    assert (mission["status"], mission["done"]) == ("verified", "1/1")


def test_log_is_the_record_newest_first(done: Place) -> None:
    words = [event["text"].split(":")[0] for event in look(done, "log")["events"]]
    assert words == ["cycle_ended", "cycle_begun", "epoch", "started"]


def test_show_has_the_transcript_of_a_cycle(done: Place) -> None:
    mission = look(done, "status")["mission"]
    told = look(done, "show", mission, "1")
    assert told["result"]["ending"] == "merged"
    assert [row["kind"] for row in told["steps"] if row["phase"] == "result"] == [
        "think",
        "act",
        "act",
        "verify",
        "end",
    ]
    text = done.lra("show", mission, "1", "--repo", str(done.repo)).out
    assert "to the model" in text
    assert "verdict: pass" in text


def test_show_of_a_cycle_that_never_was_says_how_many_there_are(done: Place) -> None:
    mission = look(done, "status")["mission"]
    ran = done.lra("show", mission, "9", "--repo", str(done.repo))
    assert ran.exit == 2
    assert "it had 1 so far" in ran.complaint


def test_watch_ends_by_itself_when_nothing_is_open(done: Place) -> None:
    assert "no cycle is open" in look(done, "watch")["now"]


def test_metrics_tell_the_same_as_the_record(done: Place) -> None:
    assert done.lra("metrics", "ingest", "--json").exit == 0
    ran = done.lra("metrics", "sql", "SELECT source, model_calls, prompt_tokens FROM spend", "--json")
    assert ran.exit == 0, ran.err
    assert ran.data["rows"] == [["scripted", 1, 10]]


def test_verify_judges_the_merge_again_without_any_mission(done: Place) -> None:
    told = look(done, "verify", "--base", "main~1", "--candidate", "main", "--accept", "grep -q hello hello.txt")
    assert (told["decision"], told["fail_to_pass"]) == ("pass", ["grep -q hello hello.txt"])


def test_verify_of_a_tree_against_itself_fails(done: Place) -> None:
    args = ("--base", "main", "--candidate", "main", "--accept", "grep -q hello hello.txt", "--json")
    ran = done.lra("verify", "--repo", str(done.repo), *args)
    assert (ran.exit, ran.data["decision"]) == (1, "fail")
    assert "unchanged" in [reason["kind"] for reason in ran.data["reasons"]]


def test_verify_without_an_acceptance_check_is_unverified(done: Place) -> None:
    ran = done.lra("verify", "--repo", str(done.repo), "--base", "main~1", "--candidate", "main", "--json")
    assert (ran.exit, ran.data["decision"]) == (5, "unverified")


def test_verify_refuses_a_check_that_says_nothing(done: Place) -> None:
    ran = done.lra("verify", "--repo", str(done.repo), "--base", "main~1", "--candidate", "main", "--check", " ")
    assert ran.exit == 2
    assert "a check is empty" in ran.complaint


def test_metrics_in_json_are_json_whatever_a_number_is(done: Place) -> None:
    ran = done.lra("metrics", "sql", "SELECT 'NaN'::DOUBLE, 'inf'::DOUBLE, 1.5", "--json")
    assert ran.data["rows"] == [[None, None, 1.5]]


def test_verify_takes_the_files_as_they_are(new_place: NewPlace) -> None:
    place = new_place("worktree", FILES)
    (place.repo / "hello.txt").write_text("hello\n")
    before = place.git("status", "--porcelain")
    told = look(place, "verify", "--base", "HEAD", "--candidate", "WORKTREE", "--accept", "grep -q hello hello.txt")
    assert told["decision"] == "pass"
    assert place.git("status", "--porcelain") == before


def test_on_a_terminal_run_shows_item_tokens_cost_and_the_age_of_the_last_event(new_place: NewPlace) -> None:
    place = new_place("terminal", FILES)
    place.write(ONE, reply("hello", HELLO, delay_s=3))
    shown = on_terminal(place, *(arg for arg in place.command() if arg != "--json"))
    assert "hello (cycle 1, attempt 1)" in shown
    assert "tokens, $0.0000; last event" in shown
    assert "verified" in shown


def test_a_second_terminal_can_watch_while_it_runs(new_place: NewPlace) -> None:
    place = new_place("watching", FILES)
    place.write(ONE, reply("hello", HELLO, delay_s=6))
    with place.start(*place.command()) as process:
        place.until_asked()
        now = look(place, "watch", "--once")["now"]
        assert "hello (cycle 1, attempt 1): engineer/lead_engineer/0" in now
        assert ended(process).exit == 0


def test_a_run_that_was_killed_is_shown_as_interrupted_and_is_not_waited_for(new_place: NewPlace) -> None:
    place = new_place("killed", FILES)
    place.write(ONE, reply("hello", HELLO, delay_s=60))
    with place.start(*place.command()) as process:
        place.until_asked()
        assert look(place, "status")["status"] == "working"
        process.kill()
        ended(process)
    assert look(place, "status")["status"] == "interrupted"
    assert place.lra("watch", "--repo", str(place.repo)).out.startswith("Say hello  (say-hello): interrupted")


def test_a_pipe_is_told_each_step_once(new_place: NewPlace) -> None:
    place = new_place("pipe", FILES)
    place.write(ONE, reply("hello", HELLO, delay_s=6))
    with place.start(*place.command()) as process:
        place.until_asked()
        watched = place.lra("watch", "--repo", str(place.repo)).out.splitlines()
        assert ended(process).exit == 0
    (asked,) = [line for line in watched if "engineer/lead_engineer/0" in line]
    assert "last event" in asked
    assert "verified" in watched[-3]


def on_terminal(place: Place, *args: str) -> str:
    """Run `lra` on a pseudo-terminal, and return all that was shown there."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(place.folder)
        os.execve(LRA, [LRA, *args], {**place.environment, "TERM": "xterm", "COLUMNS": "120"})
    seen, limit = b"", time.monotonic() + 120
    while time.monotonic() < limit:
        if select.select([terminal], [], [], 1)[0]:
            try:
                seen += os.read(terminal, 65536)
            except OSError:
                break
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0, seen.decode()
    return seen.decode("utf-8", "replace")


def test_json_on_every_looking_verb_is_one_object_and_nothing_else(done: Place) -> None:
    for verb in ("status", "missions", "log", "watch"):
        ran = done.lra(verb, "--repo", str(done.repo), "--json")
        assert isinstance(json.loads(ran.out), dict)
        assert ran.err == ""
