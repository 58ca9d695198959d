"""Does a bad move, a rewritten history or luck ever stop a mission for good, bring back what was removed, or pass?"""

import subprocess
from collections.abc import Callable

import pytest
from place import FILES, HELLO, ONE, Place, ended, reply, whole

NewPlace = Callable[[str, dict[str, str]], Place]


@pytest.mark.parametrize(
    "move",
    [
        'RUN: rm -rf "$PWD"',
        'RUN: D="$PWD"; cd /; rm -rf "$D"; ln -s /etc "$D"',
        "RUN: truncate -s 4T big",
        "RUN: echo \ud83d",
        "RUN: echo \0",
    ],
    ids=["gone", "link", "huge", "surrogate", "nul"],
)
def test_a_run_that_breaks_its_folder_is_told_so_and_the_mission_goes_on(new_place: NewPlace, move: str) -> None:
    place = new_place("bad-run", FILES)
    place.write(ONE, reply("hello", move), reply("hello", HELLO))
    ran = place.run()
    assert ran.exit == 0, ran.err
    left = {"big"} if "truncate" in move and "big" in place.git("ls-tree", "main") else set()  # where a sandbox cuts it
    assert set(place.git("ls-tree", "-r", "--name-only", "main").splitlines()) == {*FILES, "hello.txt", *left}


def test_a_summary_that_no_commit_can_hold_is_cleaned_and_not_a_crash(new_place: NewPlace) -> None:
    place = new_place("summary", FILES)
    place.write(ONE, reply("hello", "GIVE UP: \ud83d\0"), reply("hello", HELLO + "\nSUBMIT: done\0\ud83d"))
    ran = place.run()
    assert (ran.exit, ran.data["cycles"]) == (0, 2), ran.err


def test_what_a_force_push_removed_is_not_brought_back(new_place: NewPlace) -> None:
    place = new_place("rewritten", FILES)
    place.commit({"secret.txt": "a key\n"}, "by mistake")
    gone = place.git("rev-parse", "main").strip()
    place.write(ONE, reply("hello", HELLO, delay_s=4), reply("hello", HELLO))
    with place.start(*place.command()) as process:
        place.until_asked()
        place.git("reset", "-q", "--hard", "HEAD~1")
        ran = ended(process)
    assert ran.exit == 0, ran.err
    assert place.cycle(ran.data["mission"], 1)["ending"] == "conflict"
    ancestor = ["git", "-C", str(place.repo), "merge-base", "--is-ancestor", gone, "main"]
    assert subprocess.run(ancestor, check=False).returncode == 1


LEANS = {
    "a.py": "STATE = []\n\n\ndef ready():\n    STATE.append(1)\n\n\ndef used():\n    return bool(STATE)\n",
    "test_a.py": "import a\n\n\ndef test_a():\n    a.ready()\n\n\ndef test_b():\n    assert a.used()\n",
}
BREAKS = whole("a.py", LEANS["a.py"].replace("    STATE.append(1)", "    pass")) + "\n" + HELLO


def test_a_test_that_leans_on_another_is_not_taken_for_unstable(new_place: NewPlace) -> None:
    place = new_place("leans", {**FILES, **LEANS})
    mission = ONE.replace("---\n# ", "---\n# ", 1)
    place.write("---\nchecks: [tests]\nattempts: 1\n---\n" + mission[mission.index("# ") :], reply("hello", BREAKS))
    ran = place.run()
    assert ran.exit == 1, ran.out
    reasons = place.cycle(ran.data["mission"], 1)["reasons"]
    assert ("pass_to_pass", "test_a.py::test_b") in [(reason["kind"], reason["path"]) for reason in reasons]


def test_a_wrong_key_costs_nothing_and_never_exhausts_the_budget(new_place: NewPlace) -> None:
    place = new_place("refused", FILES)
    place.write("---\nbudget: {tokens: 5000}\n---\n" + ONE[ONE.index("# ") :])
    script = place.folder / "script.jsonl"
    script.write_text("")
    for _ in range(3):
        assert place.run().exit == 2, "an empty script is refused like a wrong key"
    told = place.lra("status", "--repo", str(place.repo), "--json").data
    assert (told["tokens"]["completion"], told["possibly_billed_calls"], told["status"]) == (0, 0, "interrupted")


def test_an_exhausted_cycle_shows_what_it_spent(new_place: NewPlace) -> None:
    place = new_place("exhausted", FILES)
    mission = "---\nbudget: {tokens: 20}\n---\n" + ONE[ONE.index("# ") :]
    place.write(mission, *(reply("hello", f"READ: {name}", prompt=20) for name in [*FILES, *FILES]))
    ran = place.run()
    assert (ran.exit, ran.data["status"]) == (4, "exhausted"), ran.err
    assert (ran.data["tokens"]["prompt"], ran.data["model_calls"]["scripted"]) == (20, 1)
    told = place.lra("status", "--repo", str(place.repo), "--json").data
    assert (told["tokens"], told["status"]) == (ran.data["tokens"], "exhausted")


def test_a_branch_where_the_record_belongs_is_named(new_place: NewPlace) -> None:
    place = new_place("occupied", FILES)
    place.git("branch", "lra")
    place.write(ONE, reply("hello", HELLO))
    ran = place.run()
    assert ran.exit == 2
    assert "git branch -m lra" in ran.complaint
