"""Does the demo do the main job from a genuine recording, at no cost?"""

import json
import subprocess
from collections.abc import Callable
from importlib.resources import files

import pytest
from place import FILES, Place, Ran

RECORDING = files("flows") / "demo" / "recording"


@pytest.fixture(scope="module")
def shown(new_place: Callable[[str, dict[str, str]], Place]) -> tuple[Place, Ran]:
    """The demo, run once in a home of its own."""
    place = new_place("demo", FILES)
    return place, place.lra("demo", "--json")


def recorded_rows() -> list[dict]:
    files = sorted(RECORDING.iterdir(), key=lambda file: file.name)
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]


def recorded_replies() -> list[dict]:
    return [row["data"] for row in recorded_rows() if (row["kind"], row["phase"]) == ("think", "result")]


def test_every_item_is_verified_and_merged(shown: tuple[Place, Ran]) -> None:
    _, ran = shown
    assert ran.exit == 0, ran.err
    assert (ran.data["status"], len(ran.data["items"]["done"])) == ("verified", 4)
    log = ("git", "-C", ran.data["repository"], "log", "--merges", "--format=%H", "main")
    merges = subprocess.run(log, capture_output=True, text=True, check=True).stdout.split()
    assert sorted(merges) == sorted(ran.data["commits"])


def test_one_item_needed_a_second_attempt_and_learned_from_the_first(shown: tuple[Place, Ran]) -> None:
    _, ran = shown
    assert sorted(item["attempts"] for item in ran.data["details"].values()) == [1, 1, 1, 2]
    told = [row for row in recorded_rows() if row["kind"] == "think" and row["phase"] == "intent"]
    assert "Your last attempt ended" in told[2]["data"]["messages"][1]["content"]


def test_it_says_that_it_was_a_recording_and_what_it_cost_then(shown: tuple[Place, Ran]) -> None:
    _, ran = shown
    replies = recorded_replies()
    assert ran.data["model_calls"] == {"live": 0, "recorded": len(replies), "scripted": 0}
    assert ran.data["cost_usd"] == 0
    assert ran.data["recorded"]["tokens"] == sum(r["usage"]["prompt"] + r["usage"]["completion"] for r in replies)
    assert ran.data["recorded"]["model_seconds"] == pytest.approx(sum(r["seconds"] for r in replies), abs=0.1)


def test_the_recording_is_genuine(shown: tuple[Place, Ran]) -> None:
    replies = recorded_replies()
    assert {reply["source"] for reply in replies} == {"live"}
    assert all(reply["usage"]["completion"] > 0 and reply["seconds"] > 0 for reply in replies)


def test_the_metrics_are_there_and_count_no_money(shown: tuple[Place, Ran]) -> None:
    place, _ = shown
    sql = "SELECT source, sum(model_calls), sum(coalesce(micros, 0)) FROM spend GROUP BY source"
    ran = place.lra("metrics", "sql", sql, "--json")
    assert ran.data["rows"] == [["recorded", len(recorded_replies()), 0]]
