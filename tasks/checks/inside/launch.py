"""Start one command so that it cannot outlive who asked for it; runs with `-I -S`, before anything of a mission.

`launch.py outer PARENT READY ARGV...` ties its life to PARENT and becomes ARGV.
`launch.py alone ...` does so where there are no namespaces, and says at once that it stands.
`launch.py init PARENT READY ARGV...` is process 1 of a new namespace: loopback up, one child, and all ends with it.
A byte on READY says that the sandbox stood before ARGV began; without it a failure is the sandbox's, not the command's.
"""

import ctypes
import fcntl
import os
import signal
import socket
import struct
import sys

PR_SET_PDEATHSIG = 1
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_CLEAR_ALL = 4
SIOCSIFFLAGS = 0x8914
IFF_UP = 1


def die_with(parent: int) -> None:
    """Have the kernel kill this process when the one that started it is gone, also when that was SIGKILLed."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)


def raise_loopback() -> None:
    """Bring `lo` up in a new network namespace, where it is down; in a shared one it is up already."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as ends:
        fcntl.ioctl(ends, SIOCSIFFLAGS, struct.pack("16sH22x", b"lo", IFF_UP))


def become(argv: list[str]) -> None:
    """Replace this process by the command; 127 when there is none of that name."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        os.execvp(argv[0], argv)  # noqa: S606  no shell is the point
    except OSError as error:
        os.write(2, f"{argv[0]}: {error.strerror}\n".encode())
        os._exit(127)


def announce(ready: int) -> None:
    """Say that the sandbox stands; the command never sees this pipe."""
    os.write(ready, b"1")
    os.close(ready)


def init(argv: list[str], ready: int, network: bool) -> None:
    """Run the command as a child, reap strays, and end with its status: then the kernel ends whatever it left."""
    if not network:
        raise_loopback()
    ctypes.CDLL(None).prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    announce(ready)
    child = os.fork()
    if child == 0:
        become(argv)
    while True:
        pid, status = os.wait()
        if pid == child:
            code = os.waitstatus_to_exitcode(status)
            os._exit(code if code >= 0 else 128 - code)


def main() -> None:
    """Read the role from the command line."""
    role, parent, ready, argv = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
    if role == "outer":
        die_with(parent)
    elif role == "alone":
        die_with(parent)
        announce(ready)
    else:
        init(argv, ready, network=role == "init-with-network")
    become(argv)


if __name__ == "__main__":
    main()
