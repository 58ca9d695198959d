"""Read what a repository requires, from its files alone and without running any of it."""

import configparser
import hashlib
import posixpath
import re
import tomllib
from collections.abc import Callable
from typing import Any, Literal

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from agents.domain.errors import Misconfigured
from agents.domain.value import Value, digest_of

Kind = Literal["uv", "requirements", "pyproject", "plain"]
Read = Callable[[str], bytes]

REQUIREMENTS = re.compile(r"(dev|test|tests)?[-_]?requirements([-_.](dev|test|tests|testing))?\.txt")
INCLUDE = re.compile(r"^\s*(?:(?:-r|-c|--requirement|--constraint)[ =]?\s*)?([^\s;#]+)", re.MULTILINE)
ITSELF = re.compile(r"^\s*(?:(?:-e|--editable)[ =]?\s*)?\.(?:\[[^\]]*\])?\s*(?:#.*)?$")
FOR_TESTS = ("dev", "test", "tests")


class Needs(Value):
    """What must be installed. `content` is a digest of all that this depends on.

    `files` are requirement files, `naming_itself` those that also install the repository; `options` are for `uv sync`;
    `python` is requires-python, "" when the repository does not say.
    """

    kind: Kind
    python: str = ""
    requirements: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    naming_itself: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    content: str


def needs_of(paths: frozenset[str], read: Read) -> Needs:
    """Choose the first that is there: uv.lock, requirements files, dependencies in pyproject.toml, nothing."""
    data = toml(read("pyproject.toml")) if "pyproject.toml" in paths else {}
    project = data.get("project", {})
    python = project.get("requires-python", "")
    files = tuple(sorted(path for path in paths if REQUIREMENTS.fullmatch(path)))
    if "uv.lock" in paths and project:
        content = digest_of([read("uv.lock").decode("utf-8", "replace"), _tables(data)])
        return Needs(kind="uv", python=python, options=_options(data), content=content)
    wanted = _wanted(data) or (_from_setup_cfg(read("setup.cfg")) if "setup.cfg" in paths else ())
    if files:
        texts = _with_includes(files, paths, read)
        itself = tuple(path for path, text in texts.items() if any(map(ITSELF.match, text.splitlines())))
        wanted = wanted if itself else ()
        return Needs(
            kind="requirements",
            python=python,
            requirements=wanted,
            files=files,
            naming_itself=itself,
            content=digest_of([texts, list(wanted), python]),
        )
    kind: Kind = "pyproject" if wanted else "plain"
    return Needs(kind=kind, python=python, requirements=wanted, content=digest_of([list(wanted), python]))


def without_itself(text: str) -> str:
    """Drop the lines that install the repository: it is imported from its workspace, which is gone tomorrow."""
    return "".join(line for line in text.splitlines(keepends=True) if not ITSELF.match(line))


def toml(content: bytes) -> dict[str, Any]:
    """Read TOML; a file that is broken counts as empty here, and the checks that need it will say so."""
    try:
        return tomllib.loads(content.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        return {}


def _tables(data: dict[str, Any]) -> dict[str, Any]:
    project = data.get("project", {})
    fields = ("name", "requires-python", "dependencies", "optional-dependencies")
    return {
        "project": {field: project[field] for field in fields if field in project},
        "groups": data.get("dependency-groups", {}),
        "uv": data.get("tool", {}).get("uv", {}),
    }


def _options(data: dict[str, Any]) -> tuple[str, ...]:
    extras = data.get("project", {}).get("optional-dependencies", {})
    groups = data.get("dependency-groups", {})
    chosen = [("--extra", name) for name in FOR_TESTS if name in extras]
    chosen += [("--group", name) for name in FOR_TESTS if name in groups]
    return tuple(word for pair in chosen for word in pair)


def _wanted(data: dict[str, Any]) -> tuple[str, ...]:
    """List the dependencies, those of the groups and of the extras for tests; an extra of itself is spelled out."""
    project = data.get("project", {})
    extras: dict[str, list[str]] = project.get("optional-dependencies", {})
    groups: dict[str, list[Any]] = data.get("dependency-groups", {})
    lines = list(project.get("dependencies", []))
    lines += [line for name in FOR_TESTS for line in extras.get(name, [])]
    lines += [line for name in FOR_TESTS for line in _group(groups, name, ())]
    itself = canonicalize_name(project.get("name", ""))
    return tuple(dict.fromkeys(line for each in lines for line in _spelled_out(each, itself, extras, ())))


def _group(groups: dict[str, list[Any]], name: str, above: tuple[str, ...]) -> list[str]:
    if name in above:
        raise Misconfigured(f"dependency groups include each other: {' -> '.join((*above, name))}")
    lines: list[str] = []
    for entry in groups.get(name, []):
        lines += _group(groups, entry["include-group"], (*above, name)) if isinstance(entry, dict) else [entry]
    return lines


def _spelled_out(line: str, itself: str, extras: dict[str, list[str]], above: tuple[str, ...]) -> list[str]:
    try:
        wish = Requirement(line)
    except InvalidRequirement:
        return [line]
    if not itself or canonicalize_name(wish.name) != itself or line in above:
        return [line]
    return [
        found
        for extra in sorted(wish.extras)
        for each in extras.get(extra, [])
        for found in _spelled_out(each, itself, extras, (*above, line))
    ]


def _from_setup_cfg(content: bytes) -> tuple[str, ...]:
    """List what a static setup.cfg requires; what setup.py says is known only by running it, and so is not asked."""
    parser = configparser.RawConfigParser()
    try:
        parser.read_string(content.decode("utf-8"))
    except (configparser.Error, UnicodeDecodeError):
        return ()
    texts = [parser.get("options", "install_requires", fallback="")]
    texts += [parser.get("options.extras_require", name, fallback="") for name in FOR_TESTS]
    lines = (line.strip() for text in texts for line in text.splitlines())
    return tuple(line for line in lines if line and not line.startswith(("#", "file:")))


def _with_includes(files: tuple[str, ...], paths: frozenset[str], read: Read) -> dict[str, str]:
    """Read the files and every file of the repository that they name: more requirements as text, others as a digest."""
    texts: dict[str, str] = {}
    ahead = list(files)
    while ahead:
        path = ahead.pop()
        if path in texts or path not in paths:
            continue
        if not path.endswith(".txt"):
            texts[path] = hashlib.sha256(read(path)).hexdigest()
            continue
        texts[path] = read(path).decode("utf-8", "replace")
        folder = posixpath.dirname(path)
        ahead += [posixpath.normpath(posixpath.join(folder, found)) for found in INCLUDE.findall(texts[path])]
    return dict(sorted(texts.items()))
