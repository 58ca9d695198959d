"""Which settings of a project changed by their meaning, and what do they steer?"""

import configparser
import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any, Literal

from agents.domain.value import Value

Steers = Literal["nothing", "configuration", "dependencies"]
Key = tuple[str, ...]

WHOLE = "the whole file"
DEPTH = 3
INI = ("setup.cfg", "tox.ini", "pytest.ini", ".pytest.ini", "mypy.ini", ".mypy.ini", ".coveragerc", ".flake8")
TOML = ("pyproject.toml", "ruff.toml", ".ruff.toml", "pytest.toml", ".pytest.toml", "tox.toml", "uv.toml")
JSON = ("package.json", "pyrightconfig.json")
ODD_LINE_ENDS = re.compile("[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
ABSENT: dict[str, str] = {"": "absent"}
OPEN_TABLES: tuple[Key, ...] = ((), ("tool",))


def _below(names: str, *table: str) -> frozenset[Key]:
    return frozenset((*table, name) for name in names.split())


ABOUT = "version description authors maintainers readme keywords classifiers urls license"
FREE: dict[str, frozenset[Key]] = {
    "pyproject.toml": _below(f"{ABOUT} license-files", "project")
    | _below(f"{ABOUT} homepage repository documentation", "tool", "poetry"),
    "setup.cfg": _below(f"{ABOUT} author author_email maintainer maintainer_email url project_urls", "metadata")
    | _below("long_description long_description_content_type license_file license_files download_url", "metadata"),
    "package.json": _below("version description keywords homepage bugs license author contributors funding repository"),
}
DEPENDENCIES: dict[str, frozenset[Key]] = {
    "pyproject.toml": _below("dependencies optional-dependencies requires-python", "project")
    | _below("dependencies dev-dependencies group extras source", "tool", "poetry")
    | _below("dev-dependencies constraint-dependencies override-dependencies sources index", "tool", "uv")
    | _below("build-constraint-dependencies index-url extra-index-url find-links", "tool", "uv")
    | _below("dev-dependencies source resolution", "tool", "pdm")
    | {("build-system", "requires"), ("dependency-groups",)},
    "setup.cfg": _below("install_requires setup_requires tests_require python_requires dependency_links", "options")
    | {("options.extras_require",)},
    "package.json": _below("dependencies devDependencies peerDependencies optionalDependencies peerDependenciesMeta")
    | _below("bundledDependencies bundleDependencies overrides resolutions engines workspaces"),
}


class Setting(Value):
    """One setting or table that differs, and what it can steer; a part of its name that holds a dot is quoted."""

    name: str
    steers: Steers


class _UnreadableError(ValueError):
    """A content that a tool may read in another way than this module would."""


class _Ini(configparser.RawConfigParser):
    """A parser that tells `Addopts` from `addopts`, as pytest does."""

    def optionxform(self, optionstr: str) -> str:
        """Keep the name as it is written."""
        return optionstr


def is_configuration(path: str) -> bool:
    """Say whether this module can compare such a file by its meaning; it goes by the name, in any folder."""
    return PurePosixPath(path).name in (*INI, *TOML, *JSON)


def changed(path: str, before: bytes | None, after: bytes | None) -> tuple[str, ...]:
    """Name the settings that differ; comments, blank space and the order of keys are no difference."""
    return tuple(setting.name for setting in differences(path, before, after))


def differences(path: str, before: bytes | None, after: bytes | None) -> tuple[Setting, ...]:
    """Return the settings that differ, with what they steer; the order inside a list is a difference.

    A file that is new, gone or unreadable counts as wholly changed: an empty `ruff.toml` replaces the one above it.
    Only what describes a project for people steers nothing. No tool's table is free, a formatter's neither: a check may
    be `black --check`.
    """
    if before == after:
        return ()
    name = PurePosixPath(path).name
    whole = Setting(name=WHOLE, steers="configuration")
    try:
        keys = tuple(_differing(_read(name, before), _read(name, after), ()))
    except (ValueError, RecursionError):  # also what cannot be decoded, and what is nested to break its reader
        return (whole,)
    found = tuple(Setting(name=_spell(key), steers=_steers(name, key)) for key in keys)
    return (whole, *found) if before is None or after is None else found


def _read(name: str, content: bytes | None) -> dict[str, Any]:
    """Return the tables of a file; a ValueError (a TOMLDecodeError is one) says that it cannot be read."""
    if content is None:
        return {}
    text = content.decode("utf-8")
    if name in INI:
        return _read_ini(text)
    read = tomllib.loads(text) if name in TOML else json.loads(text, parse_constant=_refuse)
    if not isinstance(read, dict):
        raise _UnreadableError("not a table")
    return read


def _read_ini(text: str) -> dict[str, Any]:
    """Read what configparser and iniconfig agree on: a line end that only one of them knows could hide a setting."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if ODD_LINE_ENDS.search(text):
        raise _UnreadableError("odd line ends")
    try:
        read = _parse_ini(text, strict=False)
    except configparser.Error as error:
        raise _UnreadableError(str(error)) from error
    try:
        _parse_ini(text, strict=True)
    except configparser.Error:
        read[WHOLE] = "holds a setting twice, which makes mypy and pytest read none of it"
    return read


def _parse_ini(text: str, *, strict: bool) -> dict[str, Any]:
    parser = _Ini(strict=strict, default_section="\0")
    parser.read_string(text)
    return {
        section: {option: [line for raw in value.split("\n") if (line := raw.strip())] for option, value in items}
        for section, items in ((section, parser.items(section)) for section in parser.sections())
    }


def _refuse(constant: str) -> None:
    raise _UnreadableError(f"{constant} is no JSON")


def _differing(old: Any, new: Any, key: Key) -> Iterator[Key]:
    """Yield where two tables differ; a table that only one side has is named as a whole."""
    if key in OPEN_TABLES:
        old, new = ({} if side is ABSENT else side for side in (old, new))
    if _form(old) == _form(new):
        return
    leaf = old is ABSENT or new is ABSENT or not (isinstance(old, dict) and isinstance(new, dict))
    if leaf or len(key) == DEPTH:
        yield key
        return
    for name in sorted({*old, *new}):
        yield from _differing(old.get(name, ABSENT), new.get(name, ABSENT), (*key, name))


def _form(value: Any) -> str:
    """Write a value so that equal texts are equal settings: true is not 1, and a date has no other spelling."""
    return json.dumps(value, sort_keys=True, default=lambda odd: {"": repr(odd)})


def _steers(name: str, key: Key) -> Steers:
    prefixes = {key[:length] for length in range(1, len(key) + 1)}
    if prefixes & FREE.get(name, frozenset()):
        return "nothing"
    return "dependencies" if prefixes & DEPENDENCIES.get(name, frozenset()) else "configuration"


def _spell(key: Key) -> str:
    return ".".join(json.dumps(part) if "." in part or not part else part for part in key)
