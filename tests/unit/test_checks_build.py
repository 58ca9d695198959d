"""Is a wheel looked into before it counts, and is only what the candidate made worse held against it?"""

import base64
import hashlib
import subprocess
import zipfile

import pytest

from agents.domain.gate import judge
from tasks.checks.measure import Plan, measure
from tasks.checks.wheel import inspect
from tasks.git.trees import Trees

INFO = "demo-1.0.dist-info"
METADATA = "Metadata-Version: 2.1\nName: Demo\nVersion: 1.0\n"
PLAIN = {"demo/__init__.py": "X = 1\n", "demo/more.py": ""}


def make_wheel(folder, files, name="demo-1.0-py3-none-any.whl", record=None, **texts):
    """A wheel of these files, with metadata and a RECORD that is right unless another one is given."""
    whole = {**files, f"{INFO}/WHEEL": "Wheel-Version: 1.0\n", f"{INFO}/METADATA": METADATA}
    whole |= {f"{INFO}/{key}": text for key, text in texts.items()}
    lines = [f"{path},{sha256(text)},{len(text)}" for path, text in whole.items()]
    whole[f"{INFO}/RECORD"] = record if record is not None else "\n".join([*lines, f"{INFO}/RECORD,,"])
    with zipfile.ZipFile(folder / name, "w") as wheel:
        for path, text in whole.items():
            wheel.writestr(path, text)
    return folder / name


def sha256(text):
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()


def faults(folder, files, sources=(), **more):
    return inspect(make_wheel(folder, {**PLAIN, **files}, **more), sources).faults


def test_a_plain_wheel_has_no_fault(tmp_path):
    found = inspect(make_wheel(tmp_path, {**PLAIN, "one.py": "", "two.abi3.so": "", "tests/a.py": ""}), [tmp_path])
    assert found == ("demo", ("demo", "one", "two"), ())


@pytest.mark.parametrize(
    ("files", "fault"),
    [
        ({"start.pth": "import os"}, "start.pth runs when Python starts"),
        ({"sitecustomize.py": ""}, "sitecustomize.py runs when Python starts"),
        ({"usercustomize/__init__.py": ""}, "usercustomize/__init__.py runs when Python starts"),
        ({"demo-1.0.data/purelib/x.pth": ""}, "x.pth runs when Python starts"),
        ({"../up.py": ""}, "../up.py leaves the folder that it is unpacked to"),
        ({"/etc/x": ""}, "/etc/x leaves the folder that it is unpacked to"),
        ({"pytest.py": ""}, "its module pytest is named like one that LRA or Python brings"),
        ({"json/__init__.py": ""}, "its module json is named like one that LRA or Python brings"),
        ({"demo-1.0.data/scripts/python": ""}, "it puts demo-1.0.data/scripts/python into the environment"),
        ({"demo-1.0.data/data/lib/x.py": ""}, "it puts demo-1.0.data/data/lib/x.py into the environment"),
    ],
)
def test_what_no_harmless_wheel_has_is_a_fault(tmp_path, files, fault):
    assert faults(tmp_path, files) == (fault,)


@pytest.mark.parametrize(
    ("points", "fault"),
    [
        ("[pytest11]\nEvil = demo.more\n", "pytest loads its plugin Evil (entry point pytest11)"),
        ("[console_scripts]\npytest = demo:main\n", "its program pytest is named like a tool"),
        ("no section\n", "its entry points cannot be read: MissingSectionHeaderError"),
    ],
)
def test_entry_points_that_a_tool_loads_are_faults(tmp_path, points, fault):
    assert faults(tmp_path, {}, **{"entry_points.txt": points}) == (fault,)


def test_an_own_program_is_no_fault(tmp_path):
    assert faults(tmp_path, {}, **{"entry_points.txt": "[console_scripts]\ndemo = demo:main\n"}) == ()


@pytest.mark.parametrize(
    ("record", "fault"),
    [
        ("", "RECORD does not name demo/more.py"),
        (f"demo/more.py,{sha256('x')},0", "RECORD says something else of demo/more.py"),
        (f"demo/more.py,{sha256('')},1", "RECORD says something else of demo/more.py"),
        ("demo/gone.py,,", "RECORD names demo/gone.py, which is not there"),
    ],
)
def test_a_record_that_is_wrong_is_a_fault(tmp_path, record, fault):
    assert fault in faults(tmp_path, {}, record=record)


def test_a_package_of_the_source_that_stays_out_is_a_fault(tmp_path):
    for name in ("demo", "demo/sub", "demo/tests", "other"):
        (tmp_path / "src" / name).mkdir(parents=True)
        (tmp_path / "src" / name / "__init__.py").touch()
    assert faults(tmp_path, {}, (tmp_path / "src",)) == ("the package demo.sub is not in it",)


def test_a_link_is_a_fault(tmp_path):
    link = zipfile.ZipInfo("demo/link")
    link.external_attr = 0o120777 << 16
    file = make_wheel(tmp_path, PLAIN)
    with zipfile.ZipFile(file, "a") as wheel:
        wheel.writestr(link, "/etc/passwd")
    assert "demo/link is a link" in inspect(file, ()).faults


def test_what_is_no_wheel_is_refused(tmp_path):
    (tmp_path / "demo-1.0-py3-none-any.whl").write_text("no archive")
    with pytest.raises(ValueError, match="is no wheel"):
        inspect(tmp_path / "demo-1.0-py3-none-any.whl", ())


def test_bytes_that_cannot_be_unpacked_are_refused(tmp_path):
    file = make_wheel(tmp_path, {"demo/x.py": "x" * 999})
    whole = file.read_bytes()
    file.write_bytes(whole[:40] + bytes(byte ^ 0xFF for byte in whole[40:60]) + whole[60:])
    with pytest.raises(ValueError, match="is no wheel"):
        inspect(file, ())


@pytest.mark.parametrize("name", ["demo.whl", "demo-x-py3-none-any.whl", "other-1.0-py3-none-any.whl"])
def test_a_name_that_is_not_its_own_is_refused(tmp_path, name):
    with pytest.raises(ValueError, match=r"Invalid wheel|has not the one folder"):
        inspect(make_wheel(tmp_path, PLAIN, name=name), ())


def test_metadata_about_something_else_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"its metadata names Demo 2\.0"):
        inspect(make_wheel(tmp_path, PLAIN, METADATA=METADATA.replace("1.0", "2.0")), ())


def test_a_wheel_that_would_fill_the_disk_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("tasks.checks.wheel.LARGEST", 10)
    with pytest.raises(ValueError, match="larger than 10 bytes"):
        inspect(make_wheel(tmp_path, PLAIN), ())


def test_a_wheel_with_two_files_of_one_name_is_refused(tmp_path):
    file = make_wheel(tmp_path, PLAIN)
    with zipfile.ZipFile(file, "a") as wheel, pytest.warns(UserWarning, match="Duplicate name"):
        wheel.writestr("demo/more.py", "other = 1")
    with pytest.raises(ValueError, match="a file twice"):
        inspect(file, ())


def test_a_second_record_deeper_in_is_no_record(tmp_path):
    assert faults(tmp_path, {}, **{"licenses/RECORD": "demo/gone.py,,"}) == ()


BACKEND = """
import os, shutil
def build_wheel(directory, config_settings=None, metadata_directory=None):
    name = "demo-1.0-py3-none-any.whl"
    {how}
    return name
"""
COPY = 'shutil.copyfile("made.whl", f"{directory}/{name}")'
LINK = 'os.symlink(os.path.abspath("made.whl"), f"{directory}/{name}")'
AWAY = 'shutil.rmtree(directory); os.symlink(os.getcwd(), directory); shutil.copyfile("made.whl", name)'
IN_TREE = b'[build-system]\nrequires = []\nbuild-backend = "own"\nbackend-path = ["."]\n'


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("home")


@pytest.fixture
def built(tmp_path, home):
    """Measure a repository whose own backend gives out a wheel of these files."""
    subprocess.run(["git", "init", "--quiet", "--bare", tmp_path / "store"], check=True)
    trees = Trees(tmp_path / "store")

    def run(files, how=COPY, **texts):
        made = make_wheel(tmp_path, files, **texts).read_bytes()
        backend = BACKEND.format(how=how).encode()
        own = {"pyproject.toml": IN_TREE, "own.py": backend, "made.whl": made, "build/__main__.py": b"print('ok')"}
        return measure(trees, trees.from_files(own), Plan(suites=("build",), seconds=60), home)

    yield run
    trees.close()


def test_a_wheel_is_built_whatever_stands_in_the_way(built):
    (check,) = built(PLAIN).suites
    assert check.cases == {"build": "passed", "demo::distribution": "passed", "demo::wheel": "passed"}
    assert (check.green, check.diagnostics, check.trouble) == (True, {}, None)


def test_programs_of_the_backend_are_found(built):
    (check,) = built(PLAIN, f"import sys; assert shutil.which('python') == sys.executable; {COPY}").suites
    assert check.green, check.details


@pytest.mark.parametrize("how", [LINK, AWAY], ids=["link", "folder"])
def test_a_wheel_that_lies_elsewhere_is_red(built, how):
    assert built(PLAIN, how).suites[0].cases == {"build": "failed"}


def kinds(base, candidate):
    return [reason.kind for reason in judge(base, candidate).reasons if reason.kind != "unverified"]


def test_a_new_plugin_of_pytest_is_refused_and_an_old_one_is_not(built):
    plain, plugin = built(PLAIN), built(PLAIN, **{"entry_points.txt": "[pytest11]\ndemo = demo.more\n"})
    assert kinds(plain, plugin) == ["new_build"]
    assert kinds(plugin, built({**PLAIN, "new.py": ""}, **{"entry_points.txt": "[pytest11]\ndemo = demo\n"})) == []


def test_a_module_that_is_lost_is_refused(built):
    assert kinds(built({**PLAIN, "one.py": ""}), built(PLAIN)) == ["pass_to_pass"]
    assert kinds(built(PLAIN), built({"demo.py": ""})) == []
