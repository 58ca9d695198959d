"""How is a policy enforced? One way for each kind of machine, the strongest first; each is a way to write a command."""

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from tasks.checks.sandbox.limits import rlimits
from tasks.checks.sandbox.policy import INSIDE, SYSTEM, Command, Policy

BUBBLEWRAP = "bubblewrap (denied: writes outside, secrets, the host's loopback, other processes)"
LANDLOCK = "namespaces and landlock (denied: writes outside, secrets, the host's loopback, other processes)"
ISOLATED = "pid+net namespaces"
GROUP_ONLY = "UNSANDBOXED (process group only)"

NOBODY = 65534
# Imported, for a script would be compiled anew for each command.
LAUNCHER = f"import sys; sys.path.append({str(INSIDE)!r}); import launch; launch.start()"
PROGRAMS = "/usr/bin:/bin:/usr/sbin:/sbin:/usr/local/bin"
BWRAP = "bwrap"
SETPRIV = "setpriv"
ENV = "env"
EMPTY = ("/tmp", "/var/tmp", "/dev/shm")  # noqa: S108  laid over with an empty folder, never written here
DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts")
DROPPED = (
    "--cap-drop",
    "ALL",
    *(word for name in ("SETUID", "SETGID", "SETPCAP") for word in ("--cap-add", f"CAP_{name}")),
)
AS_NOBODY = (f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--bounding-set=-all")
OPEN_TO_ALL = 0o001


class Order(NamedTuple):
    """One command on its way: `ready` is the pipe that tells that its sandbox stood, `joins` its control groups."""

    command: Command
    ready: int
    joins: tuple[Path, ...] = ()


class Backend(NamedTuple):
    """A way to enforce a policy. `uid` is who must own the files to write, None when that is LRA's own user."""

    word: str
    argv: Callable[[Order], list[str]]
    uid: int | None = None


def fenced() -> Iterator[Backend]:
    """Offer the ways that keep a command to its policy, as far as this machine has their programs."""
    uid = NOBODY if os.geteuid() == 0 else None
    if sys.platform == "linux":
        if all(map(program, (BWRAP, SETPRIV, ENV))):
            yield Backend(BUBBLEWRAP, _bubblewrap, uid)
        yield Backend(LANDLOCK, _landlock, uid)


def unfenced() -> Iterator[Backend]:
    """Offer the ways that keep a command from the network and from other processes, but not from files."""
    if sys.platform == "linux":
        yield Backend(ISOLATED, lambda order: _isolated(order, "own"))
        yield Backend(ISOLATED, lambda order: _isolated(order, "user"))


def alone() -> Backend:
    """Offer what every machine has."""
    return Backend(GROUP_ONLY, lambda order: [*_launcher(order, f"--ready={order.ready}"), *order.command.argv])


def program(name: str) -> str:
    """Find a program of the system, wherever a user's PATH may lead; empty when there is none."""
    return shutil.which(name, path=PROGRAMS) or ""


def _launcher(order: Order, *options: str) -> list[str]:
    user = NOBODY if os.geteuid() == 0 and order.command.policy is not None else os.getuid()
    limits = [*rlimits(order.command.policy, user), *(f"--join={group}" for group in order.joins)]
    return [sys.executable, "-I", "-S", "-c", LAUNCHER, f"--parent={os.getpid()}", *limits, *options, "--"]


def _space(order: Order, space: str) -> tuple[str, ...]:
    online = ("--network",) if order.command.online else ()
    return (f"--space={space}", f"--folder={order.command.cwd}", f"--ready={order.ready}", *online)


def _isolated(order: Order, space: str) -> list[str]:
    return [*_launcher(order, *_space(order, space)), *order.command.argv]


def _landlock(order: Order) -> list[str]:
    policy = _policy(order)
    root = os.geteuid() == 0
    reads, writes = policy.reads(), policy.writes()
    own = [place for place in (*EMPTY, *(f"/dev/{name}" for name in DEVICES)) if Path(place).exists()]
    options = [
        "--fence",
        *(f"--read={path}" for path in (*filter(Path.exists, SYSTEM), "/proc", *reads)),
        *(f"--write={path}" for path in (*own, *writes)),
        *(f"--cover={cover}" for cover in _covers((*reads, *writes), policy.scratch, root)),
        *((f"--uid={NOBODY}",) if root else ()),
    ]
    return [*_launcher(order, *_space(order, "own" if root else "user"), *options), *order.command.argv]


def _covers(paths: tuple[Path, ...], size: int, root: bool) -> list[str]:
    """Choose the folders to lay an empty one over: those that are shared, and those that only root may pass through."""
    covers = {Path(place): f"1777:{size}:{place}" for place in EMPTY if Path(place).is_dir()}
    covers[Path("/run")] = "755:65536:/run"
    for path in paths if root else ():
        for folder in reversed(path.parents):
            if not folder.stat().st_mode & OPEN_TO_ALL and not covers.keys() & {folder, *folder.parents}:
                covers[folder] = f"755:65536:{folder}"
    return list(covers.values())


def _bubblewrap(order: Order) -> list[str]:
    policy = _policy(order)
    spaces = ["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    if not policy.network:
        spaces.append("--unshare-net")
    root = os.geteuid() == 0
    who = DROPPED if root else ("--unshare-user",)
    ends = ("--die-with-parent", "--json-status-fd", str(order.ready), "--chdir", str(order.command.cwd))
    # bubblewrap adds PWD to the environment that it was given.
    inner = (
        program(ENV),
        "-u",
        "PWD",
        program(SETPRIV),
        "--no-new-privs",
        *(AS_NOBODY if root else ()),
        "--",
        *order.command.argv,
    )
    return [*_launcher(order), program(BWRAP), *spaces, *who, *_mounts(policy), *ends, "--", *inner]


def _mounts(policy: Policy) -> Iterator[str]:
    for top in SYSTEM:
        if top.is_symlink():
            yield from ("--symlink", str(top.readlink()), str(top))
        else:
            yield from ("--ro-bind-try", str(top), str(top))
    yield from ("--proc", "/proc", "--dev", "/dev")
    for place in EMPTY:
        yield from ("--perms", "1777", "--size", str(policy.scratch), "--tmpfs", place)
    writes = policy.writes()
    paths = sorted({*policy.reads(), *writes}, key=lambda path: len(path.parts))
    for folder in dict.fromkeys(above for path in paths for above in reversed(path.parents)):
        if str(folder) not in ("/", *EMPTY):
            yield from ("--perms", "0755", "--dir", str(folder))
    for path in paths:
        yield from ("--bind" if path in writes else "--ro-bind", str(path), str(path))
    yield from ("--remount-ro", "/", "--remount-ro", "/dev")


def _policy(order: Order) -> Policy:
    assert order.command.policy is not None
    return order.command.policy
