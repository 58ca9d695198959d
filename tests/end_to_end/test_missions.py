"""Does a mission come to the end it should, whatever happens on the way? Every test starts the installed command."""

import json
import shutil
import signal
from collections.abc import Callable
from typing import Any

import pytest
from place import FILES, HELLO, ONE, Place, ended, reply, whole

NewPlace = Callable[[str, dict[str, str]], Place]

# The plain mission, and the same again.

TWO = """---
checks: ["test -s notes.txt"]
---
# Say hello twice

Nothing else may change.

- [ ] again: again.txt says hello too
  - check: grep -q hello again.txt
  - needs: hello
- [ ] hello: hello.txt says hello
  - check: grep -q hello hello.txt
"""


@pytest.fixture(scope="module")
def finished(new_place: NewPlace) -> tuple[Place, dict[str, Any]]:
    """A mission of two items that has run to its end."""
    place = new_place("finished", FILES)
    place.write(
        TWO, reply("hello", HELLO), reply("again", "READ: hello.txt"), reply("again", whole("again.txt", "hello\n"))
    )
    ran = place.run()
    assert ran.exit == 0, ran.err
    return place, ran.data


def test_a_plain_mission_merges_every_item_in_the_order_of_its_needs(finished: tuple[Place, dict[str, Any]]) -> None:
    place, data = finished
    assert (data["status"], data["items"]["done"], data["cycles"]) == ("verified", ["again", "hello"], 2)
    assert data["model_calls"] == {"live": 0, "recorded": 0, "scripted": 3}
    assert (data["tokens"]["prompt"], data["tokens"]["completion"], data["cost_usd"]) == (30, 15, 0.0)
    items = place.git("log", "--first-parent", "--format=%(trailers:key=LRA-Item,valueonly)", "main").split()
    assert items == ["again", "hello"], "the newest first: `again` had to wait"


def test_every_commit_it_tells_of_is_a_merge_on_the_target_with_its_evidence(
    finished: tuple[Place, dict[str, Any]],
) -> None:
    place, data = finished
    assert set(data["commits"]) == set(place.git("rev-list", "--first-parent", "--merges", "main").split())
    for item in data["details"].values():
        evidence = item["evidence"]
        message = place.git("show", "-s", "--format=%B", evidence["commit"])
        assert f"LRA-Verdict: {evidence['verdict']}" in message
        assert "LRA-Source: scripted" in message


def test_a_clean_checkout_follows_the_target(finished: tuple[Place, dict[str, Any]]) -> None:
    place, _ = finished
    assert (place.repo / "again.txt").read_text() == "hello\n"
    assert place.git("status", "--porcelain") == ""


def test_a_finished_mission_run_again_costs_nothing(finished: tuple[Place, dict[str, Any]]) -> None:
    place, data = finished
    before = place.git("for-each-ref"), len(place.rows())
    again = place.run()
    assert (again.exit, again.data) == (0, data)
    assert (place.git("for-each-ref"), len(place.rows())) == before


def test_people_read_that_a_script_is_not_a_model(finished: tuple[Place, dict[str, Any]]) -> None:
    place, _ = finished
    seen = place.lra("status", "say-hello-twice", "--repo", str(place.repo))
    assert "verified" in seen.out
    assert "3 scripted (scripted, not a model)" in seen.out


# Going on.


def test_a_slice_pauses_and_the_same_command_goes_on(place: Place) -> None:
    place.write(TWO, reply("hello", HELLO), reply("again", whole("again.txt", "hello\n")))
    first = place.run("--cycles", "1")
    assert (first.exit, first.data["status"]) == (1, "paused")
    assert (first.data["items"]["done"], first.data["items"]["todo"]) == (["hello"], ["again"])
    second = place.run()
    assert (second.exit, second.data["status"], second.data["cycles"]) == (0, "verified", 2)
    assert second.data["model_calls"]["scripted"] == len(place.thoughts()) == 2


def test_after_a_red_attempt_the_next_briefing_tells_why(place: Place) -> None:
    broken = HELLO + "\nDELETE: notes.txt\n"
    mission = ONE.replace("[]", '["test -s notes.txt"]').replace("says hello", "says hello, as in `notes.txt`.")
    place.write(mission, reply("hello", broken), reply("hello", HELLO))
    assert place.run().exit == 0
    assert place.cycle("say-hello", 1)["ending"] == "refused"
    first, second = ("\n".join(m["content"] for m in asked["messages"]) for asked in place.thoughts())
    assert "The attempt before this one" not in first
    assert "\nnotes.txt\n```\n" in first, "a file that the item names is shown"
    assert "Your last attempt ended: refused" in second
    assert "pass_to_pass: test -s notes.txt passed on base and does not now" in second


ENDINGS = """---
checks: []
attempts: 1
---
# End in three ways

- [ ] tired: never gets there
  - check: test -e tired.txt
- [ ] giving: is given up
  - check: test -e giving.txt
- [ ] babble: is never understood
  - check: test -e babble.txt
"""


@pytest.fixture(scope="module")
def failed(new_place: NewPlace) -> tuple[Place, dict[str, Any], str]:
    """A mission whose items all fail, each in its own way."""
    place = new_place("failed", FILES)
    look, babble = reply("tired", "READ: notes.txt"), reply("babble", "I would love to help!")
    place.write(ENDINGS, *[look] * 4, reply("giving", "GIVE UP: this cannot be done here"), *[babble] * 4)
    ran = place.run(LRA_MAX_CALLS="4")
    assert ran.exit == 1, ran.err
    return place, ran.data, ran.err


@pytest.mark.parametrize(
    ("item", "number", "ending", "calls"),
    [("tired", 1, "out_of_calls", 4), ("giving", 2, "gave_up", 1), ("babble", 3, "unparseable", 3)],
)
def test_an_attempt_without_success_says_how_it_ended(
    failed: tuple[Place, dict[str, Any], str], item: str, number: int, ending: str, calls: int
) -> None:
    place, data, err = failed
    result = place.cycle("end-in-three-ways", number)
    assert (result["pin"]["item"], result["ending"], result["calls"]) == (item, ending, {"lead_engineer": calls})
    assert data["details"][item]["status"] == "blocked"
    assert f"{item}: {ending}" in err


def test_a_mission_that_fails_leaves_the_target_alone(failed: tuple[Place, dict[str, Any], str]) -> None:
    place, data, _ = failed
    assert (data["status"], data["commits"], data["model_calls"]["scripted"]) == ("incomplete", [], 8)
    assert data["details"]["giving"]["reason"] == "this cannot be done here"
    assert place.git("log", "--format=%s", "main") == "Initial import\n"


def test_a_run_that_is_interrupted_ends_at_once_and_goes_on_later(place: Place) -> None:
    place.write(ONE, reply("hello", HELLO, delay_s=60))
    with place.start(*place.command()) as first:
        place.until_asked()
        first.send_signal(signal.SIGINT)
        stopped = ended(first)
    assert (stopped.exit, stopped.data["kind"]) == (130, "Interrupted"), stopped.err
    place.write(ONE, reply("hello", HELLO))
    assert place.run().exit == 0


# What cannot be shown, and what cannot be paid.


def test_what_no_check_can_show_is_unverified_and_asks_no_model(place: Place) -> None:
    nothing = "- [ ] vague: is better\n- [ ] there: is there\n  - check: test -s notes.txt\n"
    place.write(f"---\nchecks: []\n---\n# Nothing to show\n\n{nothing}")
    ran = place.run()
    assert (ran.exit, ran.data["status"]) == (5, "unverified")
    assert ran.data["items"]["blocked"] == ["vague", "there"]
    assert "no check" in ran.data["details"]["vague"]["reason"]
    assert "green already" in ran.data["details"]["there"]["reason"]
    assert place.rows()[-1]["kind"] == "end"
    assert not place.thoughts()


def test_a_spent_budget_ends_the_run_and_not_the_mission(place: Place) -> None:
    place.write(ONE.replace("checks:", "budget: {tokens: 20}\nchecks:"), *[reply("hello", "READ: notes.txt", 25)] * 3)
    first = place.run()
    assert (first.exit, first.data["status"]) == (4, "exhausted")
    assert "tokens: 30 of 20 used" in first.data["why"]
    status = place.lra("status", "say-hello", "--repo", str(place.repo), "--json").data
    assert (status["status"], status["items"]["in_progress"]) == ("exhausted", ["hello"])
    again = place.run()
    assert again.exit == 4
    assert len(place.thoughts()) == 1, "a second run asks nothing that it may not pay"


def test_a_budget_spent_between_items_leaves_the_rest_to_do(place: Place) -> None:
    place.write(TWO.replace("checks:", "budget: {tokens: 15}\nchecks:"), reply("hello", HELLO))
    ran = place.run()
    assert (ran.exit, ran.data["status"]) == (4, "exhausted")
    assert (ran.data["items"]["done"], ran.data["items"]["todo"]) == (["hello"], ["again"])
    assert "tokens: 15 of 15" in ran.data["why"]


# What is wrong from the start.


def empty(place: Place) -> None:
    shutil.rmtree(place.repo)
    place.repo.mkdir()
    place.git("init", "-q", "-b", "main")


def scriptless(place: Place) -> None:
    (place.folder / "script.jsonl").unlink()


def spoiled(place: Place) -> None:
    (place.folder / "MISSION.md").write_text("# No items\n")


@pytest.mark.parametrize(
    ("spoil", "hint"),
    [
        (lambda place: shutil.rmtree(place.repo / ".git"), "git init"),
        (empty, "commit something first"),
        (lambda place: place.git("checkout", "-q", "--detach"), "detached HEAD"),
        (scriptless, "script.jsonl"),
        (spoiled, "there are no items"),
        (lambda place: (place.folder / "MISSION.md").unlink(), "no mission file"),
    ],
    ids=["no repository", "empty repository", "detached HEAD", "no script", "bad mission", "no mission file"],
)
def test_what_cannot_begin_says_in_one_line_what_to_do(
    place: Place, spoil: Callable[[Place], object], hint: str
) -> None:
    place.write(ONE, reply("hello", HELLO))
    spoil(place)
    ran = place.run()
    assert (ran.exit, ran.data["kind"]) == (2, "Misconfigured"), ran.err
    assert hint in ran.complaint
    assert not place.rows()


def test_a_mission_that_was_never_started_is_named(place: Place) -> None:
    ran = place.lra("run", "nothing-like-it", "--repo", str(place.repo), "--model", "scripted:/dev/null", "--json")
    assert (ran.exit, ran.data["kind"]) == (2, "Misconfigured")
    assert "nothing-like-it" in ran.complaint
    assert json.loads(ran.out)["error"] in ran.complaint
