"""What does LRA itself use up while a command uses up all that it may?"""

import os
import socket
import time
from pathlib import Path

import pytest

from tasks.checks import pytest as runner
from tasks.checks.pytest import Listener
from tasks.checks.sandbox import Command, Policy, limits, run
from tasks.checks.sandbox.limits import Disk
from tasks.checks.workspace import remove

MIB = 1 << 20


def listened(*sent: bytes) -> Listener:
    ours, theirs = socket.socketpair()
    listener = Listener(ours, "word")
    listener.start()
    with ours, theirs:
        for one in sent:
            try:
                theirs.sendall(one)
            except OSError:
                break
        theirs.close()
        listener.join(20)
    return listener


def test_events_may_come_in_any_pieces() -> None:
    rows = [b'{"word": "word", "seq": %d, "event": "%d"}\n' % (n, n) for n in range(3)]
    whole = b"".join(rows)
    for sent in (rows, [whole], [whole[n : n + 1] for n in range(len(whole))]):
        listener = listened(*sent)
        assert ([event["event"] for event in listener.events], listener.garbage) == (["0", "1", "2"], False)


@pytest.mark.parametrize("sent", [b"x\n", b"x", b'{"word": "word", "seq": 1, "event": "a"}\n', b"\n"])
def test_what_is_no_event_is_garbage(sent: bytes) -> None:
    assert listened(sent).garbage


def test_who_writes_without_end_finds_nobody_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "MOST", MIB)
    listener = listened(*[b"x" * 65536] * 999)
    assert (listener.garbage, listener.is_alive(), len(listener._held) <= MIB) == (True, False, True)


def test_a_disk_is_watched_in_folders_deeper_than_any_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Disk, "_free", lambda disk: (1 << 40, 1 << 20) if not hasattr(disk, "limit") else (0, 1 << 20))
    held = os.open(tmp_path, os.O_RDONLY)
    for _ in range(3000):
        os.mkdir("d", dir_fd=held)
        below = os.open("d", os.O_RDONLY, dir_fd=held)
        os.close(held)
        held = below
    os.close(held)
    try:
        assert Disk(Policy(writable=(tmp_path,), disk=MIB)).is_over()
    finally:
        remove(tmp_path)  # pytest cannot


@pytest.mark.parametrize(("gone", "over"), [(3 * MIB, False), (5 * MIB, True)])
def test_what_cannot_be_looked_at_is_seen_by_the_free_space(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gone: int, over: bool
) -> None:
    free = iter([(1 << 40, 1 << 20), ((1 << 40) - gone, 1 << 20)])
    monkeypatch.setattr(Disk, "_free", lambda disk: next(free))
    assert Disk(Policy(writable=(tmp_path,), disk=MIB)).is_over() == over


def test_a_command_may_fill_a_quarter_of_a_small_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Disk, "_free", lambda disk: (8 * MIB, 1 << 20))
    assert Disk(Policy(writable=(tmp_path,))).limit == 2 * MIB


@pytest.mark.skipif(not any(place.memory for place in limits._places()), reason="there are no control groups here")
def test_who_holds_too_much_memory_is_told_so(tmp_path: Path) -> None:
    argv = ("sh", "-c", "head -c 400000000 /dev/zero | tail")
    tree = tmp_path / "tree"
    tree.mkdir()
    policy = Policy(writable=(tree,), memory=100 * MIB)
    ran = run(Command(argv=argv, cwd=tree, env={"PATH": "/usr/bin:/bin"}, seconds=60, policy=policy))
    assert ran.output.endswith("\nstopped: it held more than 104857600 bytes of memory\n")


@pytest.mark.skipif(not limits._places(), reason="there are no control groups here")
def test_what_is_left_in_a_control_group_is_killed() -> None:
    with limits.grouped(Policy(writable=())) as joins:
        child = os.fork()
        if child == 0:
            time.sleep(60)
            os._exit(0)
        for join in joins:
            join.write_text(str(child))
    assert os.waitpid(child, 0)[1] == 9
    assert not any(join.parent.exists() for join in joins)
