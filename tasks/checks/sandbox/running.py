"""Run one command under a given backend, follow it to its end, and leave nothing of it behind."""

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Iterator
from enum import Enum
from pathlib import Path

from agents.domain.errors import Misconfigured
from tasks.checks.sandbox.backends import Backend, Order
from tasks.checks.sandbox.kept import Kept
from tasks.checks.sandbox.limits import Disk, grouped, hand_over, out_of_memory
from tasks.checks.sandbox.policy import Command, Ran

GLANCE_S = 0.05
GRACE_S = 5.0
DRAIN_S = 1.0
CHUNK = 1 << 16
STOPPED = "stopped: "


class Ended(Enum):
    """Why a command is followed no longer."""

    BY_ITSELF = "it ended"
    TOO_LATE = "its time was over"
    TOO_MUCH = "its disk was full"


def run_with(backend: Backend, command: Command) -> Ran:
    """Run to the end or to a limit; then nothing of the command runs any more, as far as the backend's word promises.

    Returns when the command itself has ended, even if something it left behind still holds its output. It dies with
    LRA, also when LRA is killed or this thread is interrupted. Misconfigured when it could not be started at all.
    """
    started = time.monotonic()
    kept = Kept(command.output_limit)
    if command.policy is not None and backend.uid is not None:
        hand_over(command.policy, backend.uid)
    with grouped(command.policy) as joins, _pipe() as (stood, ready):
        disk = Disk(command.policy)
        process = _start(backend.argv(Order(command, ready, joins)), command, ready)
        try:
            ended = _follow(process, kept, started + command.seconds, disk)
            if ended is not Ended.BY_ITSELF:
                _drain(process, kept)
        finally:
            _end(process)
        if ended is Ended.BY_ITSELF:
            _drain(process, kept)
            if not _stood(stood):
                raise Misconfigured(f"the sandbox for {command.argv[0]} could not be made: {kept.text().strip()}")
        if command.policy is not None and out_of_memory(joins):
            kept.add(f"\n{STOPPED}it held more than {command.policy.memory} bytes of memory\n".encode())
    if ended is Ended.TOO_MUCH:
        kept.add(f"\n{STOPPED}it wrote more than {disk.limit} bytes\n".encode())
    code = process.returncode if process.returncode >= 0 else 128 - process.returncode
    return Ran(
        exit={Ended.BY_ITSELF: code, Ended.TOO_MUCH: 128 + signal.SIGKILL}.get(ended),
        output=kept.text(),
        timed_out=ended is Ended.TOO_LATE,
        seconds=round(time.monotonic() - started, 3),
        sandbox=backend.word,
    )


@contextlib.contextmanager
def _pipe() -> Iterator[tuple[int, int]]:
    ends = os.pipe()
    try:
        yield ends
    finally:
        for end in ends:
            os.close(end)


def _stood(end: int) -> bool:
    """Say whether the sandbox told that it stood: the launcher with a byte, bubblewrap with the exit code it saw."""
    os.set_blocking(end, False)
    try:
        said = os.read(end, CHUNK)
    except BlockingIOError:
        return False
    return said == b"1" or b'"exit-code"' in said


def _start(argv: list[str], command: Command, ready: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        argv,
        cwd=command.cwd,
        env=command.env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        pass_fds=(*command.pass_fds, ready),
        start_new_session=True,
    )


def _follow(process: subprocess.Popen[bytes], kept: Kept, deadline: float, disk: Disk) -> Ended:
    """Collect output until the command ends or a limit is reached."""
    assert process.stdout is not None
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while (left := deadline - time.monotonic()) > 0:
            if disk.is_over():
                return Ended.TOO_MUCH
            if not selector.get_map():
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(timeout=min(left, GLANCE_S))
            elif selector.select(min(left, GLANCE_S)):
                chunk = os.read(process.stdout.fileno(), CHUNK)
                kept.add(chunk)
                if not chunk:
                    selector.unregister(process.stdout)
                    continue
            if process.poll() is not None:
                return Ended.BY_ITSELF
    return Ended.TOO_LATE


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill what still runs. Init goes first: its namespace is empty before the process that waits for it returns."""
    if process.poll() is None and (inits := _children(process.pid)):
        for pid in inits:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=GRACE_S)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _children(pid: int) -> list[int]:
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
