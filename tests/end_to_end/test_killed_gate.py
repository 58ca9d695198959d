"""Does a gate that is killed ever say yes, or leave anything that its next run does not put right?"""

import contextlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from corner import GONE_S, Corner, corner_of, groups_of

FILES = {
    "a.py": "def f():\n    return 1\n",
    "tests/test_a.py": "from a import f\n\n\ndef test_f():\n    assert f() == 2\n",
}
CANDIDATES = {"good": {"a.py": "def f():\n    return 2\n"}, "bad": {"a.py": "def f():\n    return 3\n"}}
DECISIONS = {"good": "pass", "bad": "fail"}
ASKED = ("--accept", "pytest tests/test_a.py", "--check", "true")
SECONDS = 120
SAMPLE = 4
MANY = 30


class Told(NamedTuple):
    """What a whole run says, and how long it takes."""

    answer: str
    seconds: float


class Bench:
    """A good and a bad candidate, and a new home for every question about one."""

    def __init__(self, corner: Corner) -> None:
        self.corner = corner
        self.homes = 0
        for name, files in CANDIDATES.items():
            corner.branch(name, files)

    def home(self, environments: bool) -> Path:
        """Make a home; with `environments` it has those of the homes before it."""
        self.homes += 1
        home = self.corner.folder / f"home {self.homes}"
        home.mkdir()
        if environments:
            (home / "environments").symlink_to(self.corner.environment["SHARED_ENVIRONMENTS"])
        if self.corner.plain:
            self.corner.own()
        return home

    def told(self, candidate: str, home: Path) -> Told:
        """Ask and wait for the answer: decision and reasons, as bytes."""
        began = time.monotonic()
        verdict = self.corner.verify(candidate, *ASKED, seconds=SECONDS, LRA_HOME=str(home))
        answer = json.dumps([verdict["decision"], verdict["reasons"]], sort_keys=True)
        return Told(answer, time.monotonic() - began)

    def kill(self, candidate: str, home: Path, after: float, whole: bool) -> int:
        """Kill `lra verify` after so many seconds, alone or with its `whole` group; return its id."""
        process = self.corner.ask(candidate, *ASKED, seconds=SECONDS, LRA_HOME=str(home))
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(after)
        with contextlib.suppress(ProcessLookupError):
            (os.killpg if whole else os.kill)(process.pid, signal.SIGKILL)
        process.communicate()
        return process.pid

    def assert_put_right(self, candidate: str, home: Path, calm: str, killed: int) -> None:
        """Assert that nothing runs any more, no yes was said, and the next run finds and leaves all as it should."""
        until = time.monotonic() + GONE_S
        while (left := self.corner.processes()) and time.monotonic() < until:
            time.sleep(0.02)
        assert left == []
        kept = [json.loads(file.read_bytes()) for file in home.glob("verdicts/*.json")]
        assert {verdict["decision"] for verdict in kept} <= {json.loads(calm)[0]}
        assert self.told(candidate, home).answer == calm
        assert [*home.glob("workspaces/*"), *self.corner.temporary.iterdir(), *groups_of(killed)] == []


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    yield from map(Bench, corner_of(tmp_path_factory, FILES, ""))


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    yield from map(Bench, corner_of(tmp_path_factory, FILES, "plain"))


@pytest.mark.timeout(600)
def test_a_killed_gate_says_nothing_and_the_next_run_puts_all_right(bench: Bench) -> None:
    bench.told("good", bench.home(environments=True))  # makes the environment
    whole = bench.told("bad", bench.home(environments=True))
    assert json.loads(whole.answer)[0] == "fail"
    for n in range(SAMPLE):
        home = bench.home(environments=True)
        killed = bench.kill("bad", home, whole.seconds * (n + 0.5) / SAMPLE, whole=n % 2 == 0)
        bench.assert_put_right("bad", home, whole.answer, killed)


@pytest.mark.nightly
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("candidate", ["good", "bad"])
@pytest.mark.parametrize("alone", [True, False], ids=["alone", "group"])
def test_a_gate_killed_at_any_instant_says_nothing_wrong(bench: Bench, candidate: str, alone: bool) -> None:
    killed_often(bench, candidate, MANY, alone)


@pytest.mark.nightly
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("alone", [True, False], ids=["alone", "group"])
def test_a_killed_gate_of_a_normal_user_says_nothing_wrong(plain: Bench, alone: bool) -> None:
    killed_often(plain, "bad", MANY // 2, alone)


def killed_often(bench: Bench, candidate: str, times: int, alone: bool) -> None:
    whole = bench.told(candidate, bench.home(environments=False))
    assert json.loads(whole.answer)[0] == DECISIONS[candidate]
    for n in range(times):
        home = bench.home(environments=False)
        killed = bench.kill(candidate, home, whole.seconds * (n + 0.5) / times, whole=not alone)
        bench.assert_put_right(candidate, home, whole.answer, killed)


def test_locks_that_a_killed_git_left_are_no_obstacle(bench: Bench) -> None:
    home = bench.home(environments=True)
    bench.told("bad", home)
    bench.corner.branch("new", {"a.py": "def f():\n    return 4\n"})
    (store,) = home.glob("store/*.git")
    for lock in ("packed-refs.lock", "refs/remotes/origin/new.lock"):
        (store / lock).touch()
    assert json.loads(bench.told("new", home).answer)[0] == "fail"
    assert list(store.rglob("*.lock")) == []
