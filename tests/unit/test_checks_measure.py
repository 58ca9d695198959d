"""Is a tree measured by every check of the plan, once, and never taken for good when a check could not run?"""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from agents.domain.errors import AskAgain, Misconfigured
from agents.domain.gate import judge
from agents.domain.reports import CheckReport, Report
from tasks.checks import measure as room
from tasks.checks.command import argv_of, run_in
from tasks.checks.detect import detect
from tasks.checks.measure import Plan, environment_of, measure, remeasure
from tasks.git.trees import Trees

Measured = Callable[..., Report]
RED_LINT = {"ruff.toml": "", "a.py": "import os\n"}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture
def trees(tmp_path: Path) -> Trees:
    subprocess.run(["git", "init", "--quiet", "--bare", tmp_path / "store"], check=True)
    return Trees(tmp_path / "store")


@pytest.fixture
def measured(trees: Trees, home: Path) -> Measured:
    def run(files: dict[str, str], *suites: str, accept: tuple[str, ...] = (), seconds: int = 60) -> Report:
        tree = trees.from_files({name: text.encode() for name, text in files.items()})
        return measure(trees, tree, Plan(suites=suites, acceptance=accept, seconds=seconds), home)

    return run


def only(report: Report) -> CheckReport:
    (check,) = report.suites
    return check


def test_diagnostics_carry_no_line_and_no_path(measured: Measured) -> None:
    one = only(measured(RED_LINT, "lint"))
    moved = only(measured({"ruff.toml": "", "b/c.py": "\n\nimport os\n"}, "lint"))
    assert one.diagnostics == moved.diagnostics == {"F401: `os` imported but unused": 1}
    assert one.details == "a.py:1: F401 `os` imported but unused"


def test_what_the_repository_excludes_stays_excluded(measured: Measured) -> None:
    assert only(measured({**RED_LINT, "ruff.toml": 'extend-exclude = ["a.py"]'}, "lint")).green


def test_a_broken_ruff_configuration_is_trouble(measured: Measured) -> None:
    check = only(measured({"ruff.toml": "nonsense = 1", "a.py": ""}, "lint"))
    assert check.trouble is not None
    assert "nonsense" in check.details


def test_syntax_errors_are_diagnostics(measured: Measured) -> None:
    report = measured({"pack/__init__.py": "def f(:\n"}, "lint", "types")
    assert not any(check.green or check.trouble for check in report.suites)


def test_types_are_counted(measured: Measured) -> None:
    files = {
        "mypy.ini": "[mypy]\nfiles = src\n",
        "src/a.py": "",
        "src/b.py": "import a\nX: str = 1\n\n\ndef f(): a.g()\n",
    }
    check = only(measured(files, "types"))
    assert [text.partition(":")[0] for text in check.diagnostics] == ["assignment"]
    assert check.details.startswith("src/b.py:2: ")


def test_types_of_a_src_layout_are_found_from_its_tests(measured: Measured) -> None:
    files = {"mypy.ini": "[mypy]\nfiles = tests\n", "src/pack/__init__.py": "X = 1", "tests/test_a.py": "import pack"}
    assert only(measured(files, "types")).green


def test_nothing_to_type_check_is_trouble(measured: Measured) -> None:
    assert only(measured({"README.md": ""}, "types")).trouble is not None


IN_TREE = '[build-system]\nrequires = []\nbuild-backend = "own"\nbackend-path = ["."]\n'


def test_a_build_without_a_wheel_is_red(measured: Measured) -> None:
    files = {"pyproject.toml": IN_TREE, "own.py": "def build_wheel(*_): raise SystemExit(0)"}
    check = only(measured(files, "build"))
    assert (check.cases, check.trouble) == ({"build": "failed"}, None)


def test_a_backend_that_cannot_be_had_is_trouble(measured: Measured) -> None:
    check = only(measured({"pyproject.toml": '[build-system]\nrequires = ["./none-1.0-py3-none-any.whl"]\n'}, "build"))
    assert check.trouble == "the build backend cannot be had"


@pytest.mark.parametrize(
    ("command", "outcome"), [("python a.py", "passed"), ("./no-such", "failed"), ("sh -c 'exit 3'", "failed")]
)
def test_a_command_is_one_case(measured: Measured, command: str, outcome: str) -> None:
    assert only(measured({"a.py": "import a"}, command)).cases == {command: outcome}


def test_a_program_that_is_not_on_the_machine_is_trouble(measured: Measured) -> None:
    assert "no program no-such-program" in (only(measured({}, "no-such-program now")).trouble or "")


def test_a_command_that_hangs_is_trouble(measured: Measured) -> None:
    assert "check_seconds" in (only(measured({}, "sleep 60", seconds=1)).trouble or "")


def test_what_only_a_shell_can_do_is_left_to_one() -> None:
    assert argv_of("python -m tool 'two words'") == ("python", "-m", "tool", "two words")
    assert argv_of("a | b") == ("sh", "-c", "a | b")
    assert argv_of("X=1 a") == ("sh", "-c", "X=1 a")
    assert argv_of("it's") == ("sh", "-c", "it's")


def test_one_check_does_not_influence_the_next(measured: Measured) -> None:
    report = measured(
        {"a.txt": ""},
        "rm a.txt; touch b.txt; echo >$HOME/c; echo >$TMPDIR/d",
        "test -e a.txt -a ! -e b.txt",
        "cat $HOME/c || cat $TMPDIR/d",
    )
    assert [next(iter(check.cases.values())) for check in report.suites] == ["passed", "passed", "failed"]


def test_an_equal_measurement_is_not_run_again(measured: Measured, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"a.txt": "not run again"}
    first = measured(files, "cat a.txt")
    monkeypatch.setattr(room, "_check", lambda *_: pytest.fail("it ran again"))
    assert measured(files, "cat a.txt") == first


@pytest.mark.parametrize("damage", ["", "{", '{"tree": "other"}'])
def test_a_damaged_report_is_made_anew(measured: Measured, home: Path, damage: str) -> None:
    first = measured({"a.txt": damage}, "cat a.txt")
    for kept in (home / "reports").iterdir():
        kept.write_text(damage)
    assert measured({"a.txt": damage}, "cat a.txt").suites[0].cases == first.suites[0].cases


def test_trouble_is_not_kept(measured: Measured, home: Path) -> None:
    before = len(list((home / "reports").iterdir()))
    assert measured({}, "no-such-program").trouble
    assert len(list((home / "reports").iterdir())) == before


FLAKY = """
import pytest, random
@pytest.mark.parametrize("n", range(40))
def test_moody(n): assert random.random() < 0.5
def test_steady(): pass
"""


def test_tests_that_differ_between_runs_are_flaky(measured: Measured, trees: Trees, home: Path) -> None:
    report = measured({"test_a.py": FLAKY}, "tests")
    again = remeasure(trees, report, Plan(seconds=60), home, tuple(only(report).cases), times=1)
    assert again.suites[0].flaky
    assert "test_a.py::test_steady" not in again.suites[0].flaky
    assert not again.suites[0].green


def test_only_the_named_tests_run_again(measured: Measured, trees: Trees, home: Path) -> None:
    report = measured({"test_a.py": "def test_a(): assert 0\ndef test_b(): pass"}, "tests")
    assert remeasure(trees, report, Plan(suites=("tests",), seconds=60), home, ("test_a.py::test_a",)) == report
    assert remeasure(trees, report, Plan(suites=("tests",), seconds=60), home, ("test_z.py::test_a",)) == report


def test_a_real_change_passes_the_gate_and_a_broken_one_does_not(measured: Measured) -> None:
    files = {"a.py": "def add(x, y): return 0\ndef one(): return 1\n", "tests/test_a.py": TESTS}
    accept = ("pytest tests/test_a.py::test_add",)
    base = measured(files, "tests", accept=accept)
    good = measured({**files, "a.py": "def add(x, y): return x + y\ndef one(): return 1\n"}, "tests", accept=accept)
    bad = measured({**files, "a.py": "def add(x, y): return x + y\ndef one(): return 2\n"}, "tests", accept=accept)
    assert judge(base, good).decision == "pass"
    assert judge(base, bad).pass_to_pass_broken == ("tests/test_a.py::test_one",)


TESTS = "import a\ndef test_add(): assert a.add(1, 2) == 3\ndef test_one(): assert a.one() == 1\n"


def test_a_move_leaves_a_new_tree_and_plain_text(trees: Trees, home: Path) -> None:
    tree = trees.from_files({"a.txt": b"1"})
    ran, after = run_in(trees, tree, "pwd; echo 2 > a.txt; exit 4", environment_of(trees, tree, home), home, 20)
    assert (ran.exit, ran.output) == (4, ".")
    assert trees.read(after, "a.txt") == b"2\n"


def test_a_move_that_is_stopped_changes_nothing(trees: Trees, home: Path) -> None:
    tree = trees.from_files({"a.txt": b"1"})
    ran, after = run_in(trees, tree, "echo 2 > a.txt; sleep 60", environment_of(trees, tree, home), home, 1)
    assert (ran.timed_out, after) == (True, tree)


@pytest.mark.parametrize(
    ("files", "suites"),
    [
        ({"a.py": ""}, ()),
        ({"tests/test_a.py": ""}, ("tests",)),
        ({"a.py": "", "pytest.ini": ""}, ("tests",)),
        ({"pyproject.toml": "[tool.ruff]\n[tool.mypy]\n"}, ("lint", "types")),
        ({"setup.cfg": "[mypy]\n[tool:pytest]\n", "a.py": "", ".ruff.toml": ""}, ("tests", "lint", "types")),
        ({"pyproject.toml": '[build-system]\nrequires = ["hatchling"]'}, ()),
        ({"pyproject.toml": IN_TREE}, ("build",)),
        ({"package.json": '{"scripts": {"test": "node --test"}}'}, ("npm test",)),
        (
            {"package.json": '{"scripts": {"test": "node --test --test-reporter-destination=r/j.xml"}}'},
            ("npm test => r/j.xml",),
        ),
        ({"package.json": '{"scripts": {"test": "echo \\"Error: no test specified\\" && exit 1"}}'}, ()),
        ({"package.json": "broken"}, ()),
    ],
)
def test_what_a_repository_configures_is_seen(files: dict[str, str], suites: tuple[str, ...]) -> None:
    assert detect(files, lambda path: files[path].encode()) == suites


def test_who_asks_for_an_environment_that_cannot_be_made_is_asked_again(trees: Trees, home: Path) -> None:
    base, odd = (trees.from_files({"requirements.txt": text}) for text in (b"", b"-r gone.txt\n"))
    with pytest.raises(AskAgain, match="cannot be made"):
        environment_of(trees, odd, home, base)
    with pytest.raises(Misconfigured):
        environment_of(trees, odd, home, odd)
