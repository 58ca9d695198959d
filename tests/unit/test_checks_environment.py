"""Does a repository get what it requires, once, and nothing else?"""

import subprocess
import zipfile
from pathlib import Path

import pytest

from agents.domain.errors import Misconfigured
from tasks.checks import environment
from tasks.checks.environment import Definition, build, define, find


def defined(files: dict[str, str]) -> Definition:
    return define(files, lambda path: files[path].encode())


def made(files: dict[str, str], tmp_path: Path) -> environment.Environment:
    folder = tmp_path / "files"
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text)
    return build(defined(files), folder, tmp_path / "home")


def python(made: environment.Environment, code: str) -> str:
    return subprocess.run([made.python, "-c", code], check=True, capture_output=True, text=True).stdout.strip()


def wheel(folder: Path, name: str) -> str:
    folder.mkdir(exist_ok=True)
    info = f"{name}-1.0.dist-info"
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as archive:
        archive.writestr(f"{name}.py", "VALUE = 7\n")
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", f"{name}.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n")
    return f"{name}-1.0-py3-none-any.whl"


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
        ({"requirements.txt": "a", "requirements-dev.txt": "b", "requirements-docs.txt": "c"}, "requirements", ()),
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
    before = {"requirements.txt": "-r more.txt\n./wheels/a.whl ; python_version > '3'\n", named: "a"}
    assert defined(before).name != defined({**before, named: "b"}).name


def test_groups_that_include_each_other_are_refused() -> None:
    groups = 'test = [{include-group = "dev"}]\ndev = [{include-group = "test"}]'
    with pytest.raises(Misconfigured, match="dev -> test -> dev"):
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
