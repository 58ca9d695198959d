"""How is a policy enforced? One way for each kind of machine, the strongest first; each is a way to write a command."""

import functools
import os
import resource
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from agents.domain.gate import UNSANDBOXED
from tasks.checks.inside import seccomp
from tasks.checks.sandbox.limits import rlimits
from tasks.checks.sandbox.policy import INSIDE, SYSTEM, Command, Policy

DENIED = "denied: writes outside, secrets, the host's loopback, other processes"
CALLS = "dangerous system calls"
BUBBLEWRAP = f"bubblewrap (seccomp; {DENIED}, {CALLS})"
LANDLOCK = f"namespaces and landlock (seccomp; {DENIED}, {CALLS})"
ISOLATED = f"pid+net namespaces (seccomp; denied: {CALLS})"
UNFILTERED = {
    BUBBLEWRAP: f"bubblewrap (no seccomp; {DENIED})",
    LANDLOCK: f"namespaces and landlock (no seccomp; {DENIED})",
    ISOLATED: "pid+net namespaces (no seccomp)",
}
GROUP_ONLY = f"{UNSANDBOXED} (process group only)"

NOBODY = 65534
# Imported, for a script would be compiled anew for each command.
LAUNCHER = f"import sys; sys.path.append({str(INSIDE)!r}); import launch; launch.start()"
PROGRAMS = "/usr/bin:/bin:/usr/sbin:/sbin:/usr/local/bin"
BWRAP, SETPRIV, PRLIMIT, ENV, SHELL = "bwrap", "setpriv", "prlimit", "env", "sh"
# A few words for a shell, which starts in a tenth of the time of a Python: PARENT FILTER GROUP... -- ARGV...
# Who started this may be gone before the kernel knew of the tie; {fd} is one that the command does not get.
JOIN = """[ "$PPID" = "$1" ] || exit 1
exec {fd}< "$2" || exit 1
shift 2
while [ "$1" != -- ]; do echo 0 > "$1" || exit 1; shift; done
shift
exec "$@"
"""
FROM_SHELL = ("PWD", "OLDPWD", "SHLVL", "_")  # what the shell and bubblewrap add to the environment they were given
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
    """A way to enforce a policy. `uid` is who must own the files to write, None when that is LRA's own user.

    `filtered` says that it keeps the command from the system calls that `inside/seccomp.py` names.
    """

    word: str
    argv: Callable[[Order], list[str]]
    uid: int | None = None
    filtered: bool = False


def fenced() -> Iterator[Backend]:
    """Offer the ways that keep a command to its policy, as far as this machine has their programs."""
    uid = NOBODY if os.geteuid() == 0 else None
    for filtered in _filters():
        if all(map(program, (BWRAP, SETPRIV, PRLIMIT, ENV, SHELL))):
            yield _backend(BUBBLEWRAP, _bubblewrap, filtered, uid)
        yield _backend(LANDLOCK, _landlock, filtered, uid)


def unfenced() -> Iterator[Backend]:
    """Offer the ways that keep a command from the network and from other processes, but not from files."""
    for filtered in _filters():
        for space in ("own", "user"):
            yield _backend(ISOLATED, functools.partial(_isolated, space), filtered)


def _filters() -> tuple[bool, ...]:
    """Say whether to try with the filter of system calls, and then without it."""
    if sys.platform != "linux":
        return ()
    return (True, False) if seccomp.knows(os.uname().machine) else (False,)


def _backend(word: str, argv: Callable[[bool, Order], list[str]], filtered: bool, uid: int | None = None) -> Backend:
    return Backend(word if filtered else UNFILTERED[word], functools.partial(argv, filtered), uid, filtered)


def alone() -> Backend:
    """Offer what every machine has."""
    return Backend(GROUP_ONLY, lambda order: [*_launcher(order, f"--ready={order.ready}"), *order.command.argv])


def program(name: str) -> str:
    """Find a program of the system, wherever a user's PATH may lead; empty when there is none."""
    return shutil.which(name, path=PROGRAMS) or ""


def _launcher(order: Order, *options: str) -> list[str]:
    limits = [*rlimits(order.command.policy, _user(order)), *(f"--join={group}" for group in order.joins)]
    return [sys.executable, "-I", "-S", "-c", LAUNCHER, f"--parent={os.getpid()}", *limits, *options, "--"]


def _user(order: Order) -> int:
    return NOBODY if os.geteuid() == 0 and order.command.policy is not None else os.getuid()


def _space(order: Order, space: str) -> tuple[str, ...]:
    online = ("--network",) if order.command.online else ()
    return (f"--space={space}", f"--folder={order.command.cwd}", f"--ready={order.ready}", *online)


def _isolated(space: str, filtered: bool, order: Order) -> list[str]:
    return [*_launcher(order, *_space(order, space), *_filter(filtered)), *order.command.argv]


def _filter(filtered: bool) -> tuple[str, ...]:
    return (f"--seccomp={_steps().hex()}",) if filtered else ()


def _landlock(filtered: bool, order: Order) -> list[str]:
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
        *_filter(filtered),
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


def _bubblewrap(filtered: bool, order: Order) -> list[str]:
    policy = _policy(order)
    spaces = ["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    if not policy.network:
        spaces.append("--unshare-net")
    root = os.geteuid() == 0
    who = DROPPED if root else ("--unshare-user",)
    ends = ("--die-with-parent", "--json-status-fd", str(order.ready), "--chdir", str(order.command.cwd))
    free = next(fd for fd in range(3, 10) if fd not in (order.ready, *order.command.pass_fds))
    calls = ("--seccomp", str(free)) if filtered else ()
    inner = (
        *(program(ENV), *(word for name in FROM_SHELL for word in ("-u", name))),
        *(program(SETPRIV), "--no-new-privs", *(AS_NOBODY if root else ()), "--"),
        *order.command.argv,
    )
    filters = f"/proc/{os.getpid()}/fd/{_filters_file()}" if filtered else os.devnull
    outer = (program(SETPRIV), "--pdeathsig", "KILL", "--", program(PRLIMIT), *_prlimits(order), "--")
    join = (program(SHELL), "-c", JOIN.format(fd=free), SHELL, str(os.getpid()), filters, *map(str, order.joins), "--")
    return [*outer, *join, program(BWRAP), *spaces, *who, *_mounts(policy), *ends, *calls, "--", *inner]


def _prlimits(order: Order) -> Iterator[str]:
    """Write the limits as prlimit reads them, none above what this process may have."""
    for option in rlimits(order.command.policy, _user(order)):
        name, _, number = option.removeprefix("--limit=").partition(":")
        highest = resource.getrlimit(getattr(resource, name))[1]
        wanted = int(number) if highest == resource.RLIM_INFINITY else min(int(number), highest)
        yield f"--{name.removeprefix('RLIMIT_').lower()}={wanted}:{wanted}"


@functools.cache
def _steps() -> bytes:
    return seccomp.program(os.uname().machine)


@functools.cache
def _filters_file() -> int:
    """Hold the filter of system calls in a file without a name; who opens it by its number reads it from the start."""
    held = os.memfd_create("seccomp")
    os.write(held, _steps())
    return held


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
