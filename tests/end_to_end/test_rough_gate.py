"""What do tests that hang, fork, flood, fill and kill get from the gate? A refusal in time; and they leave nothing."""

import json
import re
import time
from collections.abc import Iterator
from typing import NamedTuple

import pytest
from corner import DAEMON, Corner, corner_of

TEST = "from a import f\n\n\ndef test_f():\n    assert f() == 2\n"
BASE = {"a.py": "def f():\n    return 1\n", "tests/test_a.py": TEST}
ACCEPT = ("--accept", "pytest tests/test_a.py")
QUICK = (*ACCEPT, "--check", "true")
SLACK_S = 120.0


class Rough(NamedTuple):
    """What `f` does, the kind and the words of the refusal, and the limit of a check."""

    code: str
    kind: str
    told: str
    seconds: int = 4


LEAVES = f"""
    for top in (".", os.environ["TMPDIR"], os.environ["HOME"]):
        os.makedirs(f"{{top}}/x/y/z/w")
        open(f"{{top}}/x/y/z/w/file", "w").close()
        os.mkfifo(f"{{top}}/fifo")
        socket.socket(socket.AF_UNIX).bind(f"{{top}}/socket")
        with open(f"{{top}}/sparse", "wb") as big:
            big.truncate(1 << 30)
        for path in ("x/y/z/w/file", "x/y/z/w", "x/y/z", "x/y", "x"):
            os.chmod(f"{{top}}/{{path}}", 0)
    for top in ("/tmp", "/var/tmp", "/dev/shm"):
        open(f"{{top}}/{DAEMON}", "w").close()
    os.symlink("/", "root")
    os.symlink("loop", "loop")
    for n in range(300):
        open(f"{{n}}", "w").close()
"""
DEEP = """
    here = os.getcwd()
    for _ in range(1100):
        os.mkdir("d" * 99)
        os.chdir("d" * 99)
    os.chdir(here)
"""
DAEMONS = f"""
    for shut in (False, True):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                for one in (1, 2, 3, 15):
                    signal.signal(one, signal.SIG_IGN)
                if shut:
                    os.closerange(0, 4096)
                os.execve("/bin/sleep", ["sleep", "{DAEMON}"], {{}})
            os._exit(0)
"""
DEAF = """
    for one in (1, 2, 3, 15):
        signal.signal(one, signal.SIG_IGN)
    while True:
        pass
"""
BOMB = """
    while True:
        try:
            os.fork()
        except OSError:
            pass
"""
FLOOD = """
    while True:
        os.write(1, b"x" * 65536)
        os.write(2, b"y" * 65536)
"""
ULIMIT = """
    resource.setrlimit(resource.RLIMIT_CPU, (0, 0))
    while True:
        pass
"""
CHANNEL = """
    for n in range(3, 64):
        with contextlib.suppress(OSError):
            while "socket" in os.readlink(f"/proc/self/fd/{n}"):
                os.write(n, b"x" * 65536)
"""
FULL = """
    for n in range(99):
        with open(f"{where}/{n}", "wb") as big:
            for _ in range(1500):
                big.write(b"x" * (1 << 20))
"""
HIDDEN = """
    kept = []
    while True:
        kept.append(open("hidden", "wb"))
        os.unlink("hidden")
        for _ in range(1500):
            kept[-1].write(b"x" * (1 << 20))
"""
FILES = """
    for n in range(40000):
        os.makedirs(f"many/{n % 999}", exist_ok=True)
        open(f"many/{n % 999}/{n}", "w").close()
"""


def written(body: str) -> str:
    return f"import contextlib, os, resource, signal, socket, time\n\n\ndef f():\n{body.strip(chr(10))}\n    return 3\n"


QUICKLY = {
    "leaves": Rough(LEAVES + DEEP + DAEMONS + DEAF, "timeout", "timed out after 6 s.* in tests/test_a.py::test_f", 6),
    "bomb": Rough(BOMB, "timeout", "timed out after 3 s", 3),
    "channel": Rough(CHANNEL, "tamper", "the result channel was tampered with", 30),
}
SLOWLY = {
    "memory": Rough("    return [b'x' * (1 << 30) for _ in range(9)]", "crash|memory", "held more than", 60),
    "deaf": Rough(DEAF, "timeout", "timed out after 4 s"),
    "daemons": Rough(DAEMONS, "acceptance", "assert 3 == 2", 60),
    "deep": Rough(DEEP.replace("1100", "9000") + DEAF, "timeout", "timed out", 60),
    "flood": Rough(FLOOD, "timeout", "timed out", 10),
    "files": Rough(FILES + DEAF, "timeout", "timed out", 60),
    "disk": Rough("    where = '.'" + FULL, "crash|disk", "wrote more than", 300),
    "temporary": Rough("    where = os.environ['TMPDIR']" + FULL, "crash|disk", "wrote more than", 300),
    "hidden": Rough(HIDDEN, "crash|disk", "wrote more than", 300),
    "shared": Rough("    where = '/dev/shm'" + FULL, "acceptance", "No space left", 60),
    "file": Rough(FULL.replace("1500", "9500").replace("{where}/", ""), "acceptance", "File too large|crashed", 60),
    "all": Rough("    os.kill(-1, 9)", "acceptance", "No such process", 60),
    "parent": Rough("    os.kill(os.getppid(), 9)\n    os.kill(1, 9)", "acceptance", "", 60),
    "group": Rough("    os.killpg(0, 9)", "crash", "crashed in .*: it ended with exit code 137", 60),
    "stopped": Rough("    os.kill(os.getpid(), 19)", "timeout", "timed out"),
    "closed": Rough("    os.closerange(0, 4096)", "crash", "crashed in .*: it ended with exit code", 60),
    "limits": Rough(ULIMIT, "crash", "crashed in .*: it ended with exit code 137", 60),
    "raised": Rough("    resource.setrlimit(resource.RLIMIT_NOFILE, (99999, 99999))", "acceptance", "", 60),
    "clock": Rough("    time.clock_settime(time.CLOCK_REALTIME, 0)", "acceptance", "not permitted", 60),
    "exits": Rough("    os._exit(0)", "crash", "crashed in .*: it ended with exit code 0", 60),
    "opens": Rough("    return [os.open('/', 0) for _ in range(9999)]", "acceptance", "Too many open files", 60),
}


@pytest.fixture(scope="module")
def corner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corner]:
    """A home of root's, or of whoever runs the tests."""
    yield from corner_of(tmp_path_factory, BASE, "")


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corner]:
    """A home of a normal user."""
    yield from corner_of(tmp_path_factory, BASE, "plain")


def refused(corner: Corner, name: str, rough: Rough, code: str) -> None:
    corner.branch(name, {"a.py": code})
    before, began = corner.traces(), time.monotonic()
    verdict = corner.verify(name, *QUICK, seconds=rough.seconds)
    assert time.monotonic() - began < rough.seconds + SLACK_S
    assert verdict["decision"] == "fail"
    told = [reason["message"] for reason in verdict["reasons"] if re.fullmatch(rough.kind, reason["kind"])]
    assert any(re.search(rough.told, message, re.DOTALL) for message in told), verdict["reasons"]
    corner.assert_only(before)


@pytest.mark.parametrize("name", QUICKLY)
def test_rough_code_is_refused_in_time_and_leaves_nothing(corner: Corner, name: str) -> None:
    refused(corner, name, QUICKLY[name], written(QUICKLY[name].code))


def test_rough_code_leaves_nothing_of_a_normal_user(plain: Corner) -> None:
    refused(plain, "leaves", QUICKLY["leaves"], written(QUICKLY["leaves"].code))


@pytest.mark.nightly
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", SLOWLY)
def test_slow_rough_code_is_refused_in_time_and_leaves_nothing(corner: Corner, name: str) -> None:
    refused(corner, name, SLOWLY[name], written(SLOWLY[name].code))


@pytest.mark.nightly
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", ["deep", "daemons", "files", "all", "parent", "stopped", "hidden"])
def test_slow_rough_code_leaves_nothing_of_a_normal_user(plain: Corner, name: str) -> None:
    refused(plain, name, SLOWLY[name], written(SLOWLY[name].code))


LINKED = """import os


def f(x):
    os.unlink("a.py")
    os.symlink({victim!r}, "a.py")
    y = x * 2 + 1
    return 10 if y > 10 else y
"""


def test_no_mutant_is_written_through_a_link_that_tests_left(corner: Corner) -> None:
    victim = corner.folder / "precious"
    victim.write_text("as it was")
    proof = "from a import f\n\n\ndef test_f():\n    assert f(1) == 3\n"
    corner.branch("linked", {"a.py": LINKED.format(victim=str(victim)), "tests/test_new.py": proof})
    verdict = corner.verify("linked", "--accept", "pytest tests/test_new.py", "--check", "true", seconds=60)
    assert "mutants" in json.dumps(verdict["stages"]), "they were written"
    assert victim.read_text() == "as it was"
