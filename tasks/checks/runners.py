"""Read what the programs that run a repository's tests install for them: tox, nox, and the options of pytest."""

import ast
import contextlib
import re
import shlex
from collections.abc import Iterable, Iterator
from typing import Any

from tasks.checks.constants import called, constants_of, value_of
from tasks.checks.requirements import Read, ini, lines_of, toml

FACTOR = re.compile(r"[^\s:]+:\s")
FOR_TESTS = re.compile(r"^(tests?|unit|pytest):\s+")
SECTION = re.compile(r"\{\[([^\]]+)\]([^}]+)\}")
INSTALLED = re.compile(r"^(?:-[rce]\n?|--group\n)?[^-\n].*", re.MULTILINE)
PLUGINS = {
    r"--(no-)?cov(-[\w-]+)?": "pytest-cov",
    r"-n(\d+|auto|logical)?|--(numprocesses|dist|maxprocesses)": "pytest-xdist",
    r"--asyncio-mode|asyncio_mode|asyncio_default_fixture_loop_scope": "pytest-asyncio",
    r"--ds|django_settings_module|--(reuse|create)-db|--no-migrations": "pytest-django",
    r"--benchmark-[\w-]+": "pytest-benchmark",
    r"--timeout(-[\w-]+)?": "pytest-timeout",
    r"--reruns(-[\w-]+)?": "pytest-rerunfailures",
    r"--randomly-[\w-]+": "pytest-randomly",
    r"--html|--self-contained-html": "pytest-html",
    r"--(allow|disable)-(hosts|socket)": "pytest-socket",
}


def of_tox(content: bytes) -> tuple[str, ...]:
    """List what [testenv] of tox.ini installs; a line that holds for some environments only is left out."""
    parser = ini(content.decode("utf-8", "replace"))

    def said(option: str) -> str:
        text = parser.get("testenv", option, fallback="")
        for _ in range(5):  # a section may refer to a section; in a circle too
            text = SECTION.sub(lambda found: parser.get(found[1], found[2], fallback=""), text)
        return text

    text = said("deps").replace("{toxinidir}/", "./").replace("{toxinidir}", ".")
    lines = [line for line in _for_tests(text) if "{" not in line]
    extras, groups = (_for_tests(said(option).replace(",", "\n")) for option in ("extras", "dependency_groups"))
    return (*lines, *_named([one for one in extras if "{" not in one], [one for one in groups if "{" not in one]))


def _for_tests(text: str) -> list[str]:
    """Leave out the lines of other environments, and the factor of those that are for tests."""
    return [line for line in (FOR_TESTS.sub("", each) for each in lines_of(text)) if not FACTOR.match(line)]


def of_tox_toml(content: bytes) -> tuple[str, ...]:
    """List what tox.toml, or [tool.tox] of pyproject.toml, installs in every environment that runs something."""
    data = toml(content)
    data = data.get("tool", {}).get("tox", {}) if "tool" in data else data
    if "legacy_tox_ini" in data:
        return of_tox(str(data["legacy_tox_ini"]).encode())
    table = data.get("env_run_base", {})
    deps, extras, groups = (
        [one for one in table.get(key, ()) if isinstance(one, str)] for key in ("deps", "extras", "dependency_groups")
    )
    return (*(line for line in deps if "{" not in line), *_named(extras, groups))


def _named(extras: list[str], groups: list[str]) -> tuple[str, ...]:
    whole = (f".[{','.join(extras)}]",) if extras else ()
    return (*whole, *(f"--group {name}" for name in groups))


def of_nox(content: bytes) -> tuple[str, ...]:
    """List what sessions with "test" in their name install, where it is written as constants."""
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError):
        return ()
    known, lines = constants_of(tree), list[str]()
    sessions = [node for node in tree.body if isinstance(node, ast.FunctionDef) and "test" in node.name]
    calls = [node for session in sessions for node in ast.walk(session) if isinstance(node, ast.Call)]
    for call in (call for call in calls if called(call) == "install"):
        words: list[str] = []
        for argument in call.args:
            with contextlib.suppress(ValueError, TypeError):
                words += value_of(ast.List(elts=[argument]), known)
        lines += [line.replace("\n", " ") for line in INSTALLED.findall("\n".join(map(str, words)))]
    return tuple(lines)


def plugins_of(paths: Iterable[str], read: Read) -> tuple[str, ...]:
    """Name the plugins without which pytest refuses the repository's own settings: required ones, and by options."""
    known, found = frozenset(paths), dict[str, None]()
    for settings in _settings(known, read):
        added, required = settings.get("addopts", ""), settings.get("required_plugins", "")
        words = [*settings, *(added if isinstance(added, list) else _words(str(added)))]
        found |= dict.fromkeys(required if isinstance(required, list) else re.findall(r"\S+", str(required)))
        names = [str(word).partition("=")[0] for word in words]
        plain = (plugin for form, plugin in PLUGINS.items() if any(re.fullmatch(form, name.lower()) for name in names))
        found |= dict.fromkeys(plain)
    return tuple(found)


def _settings(known: frozenset[str], read: Read) -> Iterator[dict[str, Any]]:
    for name, section in (
        *(("pytest.ini", "pytest"), (".pytest.ini", "pytest")),
        *(("tox.ini", "pytest"), ("setup.cfg", "tool:pytest")),
    ):
        parser = ini(read(name).decode("utf-8", "replace")) if name in known else ini("")
        if parser.has_section(section):
            yield dict(parser[section])
    tables = toml(read("pyproject.toml")).get("tool", {}).get("pytest", {}) if "pyproject.toml" in known else {}
    yield from (tables, tables.get("ini_options", {}))
    yield from (toml(read(name)).get("pytest", {}) for name in ("pytest.toml", ".pytest.toml") if name in known)


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()
