"""Lay a tree out on disk for one command, and take it away afterwards."""

import contextlib
import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, Protocol

from tasks.alive import is_alive
from tasks.checks.environment import Environment, code_of
from tasks.checks.identity import introduce
from tasks.checks.plain import without_places
from tasks.checks.sandbox import Command, Policy, Ran, folders_of, run

SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"
SCRATCH = "scratch"
IDENTITY = "identity"


class LaysOut(Protocol):
    """Trees that can be laid out on disk."""

    def lay_out(self, tree: str, folder: Path) -> object:
        """Write the files of `tree` into the empty `folder`."""


class Workspace(NamedTuple):
    """A tree on disk at `root`, with its environment; `seconds` is the limit of one check."""

    root: Path
    environment: Environment
    seconds: int

    @property
    def scratch(self) -> Path:
        """The folder beside the tree that holds HOME and TMPDIR of this run alone."""
        return self.root.parent / SCRATCH

    @property
    def code(self) -> tuple[Path, ...]:
        """Where the repository's own modules are imported from, and where its metadata is found."""
        return (*code_of(self.root, self.environment), self.scratch / IDENTITY)

    @property
    def path(self) -> str:
        """PATH of a check: the repository's scripts, the environment, the system, and where node is if elsewhere."""
        node = shutil.which("node")
        folders = [str(self.scratch / IDENTITY / "bin"), str(self.environment.python.parent), SYSTEM_PATH]
        if node and str(Path(node).parent) not in SYSTEM_PATH.split(":"):
            folders.append(str(Path(node).parent))
        return ":".join(folders)

    def env(self) -> dict[str, str]:
        """Make the whole environment of a check; nothing is inherited, so no secret of LRA's can be in it."""
        home, tmp = self.scratch / "home", self.scratch / "tmp"
        home.mkdir(parents=True, exist_ok=True)
        tmp.mkdir(exist_ok=True)
        introduce(self.root, self.environment.python, self.scratch / IDENTITY)
        return {
            "PATH": self.path,
            "HOME": str(home),
            "TMPDIR": str(tmp),
            "LANG": "C.UTF-8",
            "PYTHONPATH": ":".join(map(str, self.code)),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONHASHSEED": "0",
            "NO_COLOR": "1",
        }

    def run(
        self,
        argv: tuple[str, ...],
        limit: int = 1_000_000,
        fds: tuple[int, ...] = (),
        programs: tuple[Path, ...] = (),
        **env: str,
    ) -> Ran:
        """Run `argv` in the tree, without the network; `env` is added to the environment of a check."""
        return run(
            Command(
                argv=argv,
                cwd=self.root,
                env={**self.env(), **env},
                seconds=self.seconds,
                pass_fds=fds,
                output_limit=limit,
                policy=self.policy(programs),
            )
        )

    def policy(self, programs: tuple[Path, ...] = ()) -> Policy:
        """Say what a check may use: it writes the tree and its scratch, and sees what its programs need."""
        node = shutil.which("node")
        named = (self.environment.python, *((Path(node),) if node else ()), *programs)
        readable = tuple(folder for program in named for folder in folders_of(program))
        return Policy(writable=(self.root, self.scratch), readable=readable)

    def plain(self, text: str) -> str:
        """Free a text of the folders of this machine and of memory addresses."""
        python = self.environment.python
        real = python.resolve()
        base = real.parent.parent
        places = {
            **({} if base in (Path("/usr"), Path("/usr/local")) else {base: "<python>"}),
            self.root: "",
            self.scratch / "tmp": "<tmp>",
            self.scratch / "home": "<home>",
            self.scratch / IDENTITY: "<identity>",
            self.environment.tools: "<tools>",
            python.parent.parent: "<environment>",
            base / "lib" / real.name: "<python>",
            Path(__file__).parent: "<lra>",
        }
        return without_places(text, places)

    def late(self) -> str:
        """Say that the time limit was reached, and which setting raises it."""
        return f"timed out after {self.seconds} s; the setting check_seconds raises the limit"


@contextlib.contextmanager
def laid_out(trees: LaysOut, tree: str, home: Path) -> Iterator[Path]:
    """Have `tree` on disk in a folder of its own, which is gone afterwards, with all that was left in it."""
    workspaces = home.absolute() / "workspaces"
    workspaces.mkdir(parents=True, exist_ok=True)
    sweep(workspaces)
    place = workspaces / f"{os.getpid()}-{secrets.token_hex(6)}"
    root = place / "tree"
    root.mkdir(parents=True)
    try:
        trees.lay_out(tree, root)
        yield root
    finally:
        remove(place)


def sweep(workspaces: Path) -> None:
    """Remove what processes that are gone left behind; a folder of a living process is never touched."""
    for place in workspaces.iterdir():
        pid = place.name.partition("-")[0]
        if pid.isdigit() and not is_alive(int(pid)):
            remove(place)


def remove(place: Path) -> None:
    """Remove a folder, however deep it is and whatever rights a command took away; nothing that a link leads to.

    What the system itself holds on to stays, and stops nobody.
    """
    waiting = [place]
    while waiting:
        folder = waiting.pop()
        with contextlib.suppress(OSError):
            waiting += _emptied(folder, place)
        with contextlib.suppress(OSError):
            folder.rmdir()
    with contextlib.suppress(OSError):
        place.rmdir()


def _emptied(folder: Path, top: Path) -> Iterator[Path]:
    """Unlink the files of a folder and move its folders up to `top`, where the path of each is short: yield them there.

    The path of a folder at its own place may be longer than the system takes, and deeper than Python can follow.
    """
    if folder.is_symlink():
        return folder.unlink()
    folder.chmod(stat.S_IRWXU)
    with os.scandir(folder) as entries:
        for entry in entries:
            path = Path(entry.path)
            with contextlib.suppress(OSError):
                if not entry.is_dir(follow_symlinks=False):
                    path.unlink()
                elif folder == top:
                    yield path
                else:
                    path.chmod(stat.S_IRWXU)  # to move a folder is to write in it
                    yield path.rename(top / secrets.token_hex(8))
