"""See what a repository configures, from its files alone: its checks, and what they need to run."""

import contextlib
import hashlib
import json
import posixpath
import re
from collections.abc import Callable, Iterable
from pathlib import PurePosixPath
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from agents.domain.errors import Misconfigured
from agents.domain.value import digest_of
from tasks.checks.requirements import (
    PROJECT,
    Kind,
    Needs,
    Project,
    Read,
    ini,
    lines_of,
    locked,
    pins,
    project_at,
    toml,
)
from tasks.checks.runners import of_nox, of_tox, of_tox_toml, plugins_of

TEST_FILE = re.compile(r"test_.*\.py|.*_test\.py")
ONE_FILE = "requirements.txt"
NO_TEST = "no test specified"
REQUIREMENTS = re.compile(
    r"(dev|tests?)?[-_.]?requirements([-_.](dev|develop|development|tests?|testing|ci))?\.txt"
    r"|requirements/((dev|tests?)[-_.])?(requirements[-_.]?)?"
    r"(base|main|common|requirements|local|ci|dev|develop|development|tests?|testing)?\.txt"
    r"|tests?/requirements\.txt"
)
FOR_TESTS = re.compile(r"(dev|test|local|ci\.)")
MEMBER = re.compile(r"(packages|libs|services|apps|projects)/[^/]+")
ASIDE = re.compile(r"\..*|docs?|examples?|samples?|demos?|scripts|tests?|tools|benchmarks?|requirements")
NAME = re.compile(r"[^\w.-]")
BESIDE = ("test/", "tests/")
GROUP = re.compile(r"--group[ =]\s*(.+)")
INCLUDE = re.compile(r"(-r|-c|--requirement|--constraint)[ =]?\s*(?!\s|\w+://)(.+)")
# uv keeps no checkout of git to edit: the same code is installed.
FETCHED = re.compile(r"^(-e|--editable)[ =]?\s*(?=[\w+]+://)")
LOCAL = re.compile(
    r"(?P<edit>(?:-e|--editable)[ =]?\s*)?(?:[\w.-]+\s*@\s*)?(?:file:(?://)?)?"
    r"(?P<path>[^\s\[;@:]+)(?:\[(?P<extras>[^\]]*)\])?(?:\s*;.*)?"
)
LOCKS = ("poetry.lock", "pdm.lock", "pylock.toml")
RUNNERS = (
    ("tox.toml", of_tox_toml),
    ("tox.ini", of_tox),
    ("pyproject.toml", of_tox_toml),
    ("noxfile.py", of_nox),
)
RESULTS = re.compile(r"(?:--test-reporter-destination|--outputFile)[= ]([^\s'\"]+\.xml)\b")
CONDA = ("environment.yml", "environment.yaml")


def detect(paths: Iterable[str], read: Callable[[str], bytes]) -> tuple[str, ...]:
    """Name the checks that hold for this repository when its mission names none; may be empty.

    "build" is named only when the build needs nothing from the network: a gate must not depend on it unasked. Any other
    project may name it in its mission, and its backend is then fetched once. What tox, nox or a Makefile would run is
    never named: they make environments of their own, or may do anything; a mission may name `make test` itself.
    """
    known = frozenset(paths)
    project = toml(read("pyproject.toml")) if "pyproject.toml" in known else {}
    tools = project.get("tool", {})
    types = ("mypy.ini", ".mypy.ini", "setup.cfg")
    found = {
        "tests": _has_tests(known, read, tools),
        "lint": "ruff" in tools or not known.isdisjoint(("ruff.toml", ".ruff.toml")),
        "types": "mypy" in tools or any(ini(_text(read(name))).has_section("mypy") for name in types if name in known),
        "build": project.get("build-system", {}).get("requires") == [],
    }
    npm = (_npm_test(read("package.json")),) if "package.json" in known else ()
    return (*(name for name, holds in found.items() if holds), *filter(None, npm))


def needs_of(paths: frozenset[str], read: Read) -> Needs:
    """Choose the first that is there: uv.lock, requirement files, what the projects declare, nothing.

    What tests need is taken from the requirement files for them, else from what the project declares for them, else
    from tox, else from noxfile.py, and always from the options that pytest gets. Misconfigured for what only running
    the repository's code or conda would tell.
    """
    data = toml(read("pyproject.toml")) if "pyproject.toml" in paths else {}
    if "uv.lock" in paths and ("project" in data or "workspace" in data.get("tool", {}).get("uv", {})):
        return _from_uv_lock(data, paths, read)
    plain, for_tests = requirement_files(paths)
    locks = [name for name in LOCKS if name in paths and not plain]
    got = _Gathering(paths, read, ("", *members(paths, read)))
    root = got.projects[""]
    for folder in () if plain else ("",) if locks else tuple(got.projects):
        got.take_project(folder, ())
        got.take(got.projects[folder].for_tests, folder)
    for file in (*plain, *for_tests):
        got.take_file(file)
    if all(file.startswith(BESIDE) for file in for_tests):  # what lies beside the tests may be but a part
        got.take(root.for_tests or next(filter(None, (how(read(name)) for name, how in RUNNERS if name in paths)), ()))
    got.complete(plugins_of(paths, read))
    kind: Kind = "requirements" if plain or for_tests else "pyproject" if got.lines else "plain"
    _refuse_conda(kind, paths, read)
    python = root.python or ",".join(sorted({one.python for one in got.projects.values()} - {""}))
    limits = (*got.limits, *(pin for name in locks for pin in pins(read(name))))
    return Needs(
        kind=kind,
        python=python,
        requirements=tuple(got.lines),
        constraints=limits,
        sources=_sources(got.projects, paths),
        content=digest_of([list(got.lines), list(limits), got.digests, python]),
    )


def _from_uv_lock(data: dict[str, Any], paths: frozenset[str], read: Read) -> Needs:
    folders, options = locked(read("uv.lock"))
    python = data.get("project", {}).get("requires-python") or toml(read("uv.lock")).get("requires-python", "")
    settings = data.get("tool", {}).get("uv", {})
    return Needs(
        kind="uv",
        python=python,
        options=options,
        sources=_sources(folders, paths),
        content=digest_of([read("uv.lock").decode("utf-8", "replace"), list(options), settings, python]),
    )


def _sources(folders: Iterable[str], paths: frozenset[str]) -> tuple[str, ...]:
    """Return where the modules of the projects below the root lie: in `src` when there is one, as at the root."""
    below = sorted({posixpath.normpath(folder) for folder in folders} - {"", "."})
    return tuple(f"{one}/src" if any(path.startswith(f"{one}/src/") for path in paths) else one for one in below)


def _refuse_conda(kind: Kind, paths: frozenset[str], read: Read) -> None:
    if kind != "plain" or not paths.isdisjoint(PROJECT):
        return
    for name in CONDA:
        if name in paths and re.search(rb"^dependencies:", read(name), re.MULTILINE):
            raise Misconfigured(
                f"what this repository requires is only in {name}, and LRA makes no conda environments: add a "
                "requirements.txt with what the checks need. It may be empty when the mission names only commands"
            )


class _Gathering:
    """What is met on the way through files and projects that name each other; each of them is taken once."""

    def __init__(self, paths: frozenset[str], read: Read, folders: Iterable[str]) -> None:
        self.lines: dict[str, None] = {}
        self.limits: dict[str, None] = {}
        self.digests: dict[str, str] = {}
        self.projects: dict[str, Project] = {}
        self._paths, self._read = paths, read
        self._taken: set[tuple[str, ...]] = set()
        for folder in folders:
            self._know(folder)

    def take(self, lines: Iterable[str], folder: str = "", limit: bool = False) -> None:
        """Take lines that were found in `folder`; a project of the repository stands for what it requires."""
        for line in lines:
            include, local, group = INCLUDE.fullmatch(line), LOCAL.fullmatch(line), GROUP.fullmatch(line)
            if group:
                self.take(self._know("").groups.get(group[1], ()))
            elif include:
                self.take_file(_inside(folder, include[2]), limit or include[1] in ("-c", "--constraint"))
            elif own := self._own(line, folder, local):
                self.take_project(*own)
            else:
                (self.limits if limit else self.lines)[FETCHED.sub("", line)] = None
                if local and (path := _inside("", local["path"])) in self._paths:
                    self.digests[path] = hashlib.sha256(self._read(path)).hexdigest()

    def take_file(self, path: str, limit: bool = False) -> None:
        """Take a requirements file with those that it names. Misconfigured when it is not in the repository."""
        if path not in self._paths:
            raise Misconfigured(f"the requirements name {path}, which is no file of the repository; add or drop it")
        if (path, str(limit)) not in self._taken:
            self._taken.add((path, str(limit)))
            self.take(lines_of(_text(self._read(path))), posixpath.dirname(path), limit)

    def take_project(self, folder: str, extras: tuple[str, ...]) -> None:
        """Take what a project requires with these extras; the root's tests are going to be run, so theirs too."""
        if (folder, *extras) in self._taken:
            return
        self._taken.add((folder, *extras))
        project = self._know(folder)
        named = (line for extra in extras for line in project.extras.get(extra, ()))
        runtime = self._files_of(folder) or project.wanted
        self.take((*runtime, *named, *(() if folder else project.for_tests)), folder)

    def complete(self, plugins: Iterable[str]) -> None:
        """Take the plugins that nothing names yet; where every line has its hash, none can be added."""
        if any("--hash" in line for line in self.lines):
            return
        named = {canonicalize_name(NAME.split(line, maxsplit=1)[0]) for line in self.lines}
        self.take(one for one in plugins if canonicalize_name(NAME.split(one, maxsplit=1)[0]) not in named)

    def _files_of(self, folder: str) -> tuple[str, ...]:
        """Return the requirement files of a folder below the root, where they alone say what it needs."""
        if not folder or (self._is_project(folder) and not self.projects[folder].missing):
            return ()
        below = (path.removeprefix(f"{folder}/") for path in self._paths if path.startswith(f"{folder}/"))
        return tuple(f"-r {file}" for files in requirement_files(below) for file in files)

    def _know(self, folder: str) -> Project:
        """Read a project, and those that it takes from the repository, before any line names them."""
        if folder not in self.projects:
            self.projects[folder] = project_at(folder, self._paths, self._read)
            self.lines |= {f"--extra-index-url {url}": None for url in self.projects[folder].indexes}
            for place in self.projects[folder].places:
                if self._is_project(place):
                    self._know(place)
        return self.projects[folder]

    def _is_project(self, folder: str) -> bool:
        return any(_inside(folder, name) in self._paths for name in PROJECT)

    def _own(self, line: str, folder: str, local: re.Match[str] | None) -> tuple[str, tuple[str, ...]] | None:
        """Return the project of the repository that a line means by its folder or its name, with the extras."""
        if local and (local["edit"] or "/" in local["path"] or local["path"].startswith(".")):
            # pip starts at the root, from where people call it, and not at the file
            for place in (_inside("", local["path"]), _inside(folder, local["path"])):
                if self._is_project(place):
                    return place, tuple(re.findall(r"[\w.-]+", local["extras"] or ""))
        with contextlib.suppress(InvalidRequirement):
            wish = Requirement(line)
            name = canonicalize_name(wish.name)
            for place, project in self.projects.items():
                if canonicalize_name(project.name) == name and not wish.url:
                    return place, tuple(sorted(wish.extras))
        return None


def _inside(folder: str, path: str) -> str:
    """Return a path of the repository as its tree spells it; the root is ""."""
    whole = posixpath.normpath(posixpath.join(folder, path))
    return "" if whole == "." else whole


def requirement_files(paths: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the requirement files that hold what the code needs, and those that hold what its tests need."""
    files = sorted(filter(REQUIREMENTS.fullmatch, paths))
    for_tests = tuple(filter(FOR_TESTS.search, files))
    return tuple(file for file in files if file not in for_tests), for_tests


def members(paths: Iterable[str], read: Read) -> tuple[str, ...]:
    """Return the folders below the root that hold a project, or requirements of their own.

    They are the members of uv's workspace, packages/*, libs/* ..., and where the root itself holds none, what lies
    right below it and has tests, as backend/ does.
    """
    known = frozenset(paths)
    data = toml(read("pyproject.toml")) if "pyproject.toml" in known else {}
    workspace = data.get("tool", {}).get("uv", {}).get("workspace", {})
    folders = {posixpath.dirname(path) for path in known if posixpath.basename(path) in (*PROJECT, ONE_FILE)} - {""}
    bare = known.isdisjoint(PROJECT) and not any(map(REQUIREMENTS.fullmatch, known))
    tested = {path.partition("/")[0] for path in known if bare and TEST_FILE.fullmatch(posixpath.basename(path))}

    def named(folder: str, key: str) -> bool:
        return any(PurePosixPath("/", folder).match(f"/{glob}".rstrip("/")) for glob in workspace.get(key, ()))

    def holds(folder: str) -> bool:
        return bool(MEMBER.fullmatch(folder)) or (bare and folder in tested and not ASIDE.fullmatch(folder))

    found = (folder for folder in folders if holds(folder) or named(folder, "members"))
    return tuple(sorted(folder for folder in found if not named(folder, "exclude")))


def _text(content: bytes) -> str:
    return content.decode("utf-8", "replace")


def _has_tests(known: frozenset[str], read: Callable[[str], bytes], tools: dict[str, object]) -> bool:
    if any(TEST_FILE.fullmatch(PurePosixPath(path).name) for path in known):
        return True
    sections = {"tox.ini": b"[pytest]", "setup.cfg": b"[tool:pytest]"}
    files = ("pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml")
    told = any(section in read(name) for name, section in sections.items() if name in known)
    configured = told or "pytest" in tools or not known.isdisjoint(files)
    return configured and any(path.endswith(".py") for path in known)


def _npm_test(content: bytes) -> str:
    """Return the check of a package, with the results file that its script names; "" when it has no tests."""
    try:
        script = json.loads(content)["scripts"]["test"]
    except (ValueError, KeyError, TypeError):
        return ""
    if not isinstance(script, str) or not script.strip() or NO_TEST in script:
        return ""
    results = RESULTS.search(script)
    return f"npm test => {results[1]}" if results else "npm test"
