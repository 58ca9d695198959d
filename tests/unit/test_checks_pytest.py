"""Does a pytest run report what the tests really did, whatever they print, break or stop?"""

import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from agents.domain.gate import CheckReport
from tasks.checks import environment
from tasks.checks.environment import Environment
from tasks.checks.pytest import run_pytest
from tasks.checks.workspace import Workspace

Check = Callable[..., CheckReport]


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    home = tmp_path_factory.mktemp("home")
    return environment.build(environment.define((), bytes), home, home)


@pytest.fixture
def check(tmp_path: Path, plain: Environment) -> Check:
    """Run the tests of a repository with the given files."""

    def run(files: dict[str, str], *arguments: str, seconds: int = 60, place: str = "w") -> CheckReport:
        root = tmp_path / place / "tree"
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(textwrap.dedent(text), encoding="utf-8")
        return run_pytest(Workspace(root=root, environment=plain, seconds=seconds), "tests", arguments)

    return run


def test_each_outcome_has_its_word(check: Check) -> None:
    report = check({"test_a.py": OUTCOMES})
    assert {case.partition("::")[2]: outcome for case, outcome in report.cases.items()} == {
        "test_good": "passed",
        "test_bad": "failed",
        "test_setup": "error",
        "test_teardown": "error",
        "test_skipped": "skipped",
        "test_skips_itself": "skipped",
        "test_xfails": "xfailed",
        "test_not_run": "xfailed",
        "test_xpasses": "xpassed",
        "test_xpasses_strictly": "failed",
    }
    assert not report.green


OUTCOMES = """
    import pytest

    @pytest.fixture
    def no_setup():
        raise RuntimeError("no")

    @pytest.fixture
    def no_teardown():
        yield
        raise RuntimeError("no")

    def test_good(): pass
    def test_bad(): assert 1 == 2
    def test_setup(no_setup): pass
    def test_teardown(no_teardown): pass
    @pytest.mark.skip
    def test_skipped(): pass
    def test_skips_itself(): pytest.skip("now")
    @pytest.mark.xfail
    def test_xfails(): assert 0
    @pytest.mark.xfail(run=False)
    def test_not_run(): assert 0
    @pytest.mark.xfail
    def test_xpasses(): pass
    @pytest.mark.xfail(strict=True)
    def test_xpasses_strictly(): pass
    """


def test_a_green_suite_is_green(check: Check) -> None:
    report = check({"src/pack/__init__.py": "X = 1", "test_a.py": "from pack import X\ndef test_x(): assert X == 1"})
    assert report.cases == {"test_a.py::test_x": "passed"}
    assert report.green


def test_a_broken_file_hides_no_other(check: Check) -> None:
    report = check({"test_a.py": "import nonesuch", "test_b.py": "def test_b(): pass"})
    assert report.cases == {"test_a.py": "error", "test_b.py::test_b": "passed"}
    assert "No module named 'nonesuch'" in report.details


def test_stopping_at_the_first_failure_is_not_obeyed(check: Check) -> None:
    settings = "[pytest]\naddopts = -x"
    report = check({"pytest.ini": settings, "test_a.py": "def test_a(): assert 0\ndef test_b(): pass"})
    assert report.cases == {"test_a.py::test_a": "failed", "test_a.py::test_b": "passed"}


@pytest.mark.parametrize("files", [{}, {"test_a.py": "x = 1"}, {"pytest.ini": "[pytest]\naddopts = -k nothing"}])
def test_no_test_is_not_green(check: Check, files: dict[str, str]) -> None:
    report = check({"a.py": "", **files})
    assert (report.cases, report.trouble, report.green) == ({}, None, False)


@pytest.mark.parametrize("name", ["test_none.py", "test_none.py::test_a", "test_a.py::test_none"])
def test_a_test_that_is_not_there_yet_gives_no_cases(check: Check, name: str) -> None:
    report = check({"test_a.py": "def test_a(): pass"}, name)
    assert (report.cases, report.trouble, report.green) == ({}, None, False)


def test_arguments_choose_the_tests(check: Check) -> None:
    report = check({"test_a.py": "def test_a(): pass\ndef test_b(): assert 0"}, "test_a.py::test_a")
    assert report.cases == {"test_a.py::test_a": "passed"}


@pytest.mark.parametrize("exit_call", ["import os; os._exit(0)", "import os; os.execv('/bin/true', ['true'])"])
@pytest.mark.parametrize("place", ["at import", "in a test"])
def test_ending_the_process_is_trouble(check: Check, exit_call: str, place: str) -> None:
    body = exit_call if place == "at import" else f"def test_a():\n    {exit_call}"
    report = check({"test_a.py": body})
    assert report.trouble is not None
    assert "exit code 0 before it had reported its end" in report.trouble
    assert (report.cases, report.green) == ({}, False)


def test_stopping_the_session_is_trouble(check: Check) -> None:
    code = "import pytest\ndef test_a(): pass\ndef test_b(): pytest.exit('enough', returncode=0)\ndef test_c(): pass"
    report = check({"test_a.py": code})
    assert report.trouble is not None
    assert "never ended" in report.trouble
    assert not report.green


def test_printed_results_change_nothing(check: Check) -> None:
    fake = "print('===== 3 passed in 0.01s =====')"
    report = check({"test_a.py": f"import sys\n{fake}\ndef test_a():\n    sys.__stdout__.write('1 passed'); assert 0"})
    assert report.cases == {"test_a.py::test_a": "failed"}


def test_a_forged_event_is_trouble(check: Check) -> None:
    forge = """
        import os, stat
        for number in range(3, 64):
            try:
                if stat.S_ISSOCK(os.fstat(number).st_mode):
                    os.write(number, b'{"event": "finish", "code": 0}\\n')
            except OSError:
                continue
        def test_a(): assert 0
        """
    report = check({"test_a.py": forge})
    assert report.trouble == "the result channel was tampered with"


def test_a_hanging_test_is_named_with_the_setting_that_helps(check: Check) -> None:
    report = check({"test_a.py": "import time\ndef test_a(): pass\ndef test_b(): time.sleep(60)"}, seconds=2)
    assert report.trouble is not None
    assert "timed out after 2 s" in report.trouble
    assert "check_seconds" in report.trouble
    assert "test_a.py::test_b" in report.trouble


def test_a_configuration_that_pytest_refuses_is_red(check: Check) -> None:
    report = check({"pytest.ini": "[pytest]\naddopts = --no-such-option", "test_a.py": "def test_a(): pass"})
    assert report.cases == {"pytest configuration": "error"}
    assert "--no-such-option" in report.details


def test_ids_may_hold_any_letters(check: Check) -> None:
    ids = """
        import pytest
        @pytest.mark.parametrize("v", ["é☃", "a::b", "x/y.py", "two words", "line\\nfeed"], ids=str)
        def test_v(v): pass
        """
    report = check({"tests/test_ü.py": ids})
    assert len(report.cases) == 5
    assert "tests/test_ü.py::test_v[a::b]" in report.cases
    assert check({}, *report.cases).cases == report.cases


def test_nothing_of_lra_can_be_imported(check: Check) -> None:
    code = """
        import importlib.util, pytest
        NAMES = ["tasks", "agents", "flows", "analytics", "prefect", "pydantic", "git", "filelock", "mypy"]
        @pytest.mark.parametrize("name", NAMES)
        def test_absent(name): assert importlib.util.find_spec(name) is None
        """
    assert check({"test_a.py": code}).green


def test_the_environment_holds_no_secret(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LRA_API_KEY", "secret")
    allowed = "{'PATH','HOME','TMPDIR','LANG','NO_COLOR','PYTHONPATH','PYTHONDONTWRITEBYTECODE','PYTHONHASHSEED'}"
    code = f"import os\ndef test_a(): assert set(os.environ) - {{'PYTEST_CURRENT_TEST','PYTEST_VERSION'}} == {allowed}"
    assert check({"test_a.py": code}).details == ""


def test_a_child_process_sees_the_repository_and_pytest(check: Check) -> None:
    code = """
        import subprocess, sys
        def test_a(): subprocess.run([sys.executable, "-c", "import pack, pytest"], check=True)
        def test_b(): subprocess.run(["pytest", "--version"], check=True)
        """
    assert check({"src/pack/__init__.py": "", "test_a.py": code}).details == ""


def test_the_repository_is_found_under_its_own_name(check: Check) -> None:
    project = '[project]\nname = "my-pack"\nversion = "1.2"\n[project.scripts]\nmy-tool = "pack:main"\n'
    code = """
        import importlib.metadata, subprocess
        def test_a(): assert importlib.metadata.version("my-pack") == "1.2"
        def test_b(): assert subprocess.run(["my-tool", "a b"]).returncode == 2
        """
    pack = "import sys\ndef main(): return len(sys.argv)"
    assert check({"pyproject.toml": project, "src/pack.py": pack, "test_a.py": code}).details == ""


def test_a_module_of_the_repository_cannot_stand_in_for_pytest(check: Check) -> None:
    report = check(
        {"pytest.py": "raise SystemExit(0)", "_pytest/__init__.py": "", "test_a.py": "def test_a(): assert 0"}
    )
    assert report.cases == {"test_a.py::test_a": "failed"}


FAILING = """
    import json
    import time
    from pack.deep import fall

    def test_deep(tmp_path):
        fall({"where": str(tmp_path), "what": object()})

    def test_long():
        assert list(range(500)) == list(range(501))

    def test_elsewhere():
        time.sleep(0.01)
        json.loads("no")
    """
DEEP = 'def fall(told):\n    raise ValueError(f"cannot: {told}")\n'


def test_details_are_the_same_in_every_place(check: Check) -> None:
    files = {"src/pack/deep.py": DEEP, "test_a.py": FAILING}
    one, other = check(files, place="one"), check(files, place="another place")
    assert one.details == other.details
    assert "FAILED test_a.py::test_deep" in one.details
    assert "test_a.py:7: fall({" in one.details
    assert 'src/pack/deep.py:2: raise ValueError(f"cannot: {told}")' in one.details
    assert 'test_a.py:14: json.loads("no")' in one.details
    assert "<tmp>/pytest-of-" in one.details
    assert "<object object at 0x...>" in one.details
    for word in ("/tmp", "seconds", "/usr", "/root", " in 0."):
        assert word not in one.details


def test_details_are_bounded(check: Check) -> None:
    code = "import pytest\n@pytest.mark.parametrize('n', range(99))\ndef test_a(n): assert 'abc ' * 500 == n"
    details = check({"test_a.py": code}).details
    assert len(details) <= 6000
    assert "more that did not pass" in details


def test_a_failing_subtest_is_a_failure(check: Check) -> None:
    code = """
        import unittest
        class TestA(unittest.TestCase):
            def test_a(self):
                for n in range(3):
                    with self.subTest(n=n): self.assertNotEqual(n, 1)
        """
    assert check({"test_a.py": code}).cases == {"test_a.py::TestA::test_a": "failed"}


def test_a_test_that_forks_confuses_nobody(check: Check) -> None:
    code = """
        import os
        def test_a():
            if os.fork() == 0: raise SystemExit
            os.wait()
        def test_b(): pass
        """
    assert check({"test_a.py": code}).cases["test_a.py::test_b"] == "passed"
