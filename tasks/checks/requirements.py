"""Read what one project declares that it requires, and what a lock file holds, without running any of it."""

import ast
import configparser
import contextlib
import posixpath
import re
import tomllib
from collections import Counter
from collections.abc import Callable
from typing import Any, Literal

from packaging.utils import canonicalize_name

from agents.domain.errors import Misconfigured
from agents.domain.value import Value
from tasks.checks.constants import called, constants_of, parts_of, value_of

Read = Callable[[str], bytes]
Data = dict[str, Any]

Kind = Literal["uv", "requirements", "pyproject", "plain"]

FOR_TESTS = ("dev", "test", "tests", "testing")
GROUPS = (*FOR_TESTS, "default", "hatch-test", "tests_require")  # hatch's and setuptools' own words among them
RUNS_TESTS = re.compile(r"pytest\b", re.IGNORECASE)
PROJECT = ("pyproject.toml", "setup.cfg", "setup.py")
PARTS = re.compile(r"([<>=!~]*)\s*([^\s,<>=!~]+)")
BOUND = re.compile(r"(\^|~(?!=))\s*([\d.]+)[^,\s]*")


class Needs(Value):
    """What must be installed, as lines of pip in which files and projects that name each other are resolved.

    Nothing of the repository is installed: `sources` are the folders that its own projects are imported from.
    `options` are for `uv sync`, `python` is requires-python or "", `content` is a digest of all that this depends on.
    """

    kind: Kind
    python: str = ""
    requirements: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    content: str


class Project(Value):
    """What one folder declares. A line is a requirement as pip reads it, `-r FILE` and `-e FOLDER` among them.

    `groups` are for those who work on it and no extras, `places` are the folders that it takes other projects from,
    `indexes` are where more packages lie, and `missing` says what cannot be known without running it, "" when all is
    known. All paths are those of the repository.
    """

    name: str = ""
    python: str = ""
    runtime: tuple[str, ...] = ()
    extras: dict[str, tuple[str, ...]] = {}
    groups: dict[str, tuple[str, ...]] = {}
    indexes: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    missing: str = ""

    @property
    def wanted(self) -> tuple[str, ...]:
        """List what it requires to run. Misconfigured when only running it would tell."""
        if self.missing:
            raise Misconfigured(f"{self.missing}; LRA never runs it: list what it requires in a requirements.txt")
        return self.runtime

    @property
    def for_tests(self) -> tuple[str, ...]:
        """List what its tests require beside that: extras and groups named so, else those that hold pytest."""
        tables = ((FOR_TESTS, self.extras), (GROUPS, self.groups))
        named = tuple(line for names, table in tables for name in names for line in table.get(name, ()))
        every = (*self.extras.values(), *self.groups.values())
        return named or tuple(line for lines in every if any(map(RUNS_TESTS.match, lines)) for line in lines)


def project_at(folder: str, paths: frozenset[str], read: Read) -> Project:
    """Return what pyproject.toml declares, else setup.cfg, else setup.py."""
    contents = {name: posixpath.join(folder, name) for name in PROJECT}
    texts = {name: read(path).decode("utf-8", "replace") for name, path in contents.items() if path in paths}
    data = toml(texts.get("pyproject.toml", "").encode())
    whole = "project" in data and "dependencies" not in data["project"].get("dynamic", ())
    found = [_from_pyproject(data, folder), _from_setup_cfg(texts.get("setup.cfg", ""), folder)]
    if "setup.py" in texts and not whole and not any(one.runtime for one in found):
        found.append(_from_setup_py(texts["setup.py"], contents["setup.py"]))
    said = {field: [value for one in found if (value := getattr(one, field))] for field in Project.model_fields}
    return Project(**{field: values[0] for field, values in said.items() if values})


def toml(content: bytes) -> Data:
    """Read TOML; a file that is broken counts as empty here, and the checks that need it will say so."""
    try:
        return tomllib.loads(content.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        return {}


def pins(content: bytes) -> tuple[str, ...]:
    """List the versions that poetry.lock, pdm.lock or pylock.toml holds, as constraints: then little is left to find.

    A version that holds under a condition the file does not tell is left out.
    """
    data = toml(content)
    packages = [one for one in (*data.get("package", ()), *data.get("packages", ())) if "version" in one]
    often = Counter(canonicalize_name(one["name"]) for one in packages)
    lines = []
    for one in packages:
        marker = one.get("markers", one.get("marker", ""))
        if isinstance(marker, str) and (marker or often[canonicalize_name(one["name"])] == 1):
            lines.append(f"{one['name']}=={one['version']}" + (f" ; {marker}" if marker else ""))
    return tuple(lines)


def locked(content: bytes) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the folders of the projects of the repository that uv.lock tells of, and the options for `uv sync`."""
    data = toml(content)
    packages, kinds = data.get("package", ()), ("editable", "directory", "virtual")
    sources = {one["name"]: one.get("source", {}) for one in packages}
    found = {name: said[kind] for name, said in sources.items() for kind in kinds if kind in said}
    local = {name: folder for name, folder in found.items() if not folder.startswith(("..", "/"))}
    root = {"dev-dependencies": data.get("manifest", {}).get("dependency-groups", {})}  # of a root without a project
    own = [root, *(one for one in packages if one["name"] in local)]
    tables = (("--extra", "optional-dependencies"), ("--group", "dev-dependencies"))
    there = {(word, name): lines for word, key in tables for one in own for name, lines in one.get(key, {}).items()}
    chosen = [(word, name) for word, _ in tables for name in FOR_TESTS if (word, name) in there]
    chosen = chosen or [pair for pair, lines in there.items() if any(RUNS_TESTS.match(one["name"]) for one in lines)]
    skipped = [("--no-install-package", name) for name in local]
    every = ("--all-packages",) if len(local) > 1 else ()
    return tuple(local.values()), (*every, *(word for pair in (*chosen, *skipped) for word in pair))


def _from_pyproject(data: Data, folder: str) -> Project:
    project, tool = data.get("project", {}), data.get("tool", {})
    poetry, dynamic = tool.get("poetry", {}), tool.get("setuptools", {}).get("dynamic", {})
    main = {name: spec for name, spec in poetry.get("dependencies", {}).items() if name != "python"}
    tables = {name: group.get("dependencies", {}) for name, group in poetry.get("group", {}).items()}
    tables |= {"dev": poetry.get("dev-dependencies", {}) | tables.get("dev", {})}
    extras = {name: tuple(lines) for name, lines in project.get("optional-dependencies", {}).items()}
    extras |= {name: _files(named, folder) for name, named in dynamic.get("optional-dependencies", {}).items()}
    for name, members in poetry.get("extras", {}).items():
        extras[name] = tuple(line for each in members if each in main for line in _poetry({each: main[each]}))
    always = {name: spec for name, spec in main.items() if not (isinstance(spec, dict) and spec.get("optional"))}
    taken = [spec for table in (main, *tables.values()) for spec in table.values()]
    taken += tool.get("uv", {}).get("sources", {}).values()
    named = [spec["path"] for spec in taken if isinstance(spec, dict) and "path" in spec]
    return Project(
        name=project.get("name", poetry.get("name", "")),
        python=project.get("requires-python") or _bounds(str(poetry.get("dependencies", {}).get("python", ""))),
        runtime=(*project.get("dependencies", ()), *_files(dynamic.get("dependencies", {}), folder), *_poetry(always)),
        extras=extras,
        groups=_groups(data, tool, tables),
        indexes=tuple(one["url"] for one in poetry.get("source", ()) if "url" in one),
        places=tuple(posixpath.normpath(posixpath.join(folder, path)) for path in named),
    )


def _groups(data: Data, tool: Data, poetry: Data) -> dict[str, tuple[str, ...]]:
    """Join the groups of one name, whichever tool they are written for."""
    groups, envs = data.get("dependency-groups", {}), tool.get("hatch", {}).get("envs", {})
    pdm = tool.get("pdm", {}).get("dev-dependencies", {})
    found = {name: _group(groups, name, ()) for name in groups}
    for name in {*pdm, *poetry, *envs}:
        lines = [*pdm.get(name, ()), *_poetry(poetry.get(name, {}))]
        hatch = envs.get(name, {}) if name in GROUPS else {}
        lines += [line for key in ("dependencies", "extra-dependencies") for line in hatch.get(key, ())]
        found[name] = [*found.get(name, ()), *lines]
    return {name: tuple(lines) for name, lines in sorted(found.items()) if lines}


def _files(named: Data, folder: str) -> tuple[str, ...]:
    files = named.get("file", [])
    return tuple(f"-r {posixpath.join(folder, file)}" for file in ([files] if isinstance(files, str) else files))


def _group(groups: dict[str, list[Any]], name: str, above: tuple[str, ...]) -> list[str]:
    if name in above:
        raise Misconfigured(f"dependency groups include each other: {' -> '.join((*above, name))}")
    lines: list[str] = []
    for entry in groups.get(name, []):
        lines += _group(groups, entry["include-group"], (*above, name)) if isinstance(entry, dict) else [entry]
    return lines


def _poetry(table: Data) -> tuple[str, ...]:
    """Say Poetry's dependencies in the words of pip; what lies in the repository is only named."""
    lines = []
    for name, said in table.items():
        for spec in said if isinstance(said, list) else [said]:
            one = {"version": spec} if isinstance(spec, str) else spec
            line = name + (f"[{','.join(one['extras'])}]" if "extras" in one else "")
            if "git" in one:
                ref = one.get("rev") or one.get("tag") or one.get("branch")
                line += f" @ git+{one['git']}" + (f"@{ref}" if ref else "")
            line += f" @ {one['url']}" if "url" in one else _bounds(one.get("version", "*"))
            conditions = [f"({one['markers']})"] if "markers" in one else []
            conditions += [f"sys_platform == '{one['platform']}'"] if "platform" in one else []
            bounds = PARTS.findall(_bounds(str(one.get("python", ""))))
            conditions += [f"python_full_version {operator} '{version}'" for operator, version in bounds]
            lines.append(line + (f" ; {' and '.join(conditions)}" if conditions else ""))
    return tuple(lines)


def _bounds(said: str) -> str:
    """Write Poetry's ^1.2, ~1.2, 1.2.* and 1.2 as pip does; of alternatives nothing is left, for pip has none."""
    if "|" in said or said.strip() in ("", "*"):
        return ""
    text = BOUND.sub(lambda found: _between(found[1], found[2]), said)
    return ",".join(f"{operator or '=='}{version}" for operator, version in PARTS.findall(text))


def _between(sign: str, version: str) -> str:
    numbers = [int(part) for part in version.strip(".").split(".")]
    first = next((at for at, number in enumerate(numbers) if number), len(numbers) - 1)
    at = first if sign == "^" else min(1, len(numbers) - 1)
    return f">={version},<{'.'.join(map(str, [*numbers[:at], numbers[at] + 1]))}"


def ini(text: str) -> configparser.RawConfigParser:
    """Read an INI file as far as it can be read."""
    parser = configparser.RawConfigParser(strict=False)
    with contextlib.suppress(configparser.Error):
        parser.read_string(text)
    return parser


def lines_of(text: str) -> list[str]:
    """Return the lines that say something, without comments and with those that go on in the next one whole."""
    text = re.sub(r"\\\r?\n", " ", text)
    return [bare for line in text.splitlines() if (bare := re.split(r"(?:^|\s)#", line)[0].strip())]


def _from_setup_cfg(text: str, folder: str) -> Project:
    parser = ini(text)
    extras = parser["options.extras_require"] if parser.has_section("options.extras_require") else {}

    return Project(
        name=parser.get("metadata", "name", fallback=""),
        python=parser.get("options", "python_requires", fallback="").strip(),
        runtime=_listed(parser.get("options", "install_requires", fallback=""), folder),
        extras={name: _listed(said, folder) for name, said in extras.items()},
        groups=_for_setuptools(parser.get("options", "tests_require", fallback="")),
    )


def _from_setup_py(text: str, path: str) -> Project:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return Project(missing=f"{path} is no Python that can be read")
    known, said = constants_of(tree), dict[str, Any]()
    call = next((n for n in ast.walk(tree) if isinstance(n, ast.Call) and called(n) == "setup"), None)
    wanted = (None, "install_requires", "extras_require", "tests_require", "python_requires", "name")
    for keyword in (one for one in (call.keywords if call else ()) if one.arg in wanted):
        try:
            said |= {keyword.arg: value_of(keyword.value, known)} if keyword.arg else value_of(keyword.value, known)
        except (ValueError, TypeError):
            if keyword.arg == "extras_require":
                said["extras_require"] = parts_of(tree, keyword.value, known)
            elif keyword.arg in (None, "install_requires"):
                return Project(
                    missing=f"{path} computes {keyword.arg or 'its arguments'} in line {keyword.value.lineno}"
                )
    return Project(
        name=said.get("name", ""),
        python=said.get("python_requires", ""),
        runtime=_listed(said.get("install_requires")),
        extras={name: _listed(lines) for name, lines in (said.get("extras_require") or {}).items()},
        groups=_for_setuptools(said.get("tests_require")),
    )


def _for_setuptools(said: str | list[str] | None) -> dict[str, tuple[str, ...]]:
    return {"tests_require": lines} if (lines := _listed(said)) else {}


def _listed(said: str | list[str] | None, folder: str = "") -> tuple[str, ...]:
    if not isinstance(said, str):
        return tuple(said or ())
    word, _, files = said.strip().partition("file:")
    named = [each.strip() for each in re.split(r"[,\n]", files)]
    return _files({"file": named}, folder) if files and not word else tuple(lines_of(said))
