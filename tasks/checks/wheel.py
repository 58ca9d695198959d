"""What is in a wheel that a repository built? It is read as data, by LRA alone: nothing of it is installed or run."""

import base64
import csv
import hashlib
import re
import stat
import sys
import zipfile
from collections.abc import Iterable, Iterator
from configparser import ConfigParser, Error
from email.parser import BytesHeaderParser
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from packaging.utils import canonicalize_name, parse_wheel_filename
from packaging.version import InvalidVersion, Version

from tasks.checks.toolbox import RUNS_TESTS

LARGEST, MOST_FILES, LARGEST_TEXT, CHUNK = 1 << 30, 100_000, 1 << 24, 1 << 20
TOOLS = frozenset((*RUNS_TESTS, "ruff", "mypy", "mypyc", "build", "pip", "setuptools", "pkg_resources", "wheel", "uv"))
PROGRAMS = TOOLS | {"python", "python3", "py.test", "git", "sh", "bash", "node", "npm"}
STARTS = ("sitecustomize", "usercustomize")
ASIDE = frozenset(("test", "tests", "testing", "docs", "doc", "examples", "benchmarks"))
NEEDED = ("METADATA", "WHEEL", "RECORD")
TEXTS = (*NEEDED, "entry_points.txt")
UNSIGNED = ("RECORD", "RECORD.jws", "RECORD.p7s")
MODULE = re.compile(r"([^./]+)(?:\.[^/]*)?\.(?:py|so|pyd)")
INTO_ENVIRONMENT = ("lib", "lib64", "bin", "Scripts", "Lib")


class _Points(ConfigParser):
    """Entry points, whose names keep their case."""

    def optionxform(self, optionstr: str) -> str:
        """Leave a name as it is."""
        return optionstr


class Wheel(NamedTuple):
    """What a wheel holds: the bytes' digests by path, the few texts that say what it does, and where its modules go."""

    name: str
    info: str
    digests: dict[str, tuple[str, int]]
    texts: dict[str, str]
    links: tuple[str, ...]


class Found(NamedTuple):
    """`modules` are the names that can be imported from a wheel; `faults` is what a wheel of harmless work has not."""

    name: str
    modules: tuple[str, ...]
    faults: tuple[str, ...]


def inspect(file: Path, sources: Iterable[Path]) -> Found:
    """Look into a wheel whose modules come from folders in `sources`; ValueError when it is no wheel at all."""
    wheel = read(file)
    placed = dict(_placed(wheel))
    modules = sorted({name for path in placed if (name := _module(path))})
    faults = [
        *_record(wheel),
        *_escapes(wheel),
        *(f"{path} is a link" for path in wheel.links),
        *(f"{path} runs when Python starts" for path in placed if _starts(path)),
        *(f"its module {name} is named like one that LRA or Python brings" for name in modules if _is_known(name)),
        *_entries(wheel),
        *(f"it puts {path} into the environment" for path in wheel.digests if _is_strange(path, wheel)),
        *_missing(placed, modules, tuple(sources)),
    ]
    return Found(wheel.name, tuple(name for name in modules if name not in ASIDE), tuple(dict.fromkeys(faults)))


def read(file: Path) -> Wheel:
    """Read all of a wheel within bounds, once; ValueError says why it is none."""
    try:
        name, version, *_ = parse_wheel_filename(file.name)
        with zipfile.ZipFile(file) as opened:
            entries = [entry for entry in opened.infolist() if not entry.is_dir()]
            _assert_bounded(entries)
            info = _info(entries, name, version)
            digests = {entry.filename: _digest(opened, entry) for entry in entries}
            texts = {
                name: opened.read(f"{info}/{name}").decode("utf-8", "replace")
                for name in TEXTS
                if digests.get(f"{info}/{name}", ("", LARGEST))[1] <= LARGEST_TEXT
            }
    except ValueError:
        raise
    except Exception as error:  # noqa: BLE001  the archive is the candidate's: its bytes make zipfile raise anything
        raise ValueError(f"{file.name} is no wheel: {error}") from None
    _assert_whole(texts, name, version)
    links = tuple(entry.filename for entry in entries if stat.S_ISLNK(entry.external_attr >> 16))
    return Wheel(name, info, digests, texts, links)


def _assert_bounded(entries: list[zipfile.ZipInfo]) -> None:
    names = [entry.filename for entry in entries]
    if len(names) > MOST_FILES or sum(entry.file_size for entry in entries) > LARGEST:
        raise ValueError(f"it is larger than {LARGEST} bytes or {MOST_FILES} files")
    if len({*names}) < len(names):
        raise ValueError("it holds a file twice")


def _info(entries: list[zipfile.ZipInfo], name: str, version: Version) -> str:
    """Return the one folder of metadata, which belongs to the name and version of the file."""
    found = {entry.filename.partition("/")[0] for entry in entries if ".dist-info" in entry.filename.partition("/")[0]}
    for folder in found:
        of, _, at = folder.removesuffix(".dist-info").partition("-")
        if len(found) == 1 and canonicalize_name(of) == name and Version(at) == version:
            return folder
    raise ValueError(f"it has not the one folder of metadata for {name} {version}, but {sorted(found)}")


def _assert_whole(texts: dict[str, str], name: str, version: Version) -> None:
    if absent := [name for name in NEEDED if name not in texts]:
        raise ValueError(f"it has no {absent[0]}")
    told = BytesHeaderParser().parsebytes(texts["METADATA"].encode())
    try:
        same = canonicalize_name(told["Name"] or "") == name and Version(told["Version"] or "") == version
    except InvalidVersion:
        same = False
    if not same:
        raise ValueError(f"its metadata names {told['Name']} {told['Version']}, its file {name} {version}")


def _digest(opened: zipfile.ZipFile, entry: zipfile.ZipInfo) -> tuple[str, int]:
    digest, size = hashlib.sha256(), 0
    with opened.open(entry) as file:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
            size += len(chunk)
            if size > entry.file_size:
                raise ValueError(f"{entry.filename} is larger than it says")
    return f"sha256={base64.urlsafe_b64encode(digest.digest()).rstrip(b'=').decode()}", size


def _record(wheel: Wheel) -> Iterator[str]:
    """Compare what RECORD says with what is there, both ways."""
    rows = {row[0]: row[1:] for row in csv.reader(wheel.texts["RECORD"].splitlines()) if row}
    for path, (digest, size) in wheel.digests.items():
        if path in {f"{wheel.info}/{name}" for name in UNSIGNED}:
            continue
        if path not in rows:
            yield f"RECORD does not name {path}"
        elif rows[path] not in ([digest, str(size)], [digest, ""]):
            yield f"RECORD says something else of {path}"
    yield from (f"RECORD names {path}, which is not there" for path in rows if path not in wheel.digests)


def _escapes(wheel: Wheel) -> Iterator[str]:
    for path in wheel.digests:
        if path.startswith("/") or "\\" in path or ":" in path or ".." in PurePosixPath(path).parts:
            yield f"{path} leaves the folder that it is unpacked to"


def _placed(wheel: Wheel) -> Iterator[tuple[str, str]]:
    """Yield where each file goes below site-packages, and its path in the wheel."""
    data = f"{wheel.info.removesuffix('.dist-info')}.data"
    for path in wheel.digests:
        top, _, rest = path.partition("/")
        scheme, _, inner = rest.partition("/")
        if top == data and scheme in ("purelib", "platlib"):
            yield inner, path
        elif top not in (data, wheel.info):
            yield path, path


def _is_strange(path: str, wheel: Wheel) -> bool:
    """Say whether a file is none of a package's, and lands where the environment keeps its own programs and modules."""
    parts = PurePosixPath(path).parts
    if parts[0] != f"{wheel.info.removesuffix('.dist-info')}.data" or len(parts) < 3:
        return False
    return (parts[1] == "data" and parts[2] in INTO_ENVIRONMENT) or (parts[1] == "scripts" and parts[2] in PROGRAMS)


def _module(path: str) -> str:
    """Name what `import` finds at the top because of a file."""
    top, slash, rest = path.partition("/")
    if slash:
        return top if top.isidentifier() and rest.endswith((".py", ".so", ".pyd")) else ""
    found = MODULE.fullmatch(top)
    return found[1] if found else ""


def _starts(path: str) -> bool:
    return _module(path) in STARTS or ("/" not in path and path.endswith(".pth"))


def _is_known(name: str) -> bool:
    return name in TOOLS or name in sys.stdlib_module_names


def _entries(wheel: Wheel) -> Iterator[str]:
    """Name the entry points that a tool would load by itself, and the programs that stand in front of a tool."""
    parser = _Points(delimiters=("=",), strict=False, interpolation=None)
    try:
        parser.read_string(wheel.texts.get("entry_points.txt", ""))
    except Error as error:
        yield f"its entry points cannot be read: {type(error).__name__}"
        return
    for section in parser.sections():
        for name in parser[section]:
            if section == "pytest11":
                yield f"pytest loads its plugin {name} (entry point pytest11)"
            elif section in ("console_scripts", "gui_scripts") and name in PROGRAMS:
                yield f"its program {name} is named like a tool"


def _missing(placed: dict[str, str], modules: list[str], sources: tuple[Path, ...]) -> Iterator[str]:
    """Name the packages of the source that are not in the wheel, below those that are."""
    there = {str(PurePosixPath(path).parent) for path in placed if path.endswith(".py")}
    for top in (source / name for source in sources for name in modules):
        for file in sorted(top.glob("**/__init__.py")) if top.is_dir() and not top.is_symlink() else ():
            folder = file.parent.relative_to(top.parent)
            if str(folder) not in there and not ASIDE & {*folder.parts}:
                yield f"the package {'.'.join(folder.parts)} is not in it"
