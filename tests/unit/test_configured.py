"""Which change of a configuration counts, and as what?"""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.domain.configured import WHOLE, changed, differences, is_configuration

PROJECT = b"""[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "a"
version = "1"
description = "old"
dependencies = ["click>=8"]
[project.urls]
Home = "x"
[tool.ruff]
line-length = 100
[tool.pytest.ini_options]
addopts = "-q"
[tool.poetry.dependencies]
click = "8"
"""
INI = b"[tool:pytest]\naddopts = -q\n  --strict\n[metadata]\nversion = 1\n[options]\ninstall_requires =\n  click\n"
NODE = {"name": "a", "version": "1", "scripts": {"test": "node --test"}, "dependencies": {"x": "1"}, "type": "module"}


def steered(path: str, before: bytes | None, after: bytes | None) -> dict[str, str]:
    return {setting.name: setting.steers for setting in differences(path, before, after)}


def project(old: bytes, new: bytes) -> dict[str, str]:
    assert old in PROJECT
    return steered("pyproject.toml", PROJECT, PROJECT.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new", "name", "steers"),
    [
        (b'version = "1"', b'version = "2"', "project.version", "nothing"),
        (b'"old"', b'"new"', "project.description", "nothing"),
        (b'Home = "x"', b'Home = "y"', "project.urls.Home", "nothing"),
        (b'[project.urls]\nHome = "x"', b"", "project.urls", "nothing"),
        (b"click>=8", b"click>=9", "project.dependencies", "dependencies"),
        (b'["hatchling"]', b'["flit"]', "build-system.requires", "dependencies"),
        (b'click = "8"', b'click = "9"', "tool.poetry.dependencies", "dependencies"),
        (b"[tool.ruff]", b"[dependency-groups]\ndev = []\n[tool.ruff]", "dependency-groups", "dependencies"),
        (b'"hatchling.build"', b'"evil"', "build-system.build-backend", "configuration"),
        (b'name = "a"', b'name = "b"', "project.name", "configuration"),
        (b"line-length = 100", b"line-length = true", "tool.ruff.line-length", "configuration"),
        (b'"-q"', b'"-q --co"', "tool.pytest.ini_options", "configuration"),
        (b"[tool.ruff]", b'[project.scripts]\na = "a:b"\n[tool.ruff]', "project.scripts", "configuration"),
        (b"[tool.ruff]", b"[tool.black]\nforce-exclude = '.*'\n[tool.ruff]", "tool.black", "configuration"),
        (b"[tool.ruff]", b"[tool.unheard-of]\n[tool.ruff]", "tool.unheard-of", "configuration"),
        (b"[build-system]", b'"project.version" = 1\n[build-system]', '"project.version"', "configuration"),
    ],
)
def test_a_setting_of_a_project_steers_what_it_names(old: bytes, new: bytes, name: str, steers: str) -> None:
    assert project(old, new)[name] == steers


def test_only_the_table_that_differs_is_named() -> None:
    assert project(b"line-length = 100", b"line-length = 99") == {"tool.ruff.line-length": "configuration"}


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("pyproject.toml", PROJECT, b"# a word\n\n" + PROJECT.replace(b"= 100", b"=   100 # why")),
        ("a/ruff.toml", b"a = 1\nb = [1, 2]", b"b = [\n 1,\n 2,\n]\na = 0x1\n"),
        ("setup.cfg", INI, b"# a word\n" + INI.replace(b"  --strict", b"\t--strict\n\n").replace(b" = 1", b"=1")),
        ("setup.cfg", INI, INI.replace(b"\n", b"\r\n")),
        ("tox.ini", b"[a]\nx=1\ny=2\n[b]\n", b"[b]\n[a]\ny : 2\nx : 1"),
        ("package.json", json.dumps(NODE).encode(), json.dumps(NODE, indent=4, sort_keys=True).encode()),
        ("pytest.ini", b"[pytest]\n\xff", b"[pytest]\n\xff"),
    ],
)
def test_another_spelling_is_no_change(path: str, before: bytes, after: bytes) -> None:
    assert changed(path, before, after) == ()


@pytest.mark.parametrize(
    ("old", "new", "name", "steers"),
    [
        (b"-q", b"-q -x", "tool:pytest.addopts", "configuration"),
        (b"addopts", b"Addopts", "tool:pytest.Addopts", "configuration"),
        (b"version = 1", b"version = 2", "metadata.version", "nothing"),
        (b"click", b"klick", "options.install_requires", "dependencies"),
        (b"[options]", b"[mypy-x.*]\nignore_errors = True\n[options]", '"mypy-x.*"', "configuration"),
        (b"[metadata]", b"[DEFAULT]\nx = 1\n[metadata]", "DEFAULT", "configuration"),
    ],
)
def test_a_setting_of_an_ini_file_steers_what_it_names(old: bytes, new: bytes, name: str, steers: str) -> None:
    assert old in INI
    assert steered("setup.cfg", INI, INI.replace(old, new))[name] == steers


@pytest.mark.parametrize(
    ("key", "value", "steers"),
    [
        ("version", "2", "nothing"),
        ("dependencies", {}, "dependencies"),
        ("scripts", {"test": "true"}, "configuration"),
        ("type", "commonjs", "configuration"),
        ("jest", {}, "configuration"),
    ],
)
def test_a_setting_of_a_node_package_steers_what_it_names(key: str, value: object, steers: str) -> None:
    found = steered("package.json", json.dumps(NODE).encode(), json.dumps({**NODE, key: value}).encode())
    assert set(found.values()) == {steers}


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("ruff.toml", None, b""),
        ("pytest.ini", b"[pytest]", None),
        ("pyproject.toml", PROJECT, PROJECT + b"["),
        ("pyproject.toml", b"[", PROJECT),
        ("pyproject.toml", PROJECT, b"\xef\xbb\xbf" + PROJECT),
        ("setup.cfg", INI, INI + b"no section\xff"),
        ("mypy.ini", b"[mypy]\nstrict = True\n", b"[mypy]\nstrict = True\nstrict = True\n"),
        ("mypy.ini", b"[mypy]\nstrict = True\n", b"[mypy]\nstrict = True\n[mypy]\n"),
        ("pytest.ini", b"[pytest]\n# a\n", b"[pytest]\n# a\x0caddopts = --co\n"),
        ("pytest.ini", b"[pytest]\n# a\n", "[pytest]\n# a\u2028addopts = --co\n".encode()),
        ("package.json", b"{}", b"[]"),
        ("package.json", b"{}", b'{"a": NaN}'),
        ("package.json", b"{}", b'{"a":' + b"[" * 100_000),
    ],
)
def test_a_file_that_is_new_or_unreadable_is_wholly_changed(path: str, before: bytes | None, after: bytes) -> None:
    assert steered(path, before, after)[WHOLE] == "configuration"


def test_a_line_end_of_old_hides_no_setting() -> None:
    assert changed("pytest.ini", b"[pytest]\n# a\n", b"[pytest]\n# a\raddopts = --co\n") == ("pytest.addopts",)


def test_a_new_file_also_tells_of_its_dependencies() -> None:
    assert steered("pyproject.toml", None, b"[project]\nversion='1'\n[dependency-groups]\n") == {
        WHOLE: "configuration",
        "dependency-groups": "dependencies",
        "project": "configuration",
    }


@pytest.mark.parametrize("path", ["a b/pyproject.toml", ".coveragerc", "x/.mypy.ini", "package.json"])
def test_a_configuration_is_known_by_its_name(path: str) -> None:
    assert is_configuration(path)
    assert not is_configuration(path + ".md")


WORDS = st.sampled_from(["a", "b", "tool", "project", "version", "ruff", "x.y", ""])
SCALARS = st.one_of(st.integers(0, 2), st.booleans(), st.sampled_from(["", "a", "1"]))
TREES = st.recursive(SCALARS, lambda inner: st.dictionaries(WORDS, inner, max_size=3) | st.lists(inner, max_size=2))
TABLES = st.dictionaries(WORDS, TREES, max_size=4)


def toml(value: object, turned: bool) -> str:
    """Write a value as inline TOML, its keys in one order or the other."""
    if isinstance(value, dict):
        items = sorted(value.items(), reverse=turned)
        return "{" + ", ".join(f"{json.dumps(key)} = {toml(one, turned)}" for key, one in items) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(toml(one, turned) for one in value) + "]"
    return json.dumps(value)


def document(table: dict[str, object], turned: bool) -> bytes:
    rows = sorted(table.items(), reverse=turned)
    return "".join(f"{json.dumps(key)} = {toml(value, turned)}\n" for key, value in rows).encode()


@settings(max_examples=100, derandomize=True, deadline=None)
@given(TABLES)
def test_the_order_of_keys_is_never_a_change(table: dict[str, object]) -> None:
    assert changed("pyproject.toml", document(table, False), document(table, True)) == ()


@settings(max_examples=200, derandomize=True, deadline=None)
@given(TABLES, TABLES)
def test_other_data_is_always_a_change(one: dict[str, object], two: dict[str, object]) -> None:
    equal = json.dumps(one, sort_keys=True) == json.dumps(two, sort_keys=True)
    found = changed("pyproject.toml", document(one, False), document(two, False))
    assert (found == ()) is equal or {**one, "tool": {}} == {**two, "tool": {}}


@settings(max_examples=100, derandomize=True, deadline=None)
@given(st.sampled_from(["pyproject.toml", "setup.cfg", "package.json"]), st.binary(), st.binary())
def test_any_bytes_are_compared(path: str, before: bytes, after: bytes) -> None:
    assert changed(path, before, before) == ()
    assert len(set(changed(path, before, after))) == len(changed(path, before, after))
