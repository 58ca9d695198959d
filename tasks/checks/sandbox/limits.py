"""How much may a command use up? By control groups where LRA may make them, else by the limits of a process."""

import contextlib
import functools
import os
import secrets
import signal
import stat
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from agents.domain.errors import Misconfigured
from tasks.checks.sandbox.policy import Policy

GROUPS = Path("/sys/fs/cgroup")
PREFIX = "lra-"
OWN_PROCESSES = 8
BLOCK = 4096
GONE_S = 2.0
LOOK_AGAIN_S = 2.0
HIDDEN = 4
LONGEST_PATH = 4096


class Place(NamedTuple):
    """Where control groups can be made, and the file that a limit is written to there."""

    folder: Path
    memory: str = ""
    processes: str = ""


@contextlib.contextmanager
def grouped(policy: Policy | None) -> Iterator[tuple[Path, ...]]:
    """Have control groups with the policy's limits, and yield the files to join them by; they are gone afterwards."""
    made: list[Path] = []
    try:
        if policy is not None:
            for place in _places():
                made.append(_make(place, policy))
        yield tuple(group / "cgroup.procs" for group in made)
    finally:
        for group in made:
            _remove(group)


def out_of_memory(joins: tuple[Path, ...]) -> bool:
    """Say whether the kernel killed a process of these groups because they held more memory than they may."""
    for file in (join.with_name(name) for join in joins for name in ("memory.events", "memory.oom_control")):
        with contextlib.suppress(OSError):
            counts = dict(line.split() for line in file.read_text(encoding="ascii").splitlines())
            if counts.get("oom_kill", "0") != "0":
                return True
    return False


def rlimits(policy: Policy | None, uid: int) -> list[str]:
    """Write the limits of each process as the launcher reads them; `uid` is who the command runs as."""
    if policy is None:
        return []
    limits = {"RLIMIT_CORE": 0, "RLIMIT_FSIZE": policy.file_size, "RLIMIT_NOFILE": policy.open_files}
    if not any(place.memory for place in _places()):
        limits["RLIMIT_DATA"] = policy.memory
    if not any(place.processes for place in _places()):
        limits["RLIMIT_NPROC"] = policy.processes + _running(uid)
    return [f"--limit={name}:{number}" for name, number in limits.items()]


def hand_over(policy: Policy, uid: int) -> None:
    """Make `uid` the owner of what it may write; called only while nothing of the command runs.

    A file with a second name is left alone: that name may lie elsewhere, and be none of the command's business.
    Misconfigured when `uid` cannot read a folder that the command needs.
    """
    for path in policy.reads():
        if not path.stat().st_mode & stat.S_IROTH:
            raise Misconfigured(
                f"started by root, checks run as user {uid}, who may not read {path}; allow it: chmod -R o+rX {path}"
            )
    for top in policy.writes():
        _own(top, uid)
        top.chmod(top.stat().st_mode | stat.S_IXOTH)  # who makes the sandbox goes in first, without root's rights
        for found in _below(top):
            _own(Path(found), uid)


def _own(path: Path, uid: int) -> None:
    with contextlib.suppress(FileNotFoundError):
        found = path.lstat()
        if found.st_uid != uid and (found.st_nlink == 1 or stat.S_ISDIR(found.st_mode)):
            os.chown(path, uid, uid, follow_symlinks=False)


def _below(top: Path) -> Iterator[os.DirEntry[str]]:
    """Yield what lies below a folder, whatever a command made there: as far as it can be looked into and has a path."""
    waiting = [str(top)]
    while waiting:
        with contextlib.suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if len(os.fsencode(entry.path)) < LONGEST_PATH:
                    yield entry
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)


class Disk:
    """Watches what a command adds to its folders: cheaply, by the free space, and exactly once that shrinks.

    `limit` is what it may add, in bytes: what the policy allows, and never more than a quarter of the room there was.
    """

    def __init__(self, policy: Policy | None) -> None:
        self._folders = policy.writable if policy is not None else ()
        self._at_first = self._free()
        allowed = policy.disk if policy is not None else 0
        self.limit = min(allowed, self._at_first[0] // 4)
        self._hidden = min(HIDDEN * allowed, self._at_first[0] // 2)
        self._next_look = 0.0

    def is_over(self) -> bool:
        """Say whether the folders hold more than the limit; a file counts as a block at least.

        What is removed and still open, or lies where nobody can look, is seen by the free space alone, which others
        use up too: it takes HIDDEN times as much.
        """
        if not self._folders or time.monotonic() < self._next_look:
            return False
        blocks, files = (before - now for before, now in zip(self._at_first, self._free(), strict=True))
        gone = max(blocks, files * BLOCK)
        if gone > self._hidden or (gone > self.limit and sum(map(_size, self._folders)) > self.limit):
            return True
        self._next_look = time.monotonic() + (LOOK_AGAIN_S if gone > self.limit else 0)
        return False

    def _free(self) -> tuple[int, int]:
        devices = {}
        for folder in self._folders:
            with contextlib.suppress(OSError):
                found = os.statvfs(folder)
                devices[folder.stat().st_dev] = (found.f_bfree * found.f_frsize, found.f_ffree)
        return sum(size for size, _ in devices.values()), sum(files for _, files in devices.values())


def _size(top: Path) -> int:
    total = 0
    for found in _below(top):
        with contextlib.suppress(OSError):
            total += max(found.stat(follow_symlinks=False).st_blocks * 512, BLOCK)
    return total


@functools.cache
def _places() -> tuple[Place, ...]:
    """Find where this process may make control groups, by making one; what dead processes left there is removed.

    Of the folders that offer the same limits the innermost one serves, and its limits hold as well.
    """
    found: dict[tuple[str, str], Place] = {}
    for place in _candidates():
        _sweep(place.folder)
        if (place.memory, place.processes) not in found and _serves(place):
            found[place.memory, place.processes] = place
    return tuple(found.values())


def _serves(place: Place) -> bool:
    try:
        group = _make(place, Policy(writable=()))
    except OSError:
        return False
    try:
        with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as waiting:
            (group / "cgroup.procs").write_text(str(waiting.pid), encoding="ascii")
    except OSError:
        return False
    finally:
        _remove(group)
    return True


def _candidates() -> Iterator[Place]:
    try:
        lines = Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    except OSError:
        return
    for line in lines:
        _, kinds, path = line.split(":", 2)
        if not kinds and (GROUPS / "cgroup.controllers").exists():
            own = _within(GROUPS, path)
            # A version 2 group that holds processes has no limited groups below it, but those around it may.
            around = (folder for folder in (own, *own.parents) if GROUPS in (folder, *folder.parents))
            yield from (Place(folder, "memory.max", "pids.max") for folder in around)
        elif kinds == "memory":
            yield Place(_within(GROUPS / kinds, path), memory="memory.limit_in_bytes")
        elif kinds == "pids":
            yield Place(_within(GROUPS / kinds, path), processes="pids.max")


def _within(top: Path, path: str) -> Path:
    folder = top / path.lstrip("/")
    return folder if folder.is_dir() else top  # in a container the path may be the host's


def _make(place: Place, policy: Policy) -> Path:
    group = place.folder / f"{PREFIX}{os.getpid()}-{secrets.token_hex(4)}"
    group.mkdir()
    try:
        if place.memory:
            (group / place.memory).write_text(str(policy.memory), encoding="ascii")
        if place.processes:
            (group / place.processes).write_text(str(policy.processes + OWN_PROCESSES), encoding="ascii")
    except OSError:
        group.rmdir()
        raise
    return group


def _remove(group: Path) -> None:
    """Remove a group, and what is left in it; a process that was killed may take a moment to leave it."""
    until = time.monotonic() + GONE_S
    while True:
        try:
            group.rmdir()
        except FileNotFoundError:
            return
        except OSError:
            if time.monotonic() > until:
                return
            _kill(group)
            time.sleep(0.002)
        else:
            return


def _kill(group: Path) -> None:
    with contextlib.suppress(OSError):
        for word in (group / "cgroup.procs").read_text(encoding="ascii").split():
            if int(word) > 1:  # 0 is a process of another namespace, and would mean LRA's own group
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(int(word), signal.SIGKILL)


def _sweep(folder: Path) -> None:
    with contextlib.suppress(OSError):
        for group in folder.glob(f"{PREFIX}*-*"):
            pid = group.name.removeprefix(PREFIX).partition("-")[0]
            if pid.isdigit() and not Path(f"/proc/{pid}").exists():
                _remove(group)


def _running(uid: int) -> int:
    """Count the threads of a user, for the kernel's limit counts them all."""
    count = 0
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if process.stat().st_uid == uid:
                count += len(list((process / "task").iterdir()))
    return count
