"""Is what the tests of a repository need found, whatever runs them and wherever it is written?"""

import pytest

from tasks.checks.detect import needs_of
from tasks.checks.requirements import Needs

Files = dict[str, str]


def needs(files: Files) -> Needs:
    return needs_of(frozenset(files), lambda path: files[path].encode())


def wanted(files: Files) -> list[str]:
    return sorted(needs(files).requirements)


def project(more: str = "") -> str:
    return f'[project]\nname = "x"\nversion = "1"\n{more}\n'


@pytest.mark.parametrize(
    ("files", "lines"),
    [
        ({"requirements.txt": "a", "dev.requirements.txt": "b", "docs.requirements.txt": "c"}, ["a", "b"]),
        ({"requirements.txt": "a", "tests/requirements.txt": "b", "docs/requirements.txt": "c"}, ["a", "b"]),
        ({"tests/requirements.txt": "b", "tox.ini": "[testenv]\ndeps = c"}, ["b", "c"]),
        ({"requirements-develop.txt": "a", "requirements/requirements-test.txt": "b"}, ["a", "b"]),
    ],
)
def test_files_of_other_names(files: Files, lines: list[str]) -> None:
    assert wanted(files) == lines


@pytest.mark.parametrize(
    ("file", "text", "lines"),
    [
        ("tox.toml", '[env_run_base]\ndeps = ["a", "b{env:X}", {replace = "env"}]\nextras = ["gpu"]', ["a", "g"]),
        ("tox.toml", '[env_run_base]\ndependency_groups = ["suite"]', ["s"]),
        ("tox.ini", "[testenv]\ndependency_groups = suite", ["s"]),
        ("tox.ini", "[testenv]\ndeps = -r r.txt", ["t"]),
        ("tox.ini", "[testenv]\ndeps =\n  unit: a\n  docs: b\nextras = test: gpu\n  doc: no", ["a", "g"]),
    ],
)
def test_tox_in_its_newer_words(file: str, text: str, lines: list[str]) -> None:
    told = '[project.optional-dependencies]\ngpu = ["g"]\n[dependency-groups]\nsuite = ["s"]'
    assert wanted({file: text, "r.txt": "t", "pyproject.toml": project(more=told)}) == lines


def test_tox_inside_of_pyproject() -> None:
    for text in ('[tool.tox.env_run_base]\ndeps = ["a"]', '[tool.tox]\nlegacy_tox_ini = "[testenv]\\ndeps = a"'):
        assert wanted({"pyproject.toml": project(more=text)}) == ["a"]


@pytest.mark.parametrize(
    "more",
    [
        '[project.optional-dependencies]\nall = ["pytest >= 8", "h"]\ndocs = ["no"]',
        '[dependency-groups]\nunit = ["pytest >= 8", "h"]\ndocs = ["no"]',
        '[tool.poetry.group]\nci.dependencies = {pytest = ">= 8", h = "*"}\ndocs.dependencies = {no = "*"}',
    ],
)
def test_a_group_of_any_name_that_holds_pytest_is_for_the_tests(more: str) -> None:
    assert {line.replace(" ", "") for line in wanted({"pyproject.toml": project(more=more)})} == {"pytest>=8", "h"}


def test_a_lock_s_group_that_holds_pytest_is_for_the_tests() -> None:
    lock = '[[package]]\nname = "x"\nsource = {{ virtual = "." }}\n[package.dev-dependencies]\nunit = [{{name = "{}"}}]'
    found = [needs({"pyproject.toml": project(), "uv.lock": lock.format(name)}).options for name in ("pytest", "ruff")]
    assert found == [("--group", "unit", "--no-install-package", "x"), ("--no-install-package", "x")]


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("pytest.ini", "[pytest]\naddopts = --cov=x --color=no -n4"),
        ("setup.cfg", "[tool:pytest]\naddopts =\n  --cov-report term\n  --dist loadfile\n"),
        ("pyproject.toml", '[tool.pytest.ini_options]\naddopts = ["--no-cov", "-n", "2"]'),
        ("pytest.toml", '[pytest]\naddopts = ["--cov"]\nrequired_plugins = ["pytest-xdist"]'),
    ],
)
def test_a_plugin_that_pytest_s_own_settings_ask_for_is_required(file: str, text: str) -> None:
    assert wanted({file: text, "requirements.txt": "pytest"}) == ["pytest", "pytest-cov", "pytest-xdist"]
    assert wanted({file: text, "requirements.txt": "pytest_cov==4\npytest.xdist"}) == ["pytest.xdist", "pytest_cov==4"]
    assert wanted({file: text, "requirements.txt": "a==1 --hash=sha256:0"}) == ["a==1 --hash=sha256:0"]


EXTRAS = """
EXTRAS = {"test": ["t"], "odd": [open("x").read()], "all": sum([], [])}
EXTRAS["dev"] = EXTRAS["test"]
EXTRAS["tests"] = ["u"]
setup(extras_require=EXTRAS, tests_require=["v"])
"""


def test_what_is_computed_of_the_extras_hides_nothing_else() -> None:
    assert wanted({"setup.py": EXTRAS}) == ["t", "u", "v"]
    assert wanted({"setup.py": "setup(extras_require=read(), install_requires=['a'])"}) == ["a"]


def test_services_that_have_only_requirement_files_are_merged_and_importable() -> None:
    files = {
        "services/api/requirements.txt": "-r more.txt\na",
        "services/api/more.txt": "b",
        "services/mail/setup.py": "setup(install_requires=read())",
        "services/mail/requirements-dev.txt": "c",
        "docs/requirements.txt": "no",
    }
    assert (wanted(files), needs(files).sources) == (["a", "b", "c"], ("services/api", "services/mail"))
    assert wanted({**files, "requirements.txt": "only"}) == ["only"]


def test_a_backend_beside_a_frontend_is_found_unless_the_root_is_a_project() -> None:
    files = {"backend/requirements.txt": "a", "backend/api/test_api.py": "", "frontend/package.json": "{}"}
    files |= {"examples/requirements.txt": "no", "examples/test_one.py": "", "ansible/requirements.txt": "no"}
    assert (wanted(files), needs(files).sources) == (["a"], ("backend",))
    assert wanted({**files, "pyproject.toml": project()}) == []


def test_another_index_of_poetry_is_looked_at() -> None:
    said = '[[tool.poetry.source]]\nname = "own"\nurl = "https://own"\n[[tool.poetry.source]]\nname = "PyPI"\n'
    assert "--extra-index-url https://own" in wanted({"pyproject.toml": said})
