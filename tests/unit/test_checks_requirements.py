"""Is what a repository requires read from whatever files say it, and nothing of it run?"""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from agents.domain.errors import Misconfigured
from tasks.checks.detect import detect, needs_of
from tasks.checks.environment import define
from tasks.checks.requirements import Needs, _bounds, pins

Files = dict[str, str]


def needs(files: Files) -> Needs:
    return needs_of(frozenset(files), lambda path: files[path].encode())


def wanted(files: Files) -> list[str]:
    return sorted(needs(files).requirements)


def project(name: str = "x", more: str = "") -> str:
    return f'[project]\nname = "{name}"\nversion = "1"\n{more}\n'


@pytest.mark.parametrize(
    ("files", "lines"),
    [
        ({"requirements.txt": "a>1 # why\n\n# c\nb==1 \\\n  --hash=sha256:0\n"}, ["a>1", "b==1    --hash=sha256:0"]),
        ({"requirements/base.txt": "a", "requirements/test.txt": "-r base.txt\nb", "requirements/docs.txt": "c"},
         ["a", "b"]),
        ({"requirements.txt": "--index-url https://i\n-r m/one.txt", "m/one.txt": "-r two.txt", "m/two.txt": "a"},
         ["--index-url https://i", "a"]),
        ({"requirements.txt": "-r https://host/one.txt"}, ["-r https://host/one.txt"]),
        ({"requirements.txt": "-e git+https://host/a.git#egg=a"}, ["git+https://host/a.git#egg=a"]),
        ({"requirements.txt": "-r a.txt", "a.txt": "-r requirements.txt\nb"}, ["b"]),
        ({"requirements-dev.txt": "b", "pyproject.toml": project(more='dependencies = ["a"]')}, ["a", "b"]),
        ({"requirements.txt": "a", "pyproject.toml": project(more='dependencies = ["other"]')}, ["a"]),
        ({"requirements.txt": "a", "pyproject.toml": '[dependency-groups]\ntest = ["b"]'}, ["a", "b"]),
        ({"requirements.txt": "a", "dev-requirements.txt": "b", "tox.ini": "[testenv]\ndeps = c"}, ["a", "b"]),
    ],
)  # fmt: skip
def test_requirement_files(files: Files, lines: list[str]) -> None:
    assert wanted(files) == lines


def test_constraints_limit_and_require_nothing() -> None:
    files = {"requirements.txt": "-c limits.txt\na", "limits.txt": "a<2\n-r more.txt", "more.txt": "b<3"}
    assert (needs(files).requirements, needs(files).constraints) == (("a",), ("a<2", "b<3"))


def test_a_file_that_is_named_and_not_there_is_the_operators_matter() -> None:
    with pytest.raises(Misconfigured, match=r"name gone\.txt"):
        needs({"requirements.txt": "-r gone.txt"})


LOCAL = project("foo", 'dependencies = ["b"]\n[project.optional-dependencies]\nfast = ["c"]')


@pytest.mark.parametrize(
    "line",
    [
        "./libs/foo",
        "-e ./libs/foo",
        "-e libs/foo",
        "--editable=./libs/foo/",
        "foo @ file:libs/foo",
        "-e./libs/foo  # x",
    ],
)
def test_a_local_folder_stands_for_what_it_requires(line: str) -> None:
    files = {"requirements.txt": f"a\n{line}\n", "libs/foo/pyproject.toml": LOCAL, "libs/foo/src/foo/__init__.py": ""}
    assert (wanted(files), needs(files).sources) == (["a", "b"], ("libs/foo/src",))


def test_extras_of_a_local_folder_count() -> None:
    files = {"requirements/dev.txt": "-e ../libs/foo[fast]", "libs/foo/pyproject.toml": LOCAL}
    assert wanted(files) == ["b", "c"]


def test_what_defines_a_local_folder_is_part_of_the_definition_and_its_code_is_not() -> None:
    files = {"requirements.txt": "./libs/foo", "libs/foo/pyproject.toml": LOCAL, "libs/foo/foo.py": "1"}
    assert needs(files).content == needs({**files, "libs/foo/foo.py": "2"}).content
    assert needs(files).content != needs({**files, "libs/foo/pyproject.toml": LOCAL.replace('"b"', '"b>1"')}).content


def test_projects_that_need_each_other_end() -> None:
    files = {
        "requirements.txt": "-e ./one",
        "one/setup.cfg": "[options]\ninstall_requires =\n  a\n  two @ file:../two",
        "two/setup.cfg": "[options]\ninstall_requires =\n  b\n  one @ file:../one",
    }
    assert wanted(files) == ["a", "b"]


POETRY = """
[tool.poetry]
name = "x"
[tool.poetry.dependencies]
python = "^3.11"
a = "^1.2"
b = {version = "~2.0", extras = ["z"], python = "<3.12", optional = true}
c = [{version = "*", markers = "os_name == 'nt'"}, {version = "1.*", markers = "os_name != 'nt'"}]
d = {git = "https://host/d.git", tag = "v1"}
local = {path = "libs/local", develop = true}
[tool.poetry.extras]
test = ["b"]
[tool.poetry.group.dev.dependencies]
e = {version = "1.0", platform = "linux"}
[tool.poetry.group.docs.dependencies]
f = "*"
"""


def test_poetry() -> None:
    files = {"pyproject.toml": POETRY, "libs/local/pyproject.toml": '[tool.poetry]\nname="local"\ndependencies={g="*"}'}
    assert wanted(files) == [
        "a>=1.2,<2",
        "b[z]>=2.0,<2.1 ; python_full_version < '3.12'",
        "c ; (os_name == 'nt')",
        "c==1.* ; (os_name != 'nt')",
        "d @ git+https://host/d.git@v1",
        "e==1.0 ; sys_platform == 'linux'",
        "g",
    ]
    assert (needs(files).python, needs(files).sources) == (">=3.11,<4", ("libs/local",))


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("^1.2.3", ">=1.2.3,<2"),
        ("^0.2.3", ">=0.2.3,<0.3"),
        ("^0.0.3", ">=0.0.3,<0.0.4"),
        ("~1.2.3", ">=1.2.3,<1.3"),
        ("~1", ">=1,<2"),
        (">=1.0 <2.0", ">=1.0,<2.0"),
        (">= 1.0, !=1.5", ">=1.0,!=1.5"),
        ("1.2", "==1.2"),
        ("^1 || ^2", ""),
    ],
)
def test_bounds_of_poetry(said: str, meant: str) -> None:
    assert _bounds(said) == meant


@given(st.lists(st.integers(0, 30), min_size=1, max_size=4), st.sampled_from("^~"))
def test_a_version_lies_within_its_own_bounds(numbers: list[int], sign: str) -> None:
    version = ".".join(map(str, numbers))
    bounds = SpecifierSet(_bounds(sign + version))
    assert Version(version) in bounds
    assert Version(f"{numbers[0] + 1}.{'.'.join(map(str, numbers[1:] or [0]))}") not in bounds


def test_locked_versions_are_kept_unless_their_condition_is_unknown() -> None:
    one = '[[package]]\nname = "{}"\nversion = "{}"\n{}\n'
    lock = one.format("a", "1", "") + one.format("b", "1", "") + one.format("B", "2", "")
    lock += one.format("c", "1", "markers = \"os_name == 'nt'\"")
    assert pins(lock.encode()) == ("a==1", "c==1 ; os_name == 'nt'")
    assert needs({"pyproject.toml": POETRY, "poetry.lock": lock}).constraints == pins(lock.encode())


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("[testenv]\ndeps =\n  a\n  py311: b\n  c{env:X}\n  -r{toxinidir}/r.txt", ["a", "t"]),
        ("[all]\ndeps = a\n[testenv]\ndeps =\n  {[all]deps}\n  b", ["a", "b"]),
        ("[testenv]\nextras = gpu", ["g"]),
        ("[testenv]\ndeps = -e .[gpu]", ["g"]),
        ("[a]\nb = {[a]b}\n[testenv]\ndeps = {[a]b}", []),
        ("no ini", []),
    ],
)
def test_tox(text: str, lines: list[str]) -> None:
    extra = project(more='[project.optional-dependencies]\ngpu = ["g"]')
    assert wanted({"tox.ini": text, "r.txt": "t", "pyproject.toml": extra}) == lines


NOX = """
import nox
TOOLS = ["pytest", "b>1"]
UNSURE = ["never"]
UNSURE.append("x")
raise SystemExit("nox files are read, not run")
@nox.session(python=["3.11"])
def tests(session):
    session.install("-e", ".[gpu]", "--no-deps")
    session.install("-r", "r.txt", *TOOLS, *UNSURE, f"c{session.python}")
@nox.session
def docs(session):
    session.install("sphinx")
"""


def test_nox_is_read_and_not_run() -> None:
    extra = project(more='[project.optional-dependencies]\ngpu = ["g"]')
    assert wanted({"noxfile.py": NOX, "r.txt": "t", "pyproject.toml": extra}) == ["b>1", "g", "pytest", "t"]
    assert wanted({"noxfile.py": "broken ("}) == []


SETUP = """
from setuptools import setup
raise SystemExit("setup.py is read, not run")
TEST = ["t"]
setup(name="x", python_requires=">=3.8", install_requires=["a", "b>1"] + ["c"], extras_require={"test": TEST})
"""


def test_setup_py_is_read_and_not_run() -> None:
    assert wanted({"setup.py": SETUP}) == ["a", "b>1", "c", "t"]
    assert needs({"setup.py": SETUP}).python == ">=3.8"
    assert wanted({"setup.py": "from setuptools import setup\nsetup()"}) == []


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("setup(install_requires=open('r').read())", "computes install_requires in line 1"),
        ("R = ['a']\nif x:\n    R += ['b']\nsetup(install_requires=R)", "install_requires in line 4"),
        ("R = ['a']\nR.append('b')\nsetup(install_requires=R)", "install_requires in line 3"),
        ("setup(**read())", "its arguments in line 1"),
        ("print 'two'", "no Python"),
    ],
)
def test_what_only_running_would_tell_is_said(text: str, what: str) -> None:
    with pytest.raises(Misconfigured, match=what):
        needs({"setup.py": text})
    assert wanted({"setup.py": text, "requirements.txt": "a"}) == ["a"]
    assert wanted({"setup.py": text, "setup.cfg": "[options]\ninstall_requires = b"}) == ["b"]
    assert wanted({"setup.py": text, "pyproject.toml": project()}) == []


def test_files_that_setuptools_is_sent_to() -> None:
    dynamic = 'dynamic = ["dependencies"]\n[tool.setuptools.dynamic]\ndependencies = {file = ["deps.in"]}'
    assert wanted({"pyproject.toml": project(more=dynamic), "deps.in": "a"}) == ["a"]
    assert wanted({"setup.cfg": "[options]\ninstall_requires = file: deps.in", "deps.in": "a"}) == ["a"]


def test_hatch_and_pdm() -> None:
    hatch = '[tool.hatch.envs.default]\ndependencies = ["h"]\n[tool.hatch.envs.docs]\ndependencies = ["no"]'
    assert wanted({"pyproject.toml": project(more=hatch)}) == ["h"]
    assert wanted({"pyproject.toml": project(more='[tool.pdm.dev-dependencies]\ntest = ["p"]')}) == ["p"]


def test_several_packages_are_merged_and_importable() -> None:
    files = {
        "pyproject.toml": '[tool.uv.workspace]\nmembers = ["mine/*"]\nexclude = ["mine/old"]',
        "packages/one/pyproject.toml": project(
            "one", 'dependencies = ["a", "two[fast]"]\n[dependency-groups]\ntest = ["t"]'
        ),
        "packages/one/src/one/__init__.py": "",
        "libs/two/setup.cfg": "[metadata]\nname = Two\n[options]\ninstall_requires = b\n"
        "[options.extras_require]\nfast = c\n",
        "mine/three/pyproject.toml": project("three", 'requires-python = ">=3.9"'),
        "mine/old/pyproject.toml": project("old", 'dependencies = ["no"]'),
        "tests/data/four/pyproject.toml": project("four", 'dependencies = ["no"]'),
    }
    assert wanted(files) == ["a", "b", "c", "t"]
    assert needs(files).sources == ("libs/two", "mine/three", "packages/one/src")
    assert needs(files).python == ">=3.9"


def test_conda_alone_is_refused_with_what_to_do() -> None:
    conda = {"environment.yml": "name: x\ndependencies:\n  - numpy\n"}
    with pytest.raises(Misconfigured, match=r"only in environment\.yml.*requirements\.txt"):
        needs(conda)
    assert needs({**conda, "requirements.txt": ""}).kind == "requirements"
    assert needs({"environment.yml": "production: true"}).kind == "plain"


@pytest.mark.parametrize(
    "files",
    [
        {"pyproject.toml": "project = 3"},
        {"pyproject.toml": '[project]\ndependencies = [{a = "b"}]'},
        {"pyproject.toml": "[tool.poetry.dependencies]\na = 3"},
        {"pyproject.toml": "[dependency-groups]\ntest = [{}]"},
        {"pyproject.toml": project(), "uv.lock": "package = 3"},
        {"pyproject.toml": POETRY, "poetry.lock": "[[package]]\nversion = '1'"},
        {"setup.py": "setup(install_requires=3)"},
    ],
)
def test_another_shape_is_the_operators_matter_and_no_crash(files: Files) -> None:
    with pytest.raises(Misconfigured, match=re.escape("cannot be read, mend it")):
        define(files, lambda path: files[path].encode())


def test_what_may_do_anything_is_no_check_by_itself() -> None:
    assert detect(["tox.ini", "noxfile.py", "Makefile"], lambda _: b"test:\n\tpytest\n") == ()


def test_types_are_a_check_where_mypy_is_configured() -> None:
    for file, text in (("mypy.ini", b"[mypy]"), ("setup.cfg", b"[mypy]"), ("pyproject.toml", b"[tool.mypy]")):
        assert detect([file], lambda _, text=text: text) == ("types",)
    assert detect(["setup.cfg"], lambda _: b"[mypy-a]") == ()
