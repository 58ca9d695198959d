"""Run one command, and leave nothing of it behind."""

import contextlib
import functools
import os
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections import deque
from pathlib import Path

from agents.domain.errors import Misconfigured
from agents.domain.value import Value

ISOLATED = "pid+net namespaces"
GROUP_ONLY = "process group only"

LAUNCHER = str(Path(__file__).parent / "inside" / "launch.py")
UNSHARE = ("--pid", "--mount", "--mount-proc", "--fork", "--kill-child=SIGKILL")
RIGHTS: tuple[tuple[str, ...], ...] = (
    (),
    ("--user", "--map-current-user", "--keep-caps"),
    ("--user", "--map-root-user"),
)
GLANCE_S = 0.05
GRACE_S = 5.0
DRAIN_S = 1.0
CHUNK = 1 << 16

PROOF = """
import os, socket, sys
assert os.getpid() == 2, "other processes are in sight"
own = socket.create_server(("127.0.0.1", 0))
socket.create_connection(own.getsockname(), timeout=20)
try:
    socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=20)
except OSError:
    sys.exit(0)
sys.exit("the host's loopback answers")
"""


class Command(Value):
    """One command. `env` is all of its environment: nothing is inherited. `seconds` is its limit by the wall clock.

    `output_limit` is in bytes; of a longer output the head and the tail are kept. `pass_fds` stay open in it.
    """

    argv: tuple[str, ...]
    cwd: Path
    env: dict[str, str]
    seconds: float
    network: bool = False
    pass_fds: tuple[int, ...] = ()
    output_limit: int = 1_000_000


class Ran(Value):
    """How a command ended. `exit` is None when it was stopped at its limit, and 128 + N after signal N."""

    exit: int | None
    output: str
    timed_out: bool
    seconds: float
    sandbox: str


def run(command: Command) -> Ran:
    """Run to the end or to the limit; then nothing of the command runs any more, as far as the sandbox word promises.

    Returns when the command itself has ended, even if something it left behind still holds its output. It dies with
    LRA, also when LRA is killed or this thread is interrupted. Misconfigured when it could not be started at all.
    """
    started = time.monotonic()
    kept = Kept(command.output_limit)
    stood, ready = os.pipe()
    try:
        process = _start(command, ready)
        try:
            ended = _follow(process, kept, started + command.seconds)
            if not ended:
                _drain(process, kept)
        finally:
            _end(process)
        if ended:
            _drain(process, kept)
        exit_code = process.returncode if process.returncode >= 0 else 128 - process.returncode
        os.close(ready)
        ready = -1
        if ended and not os.read(stood, 1):
            raise Misconfigured(f"the sandbox for {command.argv[0]} could not be made: {kept.text().strip()}")
    finally:
        os.close(stood)
        if ready >= 0:
            os.close(ready)
    return Ran(
        exit=exit_code if ended else None,
        output=kept.text(),
        timed_out=not ended,
        seconds=round(time.monotonic() - started, 3),
        sandbox=describe(),
    )


def describe() -> str:
    """Name the isolation that commands get on this machine, as it stands in every verdict."""
    return GROUP_ONLY if _rights() is None else ISOLATED


class Kept:
    """The head and the tail of an output that may be endless, in bounded memory."""

    def __init__(self, limit: int) -> None:
        self._half = max(limit // 2, 1)
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._in_tail = 0
        self.dropped = 0

    def add(self, chunk: bytes) -> None:
        """Take the next bytes; from the middle of what is too long they are dropped."""
        room = self._half - len(self._head)
        self._head += chunk[:room]
        if rest := chunk[room:]:
            self._tail.append(rest)
            self._in_tail += len(rest)
        while self._tail and self._in_tail - len(self._tail[0]) >= self._half:
            self.dropped += len(self._tail[0])
            self._in_tail -= len(self._tail.popleft())

    def text(self) -> str:
        """Return what was kept, with a line in its middle when something was dropped."""
        tail = b"".join(self._tail)
        cut = max(len(tail) - self._half, 0)
        gap = f"\n[... {self.dropped + cut} bytes left out ...]\n".encode() if self.dropped + cut else b""
        return (bytes(self._head) + gap + tail[cut:]).decode("utf-8", "replace")


def _start(command: Command, ready: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        _launch(command.argv, ready, _rights(), command.network),
        cwd=command.cwd,
        env=command.env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        pass_fds=(*command.pass_fds, ready),
        start_new_session=True,
    )


def _launch(argv: tuple[str, ...], ready: int, rights: tuple[str, ...] | None, network: bool) -> list[str]:
    python = [sys.executable, "-I", "-S", LAUNCHER]
    ends = [str(os.getpid()), str(ready)]
    if rights is None:
        return [*python, "alone", *ends, *argv]
    net = () if network else ("--net",)
    role = "init-with-network" if network else "init"
    return [*python, "outer", *ends, _unshare(), *rights, *net, *UNSHARE, "--", *python, role, *ends, *argv]


def _unshare() -> str:
    return shutil.which("unshare", path="/usr/bin:/bin:/usr/sbin:/sbin") or ""


@functools.cache
def _rights() -> tuple[str, ...] | None:
    """Find the way this machine allows namespaces, by proving each one; None when it allows none."""
    if not sys.platform.startswith("linux") or not _unshare():
        return None
    with socket.create_server(("127.0.0.1", 0)) as host:
        port = str(host.getsockname()[1])
        argv = (sys.executable, "-I", "-S", "-c", PROOF, port)
        return next((rights for rights in RIGHTS if _proves(argv, rights)), None)


def _proves(argv: tuple[str, ...], rights: tuple[str, ...]) -> bool:
    stood, ready = os.pipe()
    try:
        tried = subprocess.run(
            _launch(argv, ready, rights, network=False),
            cwd="/",
            env={},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            pass_fds=(ready,),
            timeout=60,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return False
    finally:
        os.close(stood)
        os.close(ready)
    return tried.returncode == 0


def _follow(process: subprocess.Popen[bytes], kept: Kept, deadline: float) -> bool:
    """Collect output until the command ends; False when the deadline came first."""
    assert process.stdout is not None
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while (left := deadline - time.monotonic()) > 0:
            if selector.select(min(left, GLANCE_S)):
                chunk = os.read(process.stdout.fileno(), CHUNK)
                kept.add(chunk)
                if not chunk:
                    break
            if process.poll() is not None:
                return True
    try:
        process.wait(timeout=max(deadline - time.monotonic(), 0))
    except subprocess.TimeoutExpired:
        return False
    return True


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill what still runs. Init goes first: its namespace is empty before the process that waits for it returns."""
    if process.poll() is None and (inits := _children(process.pid)):
        for pid in inits:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=GRACE_S)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _children(pid: int) -> list[int]:
    if _rights() is None:
        return []
    with contextlib.suppress(OSError):
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []


def _drain(process: subprocess.Popen[bytes], kept: Kept) -> None:
    """Take what is in the pipe already, and never wait for who else may hold it."""
    assert process.stdout is not None
    until = time.monotonic() + DRAIN_S
    os.set_blocking(process.stdout.fileno(), False)
    with contextlib.suppress(BlockingIOError), process.stdout:
        while time.monotonic() < until and (chunk := os.read(process.stdout.fileno(), CHUNK)):
            kept.add(chunk)
