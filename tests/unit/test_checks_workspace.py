"""Is a tree on disk for exactly as long as it is needed?"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tasks.checks.plain import shortened, without_places, without_times
from tasks.checks.workspace import laid_out, remove
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


def deepened(top: Path, depth: int, mode: int) -> None:
    """Make a folder in a folder in a folder, longer than any path, each with a file, and take the rights away."""
    held = os.open(top, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("d" * 99, dir_fd=held)
        below = os.open("d" * 99, os.O_RDONLY, dir_fd=held)
        os.close(os.open("file", os.O_CREAT | os.O_WRONLY, 0, dir_fd=below))
        os.fchmod(held, mode)
        os.close(held)
        held = below
    os.fchmod(held, mode)
    os.close(held)


@pytest.mark.parametrize("mode", [0o700, 0])
def test_folders_deeper_than_any_path_are_removed(tmp_path: Path, mode: int) -> None:
    (tmp_path / "place").mkdir()
    deepened(tmp_path / "place", 1200, mode)
    (tmp_path / "beside").write_text("stays")
    (tmp_path / "place").chmod(0o700)
    (tmp_path / "place" / "link").symlink_to(tmp_path)
    remove(tmp_path / "place")
    assert [path.name for path in tmp_path.iterdir()] == ["beside"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_a_normal_user_removes_what_nobody_may_enter() -> None:
    with tempfile.TemporaryDirectory() as folder:  # not below tmp_path, which only root may enter
        place = Path(folder) / "place"
        place.mkdir()
        deepened(place, 9, 0)
        subprocess.run(["chown", "-R", "1234:1234", folder], check=True)
        os.seteuid(1234)
        try:
            remove(place)
        finally:
            os.seteuid(0)
        assert list(Path(folder).iterdir()) == []


def test_where_a_link_stands_for_the_folder_the_link_alone_goes(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").touch()
    (tmp_path / "place").symlink_to("other")
    remove(tmp_path / "place")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", "other"]


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
