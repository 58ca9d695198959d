"""Does a repository get what it requires, once, and nothing else?"""

import subprocess
import zipfile
from pathlib import Path

import pytest

from agents.domain.errors import Misconfigured
from tasks.checks import environment
from tasks.checks.environment import Definition, build, code_of, define, find


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bytecode of what is lent is for the runs to come, and no run comes after these."""
    monkeypatch.setattr(environment, "COMPILE", ("-c", ""))


def defined(files: dict[str, str]) -> Definition:
    return define(files, lambda path: files[path].encode())


def made(files: dict[str, str], tmp_path: Path) -> environment.Environment:
    folder = tmp_path / "files"
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return build(defined(files), folder, tmp_path / "home")


def python(made: environment.Environment, code: str) -> str:
    return subprocess.run([made.python, "-c", code], check=True, capture_output=True, text=True).stdout.strip()


def wheel(folder: Path, name: str, version: str = "1.0") -> str:
    folder.mkdir(exist_ok=True)
    info = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as archive:
        archive.writestr(f"{name}.py", f"VALUE = 7\nVERSION = '{version}'\n")
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", f"{name}.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n")
    return f"{name}-{version}-py3-none-any.whl"


PYPROJECT = '[project]\nname = "x"\nversion = "1"\n'


@pytest.mark.parametrize(
    ("files", "kind", "wanted"),
    [
        ({}, "plain", ()),
        ({"pyproject.toml": PYPROJECT}, "plain", ()),
        ({"pyproject.toml": "broken ["}, "plain", ()),
        ({"pyproject.toml": PYPROJECT + 'dependencies = ["a>1"]'}, "pyproject", ("a>1",)),
        ({"pyproject.toml": PYPROJECT + '[dependency-groups]\ntest = ["b"]\ndev = [{include-group = "test"}, "c"]'},
         "pyproject", ("b", "c")),
        ({"pyproject.toml": PYPROJECT + '[project.optional-dependencies]\ntest=["d"]\ndev=["X[test]","e"]\ngpu=["f"]'},
         "pyproject", ("d", "e")),
        ({"pyproject.toml": PYPROJECT, "uv.lock": ""}, "uv", ()),
        ({"requirements.txt": "a", "requirements-dev.txt": "b", "requirements-docs.txt": "c"}, "requirements",
         ("a", "b")),
        ({"setup.cfg": "[options]\ninstall_requires =\n    a>1\n    # b\n[options.extras_require]\ntest = c\n"},
         "pyproject", ("a>1", "c")),
        ({"requirements.txt": "-e .\n", "pyproject.toml": PYPROJECT + 'dependencies = ["a"]'}, "requirements", ("a",)),
    ],
)  # fmt: skip
def test_what_is_required_is_read_from_the_files(files: dict[str, str], kind: str, wanted: tuple[str, ...]) -> None:
    definition = defined(files)
    assert (definition.kind, definition.needs.requirements) == (kind, wanted)


def test_an_unrelated_edit_keeps_the_environment() -> None:
    one = defined({"pyproject.toml": PYPROJECT + 'dependencies = ["a"]\n[tool.ruff]\nline-length = 80'})
    other = defined({"pyproject.toml": PYPROJECT + 'dependencies = ["a"]\n[tool.ruff]\nline-length = 99', "b.py": ""})
    assert one.name == other.name


@pytest.mark.parametrize("named", ["more.txt", "wheels/a.whl"])
def test_another_requirement_is_another_environment(named: str) -> None:
    before = {"requirements.txt": "-r more.txt\n./wheels/a.whl ; python_version > '3'\n", "more.txt": "", named: "a"}
    assert defined(before).name != defined({**before, named: "b"}).name


def test_groups_that_include_each_other_are_refused() -> None:
    groups = 'test = [{include-group = "dev"}]\ndev = [{include-group = "test"}]'
    with pytest.raises(Misconfigured, match="dev -> test"):
        defined({"pyproject.toml": f"[dependency-groups]\n{groups}"})


def test_a_python_that_is_not_there_is_the_operators_matter() -> None:
    with pytest.raises(Misconfigured, match=r"requires Python >=3\.99"):
        defined({"pyproject.toml": PYPROJECT + 'requires-python = ">=3.99"'})


def test_a_plain_environment_is_made_once_and_without_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment.uv, "find_uv_bin", lambda: pytest.fail("uv was used"))
    one = made({}, tmp_path)
    stamp = one.python.lstat().st_mtime_ns
    assert made({}, tmp_path) == one
    assert one.python.lstat().st_mtime_ns == stamp
    assert python(one, "import pytest; print(pytest.__file__)").startswith(str(one.tools))


def test_a_half_made_environment_is_made_anew(tmp_path: Path) -> None:
    one = made({}, tmp_path)
    folder = one.python.parent.parent
    (folder / environment.MARKER).unlink()
    (folder / "left-over").touch()
    assert find(defined({}), tmp_path / "home") is None
    assert made({}, tmp_path) == one
    assert not (folder / "left-over").exists()


def test_requirements_are_installed_and_the_repository_itself_is_not(tmp_path: Path) -> None:
    name = wheel(tmp_path / "files", "seven")
    one = made({"requirements.txt": f"./{name}\n-e .\n", "pyproject.toml": PYPROJECT}, tmp_path)
    assert python(one, "import seven, pytest; print(seven.VALUE)") == "7"


def test_the_repositorys_own_pytest_comes_first(tmp_path: Path) -> None:
    name = wheel(tmp_path / "files", "iniconfig")
    one = made({"requirements.txt": f"./{name}\n"}, tmp_path)
    assert python(one, "import iniconfig, pluggy; print(iniconfig.VALUE)") == "7"


def test_broken_requirements_are_the_operators_matter(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match=r"could not be made: uv pip install[\s\S]*none-such[\s\S]*Correct"):
        made({"requirements.txt": "./none-such-1.0-py3-none-any.whl\n"}, tmp_path)
    assert find(defined({"requirements.txt": "./none-such-1.0-py3-none-any.whl\n"}), tmp_path / "home") is None


def test_a_lock_file_is_followed(tmp_path: Path) -> None:
    name = wheel(tmp_path / "files", "seven")
    files = {
        "pyproject.toml": PYPROJECT
        + f'requires-python = ">=3.11"\ndependencies = ["seven"]\n[tool.uv.sources]\nseven = {{path = "{name}"}}\n',
    }
    (tmp_path / "files" / "pyproject.toml").write_text(files["pyproject.toml"])
    uv = environment.uv.find_uv_bin()
    subprocess.run([uv, "lock", "--quiet", "--offline", "--no-cache"], cwd=tmp_path / "files", check=True)
    files["uv.lock"] = (tmp_path / "files" / "uv.lock").read_text()
    one = made(files, tmp_path)
    assert one.kind == "uv"
    assert python(one, "import seven; print(seven.VALUE)") == "7"


def test_the_network_settings_are_passed_on_and_no_secret(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy")
    monkeypatch.setenv("MY_API_KEY", "secret")
    env = environment._env(tmp_path, tmp_path)
    assert env["HTTPS_PROXY"] == "http://proxy"
    assert "secret" not in env.values()


@pytest.fixture
def offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of wheels that uv finds packages in, and nothing else."""
    (tmp_path / "wheels").mkdir()
    monkeypatch.setenv("UV_FIND_LINKS", str(tmp_path / "wheels"))
    monkeypatch.setenv("UV_OFFLINE", "1")
    return tmp_path / "wheels"


def test_a_chain_of_requirement_files_is_followed(tmp_path: Path, offline: Path) -> None:
    for name, version in (("seven", "1.0"), ("seven", "2.0"), ("eight", "1.0")):
        wheel(offline, name, version)
    chain = {"requirements/dev.txt": "-r base.txt\n-c ../limits.txt\neight", "requirements/base.txt": "seven"}
    one = made({**chain, "limits.txt": "seven<2"}, tmp_path)
    assert python(one, "import seven, eight; print(seven.VERSION)") == "1.0"


def test_poetry_keeps_what_is_locked(tmp_path: Path, offline: Path) -> None:
    for version in ("1.0", "1.5", "2.0"):
        wheel(offline, "seven", version)
    pyproject = '[tool.poetry]\nname = "x"\n[tool.poetry.group.dev.dependencies]\nseven = "^1.0"\n'
    lock = '[[package]]\nname = "seven"\nversion = "1.0"\noptional = false\n'
    one = made({"pyproject.toml": pyproject, "poetry.lock": lock}, tmp_path)
    assert python(one, "import seven; print(seven.VERSION)") == "1.0"


def test_an_editable_package_is_imported_from_the_workspace(tmp_path: Path, offline: Path) -> None:
    wheel(offline, "seven")
    files = {
        "requirements.txt": "-e ./libs/foo\n",
        "libs/foo/pyproject.toml": '[project]\nname = "foo"\nversion = "1"\ndependencies = ["seven"]\n',
        "libs/foo/src/foo/__init__.py": "import seven\nWHERE = __file__\n",
    }
    one = made(files, tmp_path)
    root = tmp_path / "files"
    assert code_of(root, one) == (root, root / "libs/foo/src")
    code = f"import sys; sys.path += {[str(place) for place in code_of(root, one)]}; import foo; print(foo.WHERE)"
    assert python(one, code) == str(root / "libs/foo/src/foo/__init__.py")


@pytest.mark.parametrize("root", ["", '[project]\nname = "x"\nversion = "1"\nrequires-python = ">=3.11"\n'])
def test_a_workspace_of_uv_is_installed_without_its_own_packages(tmp_path: Path, offline: Path, root: str) -> None:
    wheel(offline, "seven")
    wheel(offline, "eight")
    built = '[build-system]\nrequires = ["never-there"]\nbuild-backend = "never"\n[project]\nversion = "1"\n'
    built += 'requires-python = ">=3.11"\n'
    files = {
        "pyproject.toml": root + '[dependency-groups]\ntest = ["eight"]\n'
        '[tool.uv.workspace]\nmembers = ["packages/*"]\n[tool.uv.sources]\none = { workspace = true }\n',
        "packages/one/pyproject.toml": f'{built}name = "one"\ndependencies = ["two"]\n'
        '[tool.uv.sources]\ntwo = { path = "../../libs/two", editable = true }\n',
        "libs/two/pyproject.toml": f'{built}name = "two"\ndependencies = ["seven"]\n',
    }
    for name, text in files.items():
        (tmp_path / "files" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "files" / name).write_text(text)
    subprocess.run([environment.uv.find_uv_bin(), "lock", "-q", "--no-cache"], cwd=tmp_path / "files", check=True)
    one = made({**files, "uv.lock": (tmp_path / "files" / "uv.lock").read_text()}, tmp_path)
    assert one.sources == ("libs/two", "packages/one")
    has = "import importlib.util as u; print(*(n for n in ('seven', 'eight', 'one', 'two') if u.find_spec(n)))"
    assert python(one, has) == "seven eight"


def test_a_lock_that_leads_out_of_the_repository_opens_no_way_out() -> None:
    lock = '[[package]]\nname = "{0}"\nversion = "1"\nsource = {{ editable = "{1}" }}\n'
    text = lock.format("out", "../out") + lock.format("root", "/etc") + lock.format("own", "libs/own")
    needs = defined({"pyproject.toml": PYPROJECT, "uv.lock": text}).needs
    assert needs.sources == ("libs/own",)
    assert needs.options == ("--no-install-package", "own")


def test_a_new_dependency_is_another_environment_and_may_fail_alone(tmp_path: Path, offline: Path) -> None:
    wheel(offline, "seven")
    base = {"requirements.txt": "seven\n"}
    one = made(base, tmp_path)
    with pytest.raises(Misconfigured, match="none-such"):
        made({"requirements.txt": "seven\nnone-such\n"}, tmp_path)
    assert find(defined(base), tmp_path / "home") == one


def test_an_empty_requirements_file_needs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment.uv, "find_uv_bin", lambda: pytest.fail("uv was used"))
    assert made({"requirements.txt": "# nothing\n"}, tmp_path).kind == "requirements"
