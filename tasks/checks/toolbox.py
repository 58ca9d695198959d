"""Which bytes measure? One digest of all tools that take part, and one of what runs the tests of an environment."""

import csv
import hashlib
import os
import time
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path

from agents.domain.value import digest_of
from tasks.checks.keeping import keep
from tasks.checks.tools import DISTRIBUTIONS

TOOLS = (
    *DISTRIBUTIONS,
    *("ruff", "mypy", "mypy_extensions", "typing_extensions", "pathspec", "librt"),
    *("build", "pyproject_hooks", "uv"),
)
BYTECODE = "__pycache__"
STARTS = ("*.pth", "sitecustomize.py", "usercustomize.py", *(f"{name}.py" for name in ("pytest", "_pytest", "pluggy")))
RUNS_TESTS = ("pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments")
SETTLED_NS = 2_000_000_000


def tools_digest(home: Path) -> str:
    """Name the bytes of every tool of LRA's; after one changed byte it is another name, also while LRA runs.

    Compiled bytecode does not count, for it comes with use. A file that the kernel says was not touched since it was
    read is not read again: its inode, size and both times are the same, and nobody can set the time of a change.
    """
    return _digest(_of_tools(), home)


def runner_digest(environment: Path, home: Path) -> str:
    """Name the bytes of what runs tests in an environment: its pytest or the lent one, and what every Python starts."""
    return _digest(_of_environment(environment), home)


def _of_tools() -> Iterator[str]:
    for name in TOOLS:
        try:
            distribution = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue  # another version of a tool may need one package less
        site, record = str(distribution.locate_file("")), distribution.read_text("RECORD") or ""
        yield from (f"{site}/{row[0]}" for row in csv.reader(record.splitlines()) if row and BYTECODE not in row[0])


def _of_environment(environment: Path) -> Iterator[str]:
    yield str(environment / "pyvenv.cfg")
    yield from _files(environment / "tools")
    for site in environment.glob("lib/python*/site-packages"):
        for name in RUNS_TESTS:
            yield from _files(site / name)
        for pattern in STARTS:
            yield from map(str, site.glob(pattern))


def _files(top: Path) -> Iterator[str]:
    for folder, _, names in os.walk(top):
        if BYTECODE not in folder:
            yield from (os.path.join(folder, name) for name in names)  # noqa: PTH118  ten times as quick for thousands


def _digest(files: Iterable[str], home: Path) -> str:
    """Return the digest of names and bytes, kept under what the kernel says of the files."""
    paths = sorted({*files})
    states = [(path, *_state(path)) for path in paths]
    kept = home.absolute() / "digests" / hashlib.sha256(repr(states).encode("utf-8", "surrogateescape")).hexdigest()
    try:
        return kept.read_text(encoding="ascii")
    except OSError:
        made = digest_of([[path, _sha256(path)] for path in paths])
    # The clock has ticks: two changes within one look like one.
    if max((changed for *_, changed in states), default=0) < time.time_ns() - SETTLED_NS:
        keep(kept, made)
    return made


def _state(path: str) -> tuple[int, int, int, int]:
    try:
        found = os.stat(path)  # noqa: PTH116  as above
    except OSError:
        return (0, 0, 0, 0)
    return (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def _sha256(path: str) -> str:
    try:
        with Path(path).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""
