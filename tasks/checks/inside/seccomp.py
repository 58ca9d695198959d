"""Which system calls does no check need? A filter that the kernel denies them by.

What is named here traces other processes, mounts, makes namespaces, holds keys, loads code into the kernel, sets clocks
or has been the way out of many a sandbox. Everything else stays as it was, so that no honest work notices the filter.
"""

import struct
import sys

X86_64, AARCH64 = "x86_64", "aarch64"
ARCHITECTURES = {X86_64: 0xC000003E, AARCH64: 0xC00000B7}
X32 = 1 << 30  # on x86_64 the same calls have a second number with this bit
# Numbers on x86_64 and on aarch64; the calls that are younger than both have one number. None: there is no such call.
DENIED: dict[str, tuple[int | None, int | None]] = {
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "open_tree_attr": (467, 467),
    "setns": (308, 268),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "open_by_handle_at": (304, 265),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "create_module": (174, None),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "reboot": (169, 142),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "adjtimex": (159, 171),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "iopl": (172, None),
    "ioperm": (173, None),
    "syslog": (103, 116),
    "vhangup": (153, 58),
}
PERSONALITY, UNSHARE, CLONE, CLONE3 = (135, 92), (272, 97), (56, 220), (435, 435)
UNCHANGED = (0, 0xFFFFFFFF)  # personalities: the usual one, and the question which one it is
NAMESPACES = 0x7E020000  # CLONE_NEW* of mounts, control groups, names, IPC, users, processes and the network
TIME_NAMESPACE = 1 << 7  # for unshare alone; with clone it is a part of the signal's number

LOAD, AND, RETURN, EQUAL, AT_LEAST = 0x20, 0x54, 0x06, 0x15, 0x35  # codes of the kernel's old packet filter
NUMBER, ARCHITECTURE, FIRST_ARGUMENT = 0, 4, 16  # where each lies in what the filter is shown
KILL, ALLOW, DENY, ABSENT = 0x80000000, 0x7FFF0000, 0x00050001, 0x00050026  # EPERM, and ENOSYS
FARTHEST = 256  # ends are greater numbers than any way
ENDS = (ALLOW, DENY, ABSENT, KILL)

# Code, operand, and where to go on when it holds and when not: one of the ends, or so many steps further on.
Step = tuple[int, int, int, int]


def knows(machine: str) -> bool:
    """Say whether there is a filter for programs of this kind of machine."""
    return machine in ARCHITECTURES and sys.maxsize > 1 << 32


def program(machine: str) -> bytes:
    """Return the filter as the kernel loads it: what DENIED names fails with EPERM, a call of another kind is death.

    `clone` and `unshare` fail with a new namespace only. `clone3`, whose flags no filter sees, seems not to be there:
    the C library then takes `clone`. KeyError for a machine that it does not know.
    """
    steps = _steps(machine)
    ends = {end: len(steps) + place for place, end in enumerate(ENDS)}
    packed = [
        struct.pack("=HBBI", code, *(way if way < FARTHEST else ends[way] - at - 1 for way in ways), operand)
        for at, (code, operand, *ways) in enumerate(steps)
    ]
    return b"".join([*packed, *(struct.pack("=HBBI", RETURN, 0, 0, end) for end in ENDS)])


def _steps(machine: str) -> list[Step]:
    which = list(ARCHITECTURES).index(machine)
    steps = [(LOAD, ARCHITECTURE, 0, 0), (EQUAL, ARCHITECTURES[machine], 0, KILL), (LOAD, NUMBER, 0, 0)]
    if machine == X86_64:
        steps.append((AT_LEAST, X32, KILL, 0))
    steps.append((EQUAL, CLONE3[which], ABSENT, 0))
    steps += [(EQUAL, number, DENY, 0) for number in (numbers[which] for numbers in DENIED.values()) if number]
    for call, flags in ((CLONE, NAMESPACES), (UNSHARE, NAMESPACES | TIME_NAMESPACE)):
        steps += [(EQUAL, call[which], 0, 3), (LOAD, FIRST_ARGUMENT, 0, 0), (AND, flags, 0, 0), (EQUAL, 0, ALLOW, DENY)]
    steps += [(EQUAL, PERSONALITY[which], 0, ALLOW), (LOAD, FIRST_ARGUMENT, 0, 0)]
    return [*steps, *((EQUAL, same, ALLOW, 0) for same in UNCHANGED), (EQUAL, 0, DENY, DENY)]
