"""Does a mission live with others: a second run, other people's pushes, checkouts and hooks, any kind of origin?"""

import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from place import HELLO, ONE, Place, edit, ended, reply

SECOND = ONE.replace("hello.txt says hello", "notes.txt says hello").replace("hello.txt", "notes.txt")
NOTES = edit("notes.txt", "second\n", "hello\n")


def refuse(place: Place, name: str, body: str) -> Path:
    """Install a hook in the repository."""
    hook = place.repo / ".git" / "hooks" / name
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\n{body}\n")
    hook.chmod(0o755)
    return hook


# Two at once.


def test_a_second_run_is_busy_while_the_first_works(place: Place) -> None:
    place.write(ONE, reply("hello", HELLO, delay_s=4))
    with place.start(*place.command()) as first:
        place.until_asked()
        second = place.run()
        assert (second.exit, second.data["kind"]) == (1, "Busy")
        assert "say-hello" in second.complaint
        assert len(second.err.splitlines()) == 1
        done = ended(first)
    assert (done.exit, done.data["model_calls"]["scripted"]) == (0, 1), done.err


def test_a_run_that_was_killed_goes_on_and_pays_nothing_twice(place: Place) -> None:
    place.write(ONE, reply("hello", "READ: notes.txt"), reply("hello", HELLO, delay_s=60))
    with place.start(*place.command()) as first:
        place.until_asked(2)
        first.send_signal(signal.SIGKILL)
        assert ended(first).exit == -signal.SIGKILL
    place.write(ONE, reply("hello", "READ: notes.txt"), reply("hello", HELLO))
    second = place.run()
    assert (second.exit, second.data["cycles"]) == (0, 1), second.err
    assert [call["ordinal"] for call in place.thoughts()] == [0, 1, 1], "only the call in flight is asked again"


# Where the repository is.


@pytest.fixture
def bare(place: Place) -> Path:
    """A bare clone of the repository; work is pushed there."""
    folder = place.folder / "upstream.git"
    place.git("clone", "-q", "--bare", str(place.repo), str(folder))
    return folder


@pytest.fixture
def daemon(place: Place, bare: Path) -> Iterator[str]:
    """The bare clone, served on loopback by git's own daemon."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    served = (f"--base-path={place.folder}", "--export-all", "--enable=receive-pack", f"--port={port}")
    argv = [f"{git_path()}/git-daemon", "--reuseaddr", "--listen=127.0.0.1", *served, str(place.folder)]
    with subprocess.Popen(argv, env=place.environment, stderr=subprocess.DEVNULL) as process:
        url = f"git://127.0.0.1:{port}/{bare.name}"
        while subprocess.run(["git", "ls-remote", url], capture_output=True).returncode:
            assert process.poll() is None
            time.sleep(0.05)
        yield url
        process.terminate()


def git_path() -> str:
    """Return where git's programs are: the daemon started by its own name is one process, not two."""
    return subprocess.run(["git", "--exec-path"], capture_output=True, text=True, check=True).stdout.strip()


def test_an_origin_may_be_a_file_url(place: Place, bare: Path) -> None:
    place.write(ONE, reply("hello", HELLO))
    ran = place.run(origin=bare.as_uri())
    assert ran.exit == 0, ran.err
    assert place.git("show", "main:hello.txt", cwd=bare) == "hello\n"


def test_an_origin_may_be_a_server(place: Place, bare: Path, daemon: str) -> None:
    place.write(ONE, reply("hello", HELLO))
    ran = place.run(origin=daemon)
    assert ran.exit == 0, ran.err
    assert place.git("show", "main:hello.txt", cwd=bare) == "hello\n"
    assert place.run(origin=daemon).data == ran.data


# Others work too.


def test_a_target_that_moved_is_merged_and_verified_again(place: Place, bare: Path) -> None:
    place.write(ONE, reply("hello", HELLO, delay_s=2))
    with place.start(*place.command(origin=str(bare))) as process:
        place.until_asked()
        place.commit({"theirs.txt": "theirs\n"}, "somebody else was first")
        place.git("push", "-q", str(bare), "main")
        ran = ended(process)
    assert ran.exit == 0, ran.err
    assert place.git("rev-parse", "main^1", cwd=bare) == place.git("rev-parse", "main")
    assert place.git("ls-tree", "--name-only", "main", cwd=bare).split() == [
        "README.md",
        "hello.txt",
        "notes.txt",
        "theirs.txt",
    ]
    verified = [row["data"]["verdict"] for row in place.rows() if (row["kind"], row["phase"]) == ("verify", "result")]
    assert verified[-1]["candidate_tree"] == place.git("rev-parse", "main^{tree}", cwd=bare).strip()
    assert len(verified) == 2


def test_after_a_conflict_the_next_attempt_is_told(place: Place, bare: Path) -> None:
    again = edit("notes.txt", "theirs\n", "theirs\nhello\n")
    place.write(SECOND, reply("hello", NOTES, delay_s=2), reply("hello", again))
    with place.start(*place.command(origin=str(bare))) as process:
        place.until_asked()
        place.commit({"notes.txt": "first\ntheirs\nthird\n"}, "somebody else was first")
        place.git("push", "-q", str(bare), "main")
        ran = ended(process)
    assert ran.exit == 0, ran.err
    briefing = place.thoughts()[1]["messages"][1]["content"]
    assert "Your last attempt ended: conflict" in briefing
    assert "notes.txt was changed on the target meanwhile" in briefing
    assert place.git("show", "main:notes.txt", cwd=bare) == "first\ntheirs\nhello\nthird\n"


# The user's checkout, and their hooks.


def test_a_dirty_checkout_is_refused_before_anything_begins(place: Place) -> None:
    (place.repo / "notes.txt").write_text("half a thought")
    place.write(ONE, reply("hello", HELLO))
    ran = place.run()
    assert (ran.exit, ran.data["kind"]) == (3, "NeedsHuman")
    assert "notes.txt" in ran.complaint
    assert "commit or stash" in ran.complaint
    assert (place.branches(), place.thoughts()) == ({"main"}, [])
    assert (place.repo / "notes.txt").read_text() == "half a thought"


def test_work_that_meets_a_dirty_checkout_is_kept_and_lands_later_unpaid(place: Place) -> None:
    place.write(SECOND, reply("hello", NOTES, delay_s=2))
    with place.start(*place.command()) as process:
        place.until_asked()
        (place.repo / "notes.txt").write_text("half a thought")
        ran = ended(process)
    assert (ran.exit, ran.data["status"]) == (3, "waiting"), ran.err
    assert "Nothing was lost" in ran.data["why"]
    assert (place.repo / "notes.txt").read_text() == "half a thought"
    place.git("stash", "-q")
    lands_unpaid(place)
    assert place.git("stash", "list")


def test_work_that_a_hook_refuses_is_kept_and_lands_later_unpaid(place: Place) -> None:
    hook = refuse(place, "update", '[ "$1" != refs/heads/main ] || { echo "main is frozen" >&2; exit 1; }')
    place.write(ONE, reply("hello", HELLO))
    ran = place.run()
    assert (ran.exit, ran.data["status"]) == (3, "waiting"), ran.err
    assert "main is frozen" in ran.data["waiting_for"][0]
    assert place.git("log", "--format=%s", "main") == "Initial import\n"
    hook.unlink()
    lands_unpaid(place)


def lands_unpaid(place: Place) -> None:
    """Assert that a second run merges what the first one made, and asks no model."""
    asked = len(place.thoughts())
    ran = place.run()
    assert (ran.exit, ran.data["status"], ran.data["cycles"]) == (0, "verified", 1), ran.err
    assert len(place.thoughts()) == asked == 1


def test_a_repository_that_takes_no_push_at_all_is_told_before_a_model_is_asked(place: Place) -> None:
    refuse(place, "pre-receive", "echo 'closed for the winter' >&2; exit 1")
    place.write(ONE, reply("hello", HELLO))
    ran = place.run()
    assert ran.exit == 3
    assert "closed for the winter" in ran.complaint
    assert (place.branches(), place.thoughts()) == ({"main"}, [])
