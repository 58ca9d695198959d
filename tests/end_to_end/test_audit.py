"""Can every "done" of a mission be shown again, from git alone, and is a false one found?"""

from collections.abc import Callable

import pytest
from place import FILES, HELLO, ONE, Place, Ran, reply

NewPlace = Callable[[str, dict[str, str]], Place]


@pytest.fixture
def done(new_place: NewPlace) -> Place:
    place = new_place("audited", FILES)
    place.write(ONE, reply("hello", HELLO))
    assert place.run().exit == 0
    return place


def audit(place: Place, *args: str) -> Ran:
    return place.lra("audit", "say-hello", "--repo", str(place.repo), "--json", *args)


def test_an_honest_mission_is_sound_also_on_a_fresh_machine(done: Place) -> None:
    ran = audit(done)
    assert (ran.exit, ran.data["sound"]) == (0, True)
    (merge,) = ran.data["merges"]
    assert (merge["item"], merge["decision"], merge["same_verdict"]) == ("hello", "pass", True)
    assert "sound, judged again: 1" in done.lra("audit", "say-hello", "--repo", str(done.repo), "--cached").out


def test_a_merge_with_borrowed_trailers_is_found(done: Place) -> None:
    trailers = done.git("log", "-1", "--format=%b", "main")
    done.git("commit", "--allow-empty", "-qm", "side")
    done.git("update-ref", "refs/heads/side", "HEAD")
    done.git("reset", "-q", "--hard", "HEAD~1")
    done.git("merge", "-q", "--no-ff", "-m", f"hello: again\n\n{trailers}", "side")
    ran = audit(done, "--cached")
    assert (ran.exit, ran.data["sound"]) == (1, False)
    assert len(ran.data["not_in_record"]) == 1


def test_a_merge_that_was_taken_back_is_found(done: Place) -> None:
    done.git("reset", "-q", "--hard", "HEAD~1")
    ran = audit(done, "--cached")
    assert (ran.exit, ran.data["merges"], len(ran.data["not_on_target"])) == (1, [], 1)
