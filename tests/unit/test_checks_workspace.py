"""Is a tree on disk for exactly as long as it is needed?"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tasks.checks.plain import shortened, without_places, without_times
from tasks.checks.workspace import laid_out
from tasks.git.trees import Trees


@pytest.fixture
def trees(tmp_path: Path) -> Trees:
    subprocess.run(["git", "init", "--quiet", "--bare", tmp_path / "store"], check=True)
    return Trees(tmp_path / "store")


def test_the_files_are_there_and_then_gone(trees: Trees, tmp_path: Path) -> None:
    with laid_out(trees, trees.from_files({"a/ü b.txt": b"x"}), tmp_path / "home") as root:
        assert (root / "a" / "ü b.txt").read_bytes() == b"x"
    assert list((tmp_path / "home" / "workspaces").iterdir()) == []


def interrupted(trees: Trees, home: Path) -> None:
    with laid_out(trees, trees.from_files({"a/b.txt": b"x"}), home) as root:
        (root / "a" / "b.txt").chmod(0)
        (root / "a").chmod(0)
        raise KeyboardInterrupt


def test_they_are_gone_after_an_interruption_and_when_read_only(trees: Trees, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        interrupted(trees, tmp_path / "home")
    assert list((tmp_path / "home" / "workspaces").iterdir()) == []


def test_what_a_dead_process_left_is_removed_and_what_a_living_one_has_is_not(trees: Trees, tmp_path: Path) -> None:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    workspaces = tmp_path / "home" / "workspaces"
    for pid in (dead.pid, os.getppid()):
        (workspaces / f"{pid}-abc" / "tree").mkdir(parents=True)
    with laid_out(trees, trees.from_files({"a": b""}), tmp_path / "home"):
        assert (workspaces / f"{os.getppid()}-abc").exists()
        assert not (workspaces / f"{dead.pid}-abc").exists()


def test_places_and_addresses_leave_a_text(tmp_path: Path) -> None:
    places = {tmp_path / "w": "", tmp_path / "w" / "scratch": "<tmp>"}
    text = f"{tmp_path}/w/a.py in {tmp_path}/w and {tmp_path}/w/scratch/b <x at 0x7f12ab34cd56>"
    assert without_places(text, places) == "a.py in . and <tmp>/b <x at 0x...>"
    assert without_places(f"{tmp_path}/wider", places) == f"{tmp_path}/wider"


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("3 passed in 0.12s", "3 passed in N s"),
        ("Ran 3 tests in 0.001s", "Ran 3 tests in N s"),
        ("# duration_ms 12.5", "# duration_ms N"),
        ("ok (12 ms)", "ok (N ms)"),
        ("version 1.2.3 has 4 items", "version 1.2.3 has 4 items"),
    ],
)
def test_times_leave_the_output_of_tools(text: str, plain: str) -> None:
    assert without_times(text) == plain


def test_a_long_text_keeps_both_its_ends() -> None:
    short = shortened("\n".join(map(str, range(100))), 10, 1000)
    assert short.splitlines() == ["0", "1", "2", "[... 91 lines left out ...]", "94", "95", "96", "97", "98", "99"]
    assert len(shortened("x" * 500, 10, 100)) <= 100
