"""Is a repository found under its own names, versions and scripts, as if it were installed?"""

import subprocess
import sys
from importlib.metadata import Distribution, distributions
from pathlib import Path

import pytest

from tasks.checks.identity import introduce

Files = dict[str, str]


def introduced(place: Path, files: Files) -> dict[str, Distribution]:
    root, folder = place / "root", place / "identity"
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    introduce(root, Path(sys.executable), folder)
    return {found.name: found for found in distributions(path=[str(folder)])}


PROJECT = """
[project]
name = "one-two"
version = "1.2"
description = "Adds\\nnumbers"
authors = [{name = "A", email = "a@b"}, {name = "C"}]
dependencies = ["click"]
[project.urls]
Home = "https://host"
[project.scripts]
add = "one.cli:main"
[project.entry-points.plugins]
first = "one.plugin"
"""


def test_a_project_says_of_itself_what_its_wheel_would(tmp_path: Path) -> None:
    found = introduced(tmp_path, {"pyproject.toml": PROJECT})["one-two"]
    about = ("Version", "Summary", "Author", "Author-email", "Project-URL", "Requires-Dist")
    said = ["1.2", "Adds numbers", "C", "A <a@b>", "Home, https://host", "click"]
    assert [found.metadata[key] for key in about] == said
    assert {(point.group, point.name, point.value) for point in found.entry_points} == {
        ("console_scripts", "add", "one.cli:main"),
        ("plugins", "first", "one.plugin"),
    }


SETUP_CFG = "[metadata]\nname = x\nversion = 1\n[options.entry_points]\nconsole_scripts =\n  go = x:go\n"
SETUP_PY = "setup(name='x', version='1', entry_points={'console_scripts': ['go = x:go']}, packages=find())"
SETUP_INI = "setup(name='x', version='1', entry_points='[console_scripts]\\ngo = x:go\\n')"
POETRY = '[tool.poetry]\nname = "x"\nversion = "1"\nscripts = {go = "x:go"}\n'


@pytest.mark.parametrize(
    ("file", "text"),
    [("setup.cfg", SETUP_CFG), ("setup.py", SETUP_PY), ("setup.py", SETUP_INI), ("pyproject.toml", POETRY)],
)
def test_scripts_start_from_the_files_as_they_are(tmp_path: Path, file: str, text: str) -> None:
    found = introduced(tmp_path, {file: text, "x.py": "import sys\ndef go(): print(sys.argv[1:])"})
    assert found["x"].version == "1"
    script = (tmp_path / "identity" / "bin" / "go", "a b")
    done = subprocess.run(script, env={"PYTHONPATH": str(tmp_path / "root")}, check=True, capture_output=True)
    assert done.stdout == b"['a b']\n"


DYNAMIC = '[project]\nname = "my-x"\ndynamic = ["version"]\n'


@pytest.mark.parametrize(
    "files",
    [
        {"pyproject.toml": DYNAMIC, "my_x/__init__.py": "__version__ = '3.1'"},
        {"pyproject.toml": DYNAMIC, "src/my_x/_version.py": "try:\n    __version__ = v = '3.1'\nexcept E: 0"},
        {"pyproject.toml": DYNAMIC + '[tool.hatch.version]\npath = "y/about.py"', "y/about.py": "VERSION: str = '3.1'"},
        {"pyproject.toml": DYNAMIC + '[tool.setuptools.dynamic]\nversion = {attr = "y.z.NOW"}', "y/z.py": "NOW='3.1'"},
        {"pyproject.toml": DYNAMIC + '[tool.setuptools.dynamic]\nversion = {file = "V"}', "V": "3.1\n"},
        {"pyproject.toml": DYNAMIC + '[tool.flit.module]\nname = "y"', "y.py": "__version__ = '3.1'"},
        {"setup.cfg": "[metadata]\nname = my-x\nversion = attr: y.V", "src/y/__init__.py": "V = '3.1'"},
        {"pyproject.toml": DYNAMIC, "PKG-INFO": "Name: my-x\nVersion: 3.1\n", "my_x.py": "__version__ = 'unknown'"},
    ],
)  # fmt: skip
def test_a_version_that_a_build_would_compute(tmp_path: Path, files: Files) -> None:
    assert introduced(tmp_path, files)["my-x"].version == "3.1"


def test_a_version_that_nobody_knows_has_the_shape_of_one(tmp_path: Path) -> None:
    assert introduced(tmp_path, {"pyproject.toml": DYNAMIC})["my-x"].version == "0.0.0"


def test_the_members_of_a_repository_are_found_and_take_nothing_of_the_root(tmp_path: Path) -> None:
    other = '[project]\nname = "{}"\nversion = "9"\n[project.scripts]\nadd = "o:o"\n{}'
    files = {
        "pyproject.toml": PROJECT,
        "packages/one/pyproject.toml": other.format("ONE_two", ""),
        "packages/two/pyproject.toml": other.format("two", '[project.entry-points.plugins]\nsecond = "two"'),
        "packages/odd/pyproject.toml": "project = 3",
        "docs/pyproject.toml": other.format("docs", ""),
    }
    found = introduced(tmp_path, files)
    assert {name: one.version for name, one in found.items()} == {"one-two": "1.2", "two": "9"}
    assert [point.name for point in found["two"].entry_points.select(group="plugins")] == ["second"]
    assert "one.cli" in (tmp_path / "identity" / "bin" / "add").read_text()


def test_no_file_outside_of_the_repository_is_read(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("7-secret")
    for named in ("../secret", str(tmp_path / "secret"), "link"):
        place = tmp_path / named.replace("/", "-")
        (place / "root").mkdir(parents=True)
        (place / "root" / "link").symlink_to(tmp_path / "secret")
        text = DYNAMIC + f'[tool.setuptools.dynamic]\nversion = {{file = "{named}"}}'
        assert introduced(place, {"pyproject.toml": text})["my-x"].version == "0.0.0"


@pytest.mark.parametrize("text", ["", "broken [", "[project]\nname = 3", '[project]\nname = "a/b"\nversion = "1"'])
def test_a_project_that_nobody_understands_has_no_identity(tmp_path: Path, text: str) -> None:
    assert introduced(tmp_path, {"pyproject.toml": text}) == {}
