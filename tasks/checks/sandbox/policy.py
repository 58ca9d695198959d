"""What may a command use? A policy names it all, and what it does not name does not exist for the command."""

import functools
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from agents.domain.value import Value

SYSTEM = tuple(
    map(Path, ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix/store"))
)
RESOLVER = Path("/run/systemd/resolve")
INSIDE = Path(__file__).parent.parent / "inside"
MIB, GIB = 1 << 20, 1 << 30


class Policy(Value):
    """The folders a command may write and read, beside the machine's own programs, and what it may use up.

    `writable` is all that it can change, and never a folder of the machine; /tmp, /var/tmp and /dev/shm are its own and
    empty. `memory` and `processes` hold for all its processes together where control groups can be had, else `memory`
    for each one. `disk` is what it may add to `writable`; all sizes are in bytes.
    """

    writable: tuple[Path, ...]
    readable: tuple[Path, ...] = ()
    network: bool = False
    memory: int = 4 * GIB
    processes: int = 512
    file_size: int = 2 * GIB
    disk: int = 4 * GIB
    scratch: int = 512 * MIB
    open_files: int = 4096

    def reads(self) -> tuple[Path, ...]:
        """Return what exists of the folders to read, also under their real names, the outermost first."""
        wanted = (*self.readable, RESOLVER) if self.network else self.readable
        return _outermost_first({*_both_names(path for path in wanted if not _of_system(path)), *_own()})

    def writes(self) -> tuple[Path, ...]:
        """Return the folders to write, also under their real names, the outermost first."""
        return _both_names(self.writable)


class Command(Value):
    """One command. `env` is all of its environment: nothing is inherited. `seconds` is its limit by the wall clock.

    `output_limit` is in bytes; of a longer output the head and the tail are kept. `pass_fds` stay open in it.
    Without a policy it is a tool of LRA's own: it gets namespaces, the network when `network` says so, and all files.
    """

    argv: tuple[str, ...]
    cwd: Path
    env: dict[str, str]
    seconds: float
    network: bool = False
    pass_fds: tuple[int, ...] = ()
    output_limit: int = 1_000_000
    policy: Policy | None = None

    @property
    def online(self) -> bool:
        """Whether it may use the network."""
        return self.network if self.policy is None else self.policy.network


class Ran(Value):
    """How a command ended. `exit` is None when it was stopped at its time limit, and 128 + N after signal N."""

    exit: int | None
    output: str
    timed_out: bool
    seconds: float
    sandbox: str


def folders_of(program: Path) -> tuple[Path, ...]:
    """Name the folders that a program outside of the system's needs to run: those of each link on the way to it.

    An environment counts as a whole; of any other prefix, which may be a home, only what holds programs does.
    """
    found: list[Path] = []
    for hop in _hops(program):
        prefix = hop.parent.parent
        if (prefix / "pyvenv.cfg").is_file():
            found.append(prefix)
        elif hop.parent.name == "bin":
            found += [prefix / name for name in ("bin", "lib", "lib64", "include") if (prefix / name).is_dir()]
        else:
            found.append(hop)
    return tuple(dict.fromkeys(path for path in found if not _of_system(path)))


@functools.cache
def _own() -> tuple[Path, ...]:
    """Name the folders of LRA's own interpreter, which runs the launcher, ruff, mypy and the build, by both names."""
    return _both_names(path for path in (*folders_of(Path(sys.executable)), INSIDE) if not _of_system(path))


def _hops(program: Path) -> Iterator[Path]:
    for _ in range(40):  # as many links as the kernel follows
        yield program
        if not program.is_symlink():
            break
        program = program.parent / program.readlink()
    yield program.resolve()


def _of_system(path: Path) -> bool:
    return any(top in (path, *path.parents) for top in SYSTEM)


def _both_names(paths: Iterable[Path]) -> tuple[Path, ...]:
    return _outermost_first({name for path in paths if path.exists() for name in (path.absolute(), path.resolve())})


def _outermost_first(names: set[Path]) -> tuple[Path, ...]:
    return tuple(sorted(names, key=lambda name: (len(name.parts), name)))
