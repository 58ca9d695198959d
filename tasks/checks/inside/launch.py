"""Start one command so that it cannot outlive who asked for it; runs with `-I -S`, before anything of a mission.

`OPTION... -- ARGV...` ties its life to `--parent=PID`, takes the limits `--limit=NAME:N`, joins the control
groups `--join=FILE` and becomes ARGV. With `--space=own` or `--space=user` ARGV runs in namespaces that end with it, in
`--folder=PATH`; `--network` leaves it the host's. There `--cover=MODE:SIZE:PATH` lays an empty folder over one of the
host's, `--read=PATH` and `--write=PATH` are all that Landlock lets it use, and `--uid=N` is who it runs as.
`--seccomp=HEX` is a filter of its system calls. A byte on `--ready=FD` says that the sandbox stood before ARGV began;
without it a failure is the sandbox's, not ARGV's.
"""

# ruff: noqa: PTH103, PTH112, PTH120, PTH123  pathlib alone takes as long to import as Python takes to start

import ctypes
import os
import resource
import struct
import sys

PR_SET_PDEATHSIG, PR_SET_SECCOMP, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 1, 22, 24, 38
SECCOMP_FILTER, SECCOMP_STEP = 2, 8
SIGKILL, SIGPIPE, SIGXFSZ, SIG_DFL = 9, 13, 25, 0
NEW_MOUNTS, NEW_NAMES, NEW_IPC, NEW_USER, NEW_PID, NEW_NETWORK = 1 << 17, 1 << 26, 1 << 27, 1 << 28, 1 << 29, 1 << 30
NO_SUID, NO_DEVICES, NO_EXEC, BIND, RECURSIVE, PRIVATE = 2, 4, 8, 1 << 12, 1 << 14, 1 << 18
READ_ONLY, REMOUNT, RELATIVE_TIMES, SAYS_RELATIVE_TIMES = 1, 1 << 5, 1 << 21, 1 << 12
KEPT_FLAGS = NO_SUID | NO_DEVICES | NO_EXEC | 1 << 10 | 1 << 11  # and those about the times of reading
AF_INET, SOCK_DGRAM, SIOCSIFFLAGS, IFF_UP = 2, 2, 0x8914, 1

LANDLOCK_CREATE, LANDLOCK_ADD, LANDLOCK_RESTRICT = 444, 445, 446
OLDEST_LANDLOCK = 3  # before it a file that may not be written could still be cut to nothing
EXECUTE, WRITE_FILE, READ_FILE, READ_FOLDER = 1, 2, 4, 8
TRUNCATE, IOCTL_DEVICE = 1 << 14, 1 << 15
OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEVICE
SIGNALS_AND_ABSTRACT_SOCKETS = 3

libc = ctypes.CDLL(None, use_errno=True)


def must(result: int, what: str) -> int:
    """Return what a call of the C library gave, or raise its error with the name of what was tried."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def die_with(parent: int) -> None:
    """Have the kernel kill this process when the one that started it is gone, also when that was SIGKILLed."""
    if sys.platform == "linux":
        libc.prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)


def confine(limits: list[str], groups: list[str]) -> None:
    """Take the limits, none above what this process may have, and join the control groups; children inherit both."""
    for group in groups:
        with open(group, "w") as joined:
            joined.write("0")
    for limit in limits:
        name, _, number = limit.partition(":")
        which, wanted = getattr(resource, name), int(number)
        highest = resource.getrlimit(which)[1]
        wanted = wanted if highest == resource.RLIM_INFINITY else min(wanted, highest)
        resource.setrlimit(which, (wanted, wanted))


def leave(space: str, network: bool) -> None:
    """Leave the host's namespaces; the next child is process 1 of new ones. `user` needs no right of root's."""
    uid, gid = os.getuid(), os.getgid()
    new = NEW_MOUNTS | NEW_NAMES | NEW_IPC | NEW_PID | (0 if network else NEW_NETWORK)
    must(libc.unshare(new | (NEW_USER if space == "user" else 0)), "unshare")
    if space == "user":
        for name, line in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
            with open(f"/proc/self/{name}", "w") as file:
                file.write(line)


def mount(source: str, target: str, kind: str, flags: int, data: str = "") -> None:
    """Mount, or raise the error."""
    words = [word.encode("utf-8", "surrogateescape") for word in (source, target, kind, data)]
    must(libc.mount(words[0], words[1], words[2], ctypes.c_ulong(flags), words[3]), f"mount {target}")


def furnish(covers: list[str], readable: list[str], writable: list[str], network: bool) -> None:
    """Give the namespaces a /proc, loopback and empty folders of their own; what is named below a cover stays there."""
    mount("none", "/", "", RECURSIVE | PRIVATE)
    mount("proc", "/proc", "proc", NO_SUID | NO_DEVICES | NO_EXEC)
    if not network:
        ends = must(libc.socket(AF_INET, SOCK_DGRAM, 0), "socket")
        must(libc.ioctl(ends, SIOCSIFFLAGS, struct.pack("16sH22x", b"lo", IFF_UP)), "raise loopback")
        os.close(ends)
    places = [cover.split(":", 2) for cover in covers]
    named = sorted({*readable, *writable}, key=len)
    below = [path for path in named if any(path.startswith(f"{place}/") for _, _, place in places)]
    held = {path: os.open(path, os.O_PATH) for path in below}
    for mode, size, place in places:
        mount("tmpfs", place, "tmpfs", NO_SUID | NO_DEVICES, f"mode={mode},size={size}")
    os.umask(0o022)
    for path, descriptor in held.items():
        bring_back(path, descriptor, path in writable)
        os.close(descriptor)


def bring_back(path: str, descriptor: int, writable: bool) -> None:
    """Let a file or folder that lies under a cover be found at its own path again."""
    source = f"/proc/self/fd/{descriptor}"
    if os.path.isdir(source):
        os.makedirs(path, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o644))
    mount(source, path, "", BIND | RECURSIVE)
    if not writable:
        now = os.statvfs(path).f_flag
        same = now & KEPT_FLAGS | (RELATIVE_TIMES if now & SAYS_RELATIVE_TIMES else 0)
        mount("none", path, "", BIND | REMOUNT | READ_ONLY | same)


def drop(uid: int) -> None:
    """Give up every right of root's for good."""
    for capability in range(64):
        if libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) < 0:
            break
    if uid >= 0:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    must(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no new privileges")


def fence(readable: list[str], writable: list[str]) -> None:
    """Let this process and all its children use the named files and folders, as far as they may, and no others."""
    abi = must(libc.syscall(LANDLOCK_CREATE, None, ctypes.c_size_t(0), 1), "Landlock")
    if abi < OLDEST_LANDLOCK:
        raise OSError(f"Landlock is too old here: version {abi}, {OLDEST_LANDLOCK} is needed")
    known = (1 << (15 if abi < 5 else 16)) - 1
    rules = struct.pack("=QQQ", known, 0, SIGNALS_AND_ABSTRACT_SOCKETS)[: 24 if abi >= 6 else 8]
    ruleset = must(libc.syscall(LANDLOCK_CREATE, rules, ctypes.c_size_t(len(rules)), 0), "Landlock rules")
    for rights, paths in ((READ_FILE | READ_FOLDER | EXECUTE, readable), (known, writable)):
        for path in paths:
            descriptor = os.open(path, os.O_PATH)
            allowed = rights & known if os.path.isdir(path) else rights & known & OF_FILES
            rule = struct.pack("=Qi", allowed, descriptor)
            must(libc.syscall(LANDLOCK_ADD, ruleset, 1, rule, 0), f"Landlock rule for {path}")
            os.close(descriptor)
    must(libc.syscall(LANDLOCK_RESTRICT, ruleset, 0), "Landlock")
    os.close(ruleset)


def filter_calls(steps: bytes) -> None:
    """Have the kernel judge every system call of this process and of all its children by these steps."""
    held = ctypes.create_string_buffer(steps, len(steps))
    told = struct.pack("@HP", len(steps) // SECCOMP_STEP, ctypes.addressof(held))
    must(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no new privileges")
    must(libc.prctl(PR_SET_SECCOMP, SECCOMP_FILTER, told, 0, 0), "seccomp")


def become(argv: list[str]) -> None:
    """Replace this process by the command; 127 when there is none of that name."""
    for ignored_by_python in (SIGPIPE, SIGXFSZ):
        libc.signal(ignored_by_python, ctypes.c_void_p(SIG_DFL))
    try:
        os.execvp(argv[0], argv)  # noqa: S606  no shell is the point
    except OSError as error:
        os.write(2, f"{argv[0]}: {error.strerror}\n".encode("utf-8", "surrogateescape"))
        os._exit(127)


def announce(ready: int) -> None:
    """Say that the sandbox stands; the command never sees this pipe."""
    if ready >= 0:
        os.write(ready, b"1")
        os.close(ready)


def wait_for(child: int) -> None:
    """Reap strays until the child ends, and end with its status."""
    while True:
        pid, status = os.wait()
        if pid == child:
            code = os.waitstatus_to_exitcode(status)
            os._exit(code if code >= 0 else 128 - code)


def init(options: dict[str, list[str]], argv: list[str], ready: int, alive: int) -> None:
    """Be process 1: prepare, run the command as a child, and end with it: then the kernel ends whatever it left."""
    libc.prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0)
    os.set_blocking(alive, False)
    try:
        if not os.read(alive, 1):
            os._exit(1)  # who started this was gone before the kernel knew of the tie
    except BlockingIOError:
        os.close(alive)
    readable, writable = options.get("read", []), options.get("write", [])
    furnish(options.get("cover", []), readable, writable, "network" in options)
    child = os.fork()
    if child == 0:
        os.chdir(options["folder"][0])
        if "uid" in options:
            drop(int(options["uid"][0]))
        if "fence" in options:
            fence(readable, writable)
        if "seccomp" in options:
            filter_calls(bytes.fromhex(options["seccomp"][0]))
        announce(ready)
        become(argv)
    os.close(ready)
    wait_for(child)


def main() -> None:
    """Read the options and start."""
    split = sys.argv.index("--")
    options: dict[str, list[str]] = {}
    for word in sys.argv[1:split]:
        name, _, value = word[2:].partition("=")
        options.setdefault(name, []).append(value)
    argv, ready = sys.argv[split + 1 :], int(options.get("ready", ["-1"])[0])
    die_with(int(options["parent"][0]))
    confine(options.get("limit", []), options.get("join", []))
    if "space" not in options:
        announce(ready)
        become(argv)
    leave(options["space"][0], "network" in options)
    alive, held = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(held)
        init(options, argv, ready, alive)
    os.close(ready)
    wait_for(child)


def start() -> None:
    """Start the command, or say why not; nothing of it has run then."""
    try:
        main()
    except OSError as error:
        os.write(2, f"{error.strerror or error}\n".encode("utf-8", "surrogateescape"))
        os._exit(1)
