"""Try what a sandbox must deny, and say `proven` when all of it was denied; runs inside of the sandbox.

`prove.py PORT TREE CALLS SECRET...`: PORT listens on the host's loopback and TREE may be written; no SECRET may be read
or written. The first is a decoy, and nothing may be changed beside it either. CALLS is `calls` when system calls must
be denied too, else it is `-`.
"""

import contextlib
import ctypes
import errno
import importlib
import os
import signal
import socket
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent))
seccomp = importlib.import_module("seccomp")  # which lies beside this file

FEW = 6
# Without a filter these say something else than EPERM, or do something, and none of it does harm.
TRIED = ("ptrace", "process_vm_readv", "kcmp", "pidfd_getfd", "setns", "add_key", "request_key", "io_uring_setup")
NEW_USER, NO_RANDOM_ADDRESSES = 1 << 28, 0x0040000


def refuse(what: str) -> None:
    """Say what the sandbox let through."""
    sys.exit(f"not denied: {what}")


def prove_network(port: int) -> None:
    """Reach a server of its own, and none of the host's."""
    with socket.create_server(("127.0.0.1", 0)) as own:
        socket.create_connection(own.getsockname(), timeout=20).close()
    try:
        socket.create_connection(("127.0.0.1", port), timeout=20).close()
    except OSError:
        return
    refuse("the host's loopback")


def prove_secret(secret: str) -> None:
    """Open it neither to read nor to write; a file of the user's own is never put at risk by more than that."""
    for flags in (os.O_RDONLY, os.O_WRONLY):
        try:
            os.close(os.open(secret, flags))
        except OSError:
            continue
        refuse(f"opening {secret}")


def prove_outside(decoy: Path) -> None:
    """Neither cut the decoy nor make a file beside it."""
    with contextlib.suppress(OSError):
        os.truncate(decoy, 0)
        refuse(f"cutting {decoy}")
    with contextlib.suppress(OSError):
        (decoy.parent / "made").touch()
        refuse(f"a new file in {decoy.parent}")


def prove_calls(machine: str) -> None:
    """Make system calls that must fail, and one under a number that must be death."""
    libc = ctypes.CDLL(None, use_errno=True)
    which = list(seccomp.ARCHITECTURES).index(machine)

    def fails(number: int, *words: int, because: int = errno.EPERM) -> bool:
        return libc.syscall(number, *map(ctypes.c_long, words or [0] * 6)) == -1 and ctypes.get_errno() == because

    for name in TRIED:
        if not fails(seccomp.DENIED[name][which] or 0):
            refuse(f"the system call {name}")
    if not fails(seccomp.UNSHARE[which], NEW_USER) or not fails(seccomp.CLONE[which], NEW_USER | signal.SIGCHLD, 0):
        refuse("a namespace of its own")
    if not fails(seccomp.CLONE3[which], because=errno.ENOSYS):
        refuse("clone3")
    if not fails(seccomp.PERSONALITY[which], NO_RANDOM_ADDRESSES):
        refuse("another personality")
    if machine == seccomp.X86_64:
        if (child := os.fork()) == 0:
            os._exit(libc.syscall(ctypes.c_long(seccomp.X32), 0, 0, 0) != -1)
        if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != -signal.SIGSYS:
            refuse("a call of another kind of program")


def main() -> None:
    """Try all of it."""
    port, tree, calls, secrets = int(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4:]
    if len(list(Path("/proc").glob("[0-9]*"))) > FEW:
        refuse("sight of other processes")
    prove_network(port)
    for secret in secrets:
        prove_secret(secret)
    if secrets:
        prove_outside(Path(secrets[0]))
        if os.getuid() == 0:
            refuse("being root")
    if calls == "calls":
        prove_calls(os.uname().machine)
    Path(tree, "written").write_text("x", encoding="ascii")
    print("proven")


if __name__ == "__main__":
    main()
