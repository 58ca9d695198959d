"""Does a pytest run report what the tests really did, whatever they print, break or stop?"""

import re
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from agents.domain.reports import CheckReport
from tasks.checks import environment, sandbox
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

    def run(
        files: dict[str, str],
        *arguments: str,
        seconds: int = 60,
        place: str = "w",
        seed: int | None = None,
        own: bool = False,
    ) -> CheckReport:
        root = tmp_path / place / "tree"
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(textwrap.dedent(text), encoding="utf-8")
        # LRA's own interpreter has plugins that a plain environment has not.
        made = plain._replace(python=Path(sys.executable)) if own else plain
        return run_pytest(Workspace(root=root, environment=made, seconds=seconds), "tests", arguments, seed=seed)

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


RED = "def test_a(): assert 1 == 2\n\n\ndef test_b(): pass\n"
UNITTEST = """
    import unittest
    class TestA(unittest.TestCase):
        def test_a(self): self.assertEqual(1, 2)
        def test_b(self): pass
    """
REPORT = """
    import pytest
    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(item, call):
        made = yield
        made.get_result().outcome = "passed"
    """
LISTEN = """
    import pytest
    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(report): report.outcome = "passed"
    """
SWALLOW = """
    import pytest
    @pytest.fixture(autouse=True)
    def swallow(request):
        whole = request.node.obj
        def quiet(*args, **kwargs):
            try: whole(*args, **kwargs)
            except BaseException: pass
        request.node.obj = quiet
    """
PROTOCOL = """
    import pytest
    from _pytest.reports import TestReport
    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(item):
        for when in ("setup", "call", "teardown"):
            made = TestReport(item.nodeid, item.location, {}, "passed", None, when)
            item.ihook.pytest_runtest_logreport(report=made)
        return True
    """
SKIP = """
    import pytest
    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(item, call):
        made = (yield).get_result()
        if made.failed: made.outcome, made.longrepr = "skipped", ("a", 1, "b")
    """
PATCH = """
    import _pytest.runner
    whole = _pytest.runner.CallInfo.from_call.__func__
    def quiet(cls, func, when, reraise=None):
        made = whole(cls, func, when, reraise)
        made.excinfo = None
        return made
    _pytest.runner.CallInfo.from_call = classmethod(quiet)
    """
LATE = """
    import pytest
    @pytest.hookimpl(tryfirst=True, hookwrapper=True)
    def pytest_collection_finish(session):
        yield
        session.items[:] = session.items[-1:]
    """
MARKED = """
    import pytest
    def pytest_collection_modifyitems(items):
        for item in items: item.add_marker(pytest.mark.incremental)
    def pytest_pyfunc_call(pyfuncitem): return True
    """


@pytest.mark.parametrize("conftest", [REPORT, LISTEN, SWALLOW, PROTOCOL, SKIP])
@pytest.mark.parametrize("tests", [RED, UNITTEST])
def test_a_conftest_that_makes_all_pass_is_tampering(check: Check, conftest: str, tests: str) -> None:
    report = check({"conftest.py": conftest, "test_a.py": tests})
    assert report.trouble is not None
    assert report.trouble.startswith("the test run was tampered with: a planted test")
    assert report.cases == {}


def test_a_patched_pytest_is_tampering(check: Check) -> None:
    trouble = check({"conftest.py": PATCH, "test_a.py": RED}).trouble
    assert trouble == "the test run was tampered with: a planted test that fails was reported as passed"


def test_who_takes_tests_away_late_is_found_out(check: Check) -> None:
    assert check({"conftest.py": LATE, "test_a.py": RED}).trouble is not None


@pytest.mark.parametrize("patch", ["pytest.Function.runtest = lambda self: None", "def pytest_pyfunc_call(): return 1"])
def test_a_call_that_never_happens_is_tampering(check: Check, patch: str) -> None:
    report = check({"tests/conftest.py": f"import pytest\n{patch}", "tests/test_a.py": RED})
    assert report.trouble is not None
    assert "a planted test that fails was reported as passed" in report.trouble


def test_marks_that_no_planted_test_may_stand_beside_help_no_cheat(check: Check) -> None:
    trouble = check({"conftest.py": MARKED, "test_a.py": RED}).trouble
    assert trouble is not None
    assert "a planted test that fails was reported as passed" in trouble


def test_what_is_planted_stays_out_of_sight(check: Check) -> None:
    files = {"test_a.py": RED, "test_b.py": UNITTEST}
    report = check(files)
    assert list(report.cases) == [f"test_{x}.py::{y}" for x, y in (("a", "test_a"), ("a", "test_b"))] + [
        "test_b.py::TestA::test_a",
        "test_b.py::TestA::test_b",
    ]
    assert report.details == check(files, place="again").details
    late = check({"test_a.py": RED + "def test_c():\n    import time; time.sleep(9)\n"}, seconds=3, place="late")
    assert late.trouble is not None
    assert late.details.count("test_a_") == late.details.count("test_b_") == 0


HONEST = {
    "incremental": """
        import pytest
        def pytest_runtest_makereport(item, call):
            if "incremental" in item.keywords and call.excinfo is not None: item.parent.failed = item
        def pytest_runtest_setup(item):
            if getattr(item.parent, "failed", None): pytest.xfail("one before it failed")
        """,
    "broken fixture": "import pytest\n@pytest.fixture(autouse=True, scope='session')\ndef f(): 1 / 0",
    "skipping fixture": "import pytest\n@pytest.fixture(autouse=True)\ndef f(): pytest.skip('no network')",
    "class fixture": "import pytest\n@pytest.fixture(autouse=True)\ndef f(request): assert request.cls.N == 1",
    "other names": "def pytest_pycollect_makeitem(name): return [] if '_' in name and name != 'test_a' else None",
}
MODULE = """
    import pytest
    @pytest.mark.incremental
    class TestA:
        N = 1
        def test_a(self): pass
    """


@pytest.mark.parametrize(
    ("kind", "outcome"), [*zip(HONEST, ["passed", "error", "skipped", "passed", "passed"], strict=True)]
)
def test_honest_hooks_and_fixtures_are_left_in_peace(check: Check, kind: str, outcome: str) -> None:
    settings = "[pytest]\naddopts = --strict-markers -W error --ff --stepwise\nmarkers = incremental"
    report = check({"pytest.ini": settings, "conftest.py": HONEST[kind], "test_a.py": MODULE})
    assert (report.trouble, report.cases) == (None, {"test_a.py::TestA::test_a": outcome})


def test_the_last_test_still_bears_what_breaks_at_the_end_of_its_module(check: Check) -> None:
    fixture = "import pytest\n@pytest.fixture(autouse=True, scope='module')\ndef f():\n    yield\n    1 / 0\n"
    report = check({"test_a.py": fixture + "def test_a(): pass\ndef test_b(): pass"})
    assert report.cases == {"test_a.py::test_a": "passed", "test_a.py::test_b": "error"}


@pytest.mark.parametrize("workers", ["-n 2", "-n 0 -p no:cacheprovider"])
def test_workers_that_share_the_tests_plant_as_well(check: Check, workers: str) -> None:
    settings = f"[pytest]\naddopts = {workers}"
    report = check({"pytest.ini": settings, "test_a.py": RED, "test_b.py": UNITTEST}, own=True)
    assert report.trouble is None
    assert sorted(report.cases.values()) == ["failed", "failed", "passed", "passed"]
    cheat = check({"conftest.py": REPORT}, own=True)
    assert "a planted test that fails was reported as passed" in (cheat.trouble or "")


def test_no_doctest_is_a_place_to_plant(check: Check) -> None:
    report = check({"a.py": 'def f():\n    """\n    >>> 1\n    1\n    """'}, "--doctest-modules")
    assert report.cases == {"a.py::a.f": "passed"}


def test_the_running_test_has_no_name_that_code_can_see(check: Check) -> None:
    code = """
        import os, subprocess, sys
        ASK = "import os; print(os.environ['PYTEST_CURRENT_TEST'])"
        def test_zebra():
            below = subprocess.check_output([sys.executable, "-c", ASK], text=True).strip()
            assert os.environ["PYTEST_CURRENT_TEST"] == below
            assert below.endswith(" (call)")
            assert "zebra" not in below
        """
    assert check({"test_zoo.py": code}).details == ""


def test_an_empty_parameter_set_tests_nothing(check: Check) -> None:
    code = "import pytest\n@pytest.mark.parametrize('n', [])\ndef test_a(n): pass\ndef test_b(): pass"
    report = check({"test_a.py": code})
    assert report.cases == {"test_a.py::test_a[NOTSET]": "error", "test_a.py::test_b": "passed"}
    assert "parameter set is empty" in report.details


@pytest.mark.parametrize("last", ["pass", "pytest.xfail('x')", "assert 0"])
def test_one_id_for_several_tests_has_the_worst_of_their_outcomes(check: Check, last: str) -> None:
    conftest = "def pytest_collection_modifyitems(items): items[:] = items * 2"
    code = f"import pytest\nN = []\ndef test_a():\n    N.append(1)\n    if len(N) < 2: {last}"
    worst = {"pass": "passed", "assert 0": "failed"}.get(last, "xfailed")
    assert check({"conftest.py": conftest, "test_a.py": code}).cases == {"test_a.py::test_a": worst}


def test_a_result_that_is_told_twice_is_tampering(check: Check) -> None:
    twice = """
        def pytest_runtest_logreport(report):
            if not hasattr(report, "told") and "test_b" in report.nodeid:
                report.told = True
                CONFIG[0].hook.pytest_runtest_logreport(report=report)
        CONFIG = []
        def pytest_configure(config): CONFIG.append(config)
        """
    trouble = check({"conftest.py": twice, "test_a.py": RED}).trouble
    assert trouble is not None
    assert re.search(r"test_a.py::test_b\w* was not reported exactly once in each phase", trouble)


def test_a_committed_cache_chooses_no_tests(check: Check) -> None:
    cache = {".pytest_cache/v/cache/lastfailed": '{"test_a.py::test_b": true}'}
    report = check({**cache, "pytest.ini": "[pytest]\naddopts = --lf", "test_a.py": RED})
    assert len(report.cases) == 2


MANY = "import pytest\n" + "".join(f"def test_{letter}(): pass\n" for letter in "abcdefgh")
PARAMETERS = "@pytest.mark.parametrize('n', range(3))\ndef test_z(n): pass\n"


def test_a_seed_gives_another_order_and_other_hashes(check: Check) -> None:
    files = {"test_a.py": MANY + PARAMETERS, "test_b.py": MANY}
    plain, one, same, other = (list(check(files, seed=seed).cases) for seed in (None, 1, 1, 2))
    assert plain == sorted(plain)
    assert one == same
    assert len({tuple(plain), tuple(one), tuple(other)}) == 3
    first = one.index("test_a.py::test_z[0]")
    assert one[first : first + 3] == [f"test_a.py::test_z[{n}]" for n in range(3)]
    assert len({case.partition("::")[0] for case in one[:8]}) == 1
    code = "import os\ndef test_h(): assert os.environ['PYTHONHASHSEED'] == '7'"
    assert check({"test_h.py": code}, "test_h.py", seed=7).green


@pytest.mark.parametrize("mark", ["order(1)", "incremental"])
def test_tests_that_are_marked_as_ordered_keep_their_order(check: Check, mark: str) -> None:
    code = f"{MANY}pytestmark = pytest.mark.{mark}\n"
    assert list(check({"test_a.py": code}, seed=1).cases) == [f"test_a.py::test_{letter}" for letter in "abcdefgh"]


WAYS_OUT = [
    "os._exit(0)",
    "os.execv('/bin/true', ['true'])",
    "pytest.exit('done', returncode=0)",
    "os.kill(os.getpid(), 9)",
    "os.closerange(3, 256)",
    "os.fork() and os._exit(0)",
    "raise KeyboardInterrupt",
    "threading.Timer(0, os._exit, [0]).start(); time.sleep(1)",
    "[os.write(n, b'{}') for n in range(3, 64) if is_socket(n)]",
    "[os.dup2(os.open('/dev/null', 2), n) for n in range(3, 64) if is_socket(n)]",
]
IS_SOCKET = """import os, pytest, stat, threading, time
def is_socket(n):
    try: return stat.S_ISSOCK(os.fstat(n).st_mode)
    except OSError: return False
"""


@pytest.mark.parametrize("way", WAYS_OUT)
def test_no_way_out_of_a_test_is_green(check: Check, way: str) -> None:
    report = check({"test_a.py": f"{IS_SOCKET}def test_a():\n    {way}\ndef test_b(): assert 0\n"}, "test_a.py")
    assert report.trouble is not None
    assert not report.green


@pytest.mark.parametrize("raised", ["sys.exit(0)", "raise BaseException", "raise GeneratorExit", "raise StopIteration"])
def test_what_a_test_raises_is_a_failure(check: Check, raised: str) -> None:
    report = check({"test_a.py": f"import sys\ndef test_a(): {raised}\ndef test_b(): pass"})
    assert report.cases == {"test_a.py::test_a": "failed", "test_a.py::test_b": "passed"}


def test_a_fork_in_which_both_go_on_is_told_once(check: Check) -> None:
    report = check({"test_a.py": "import os\ndef test_a(): os.fork()\ndef test_b(): assert 0"})
    assert not report.green
    assert report.trouble is not None or report.cases["test_a.py::test_b"] == "failed"


def test_the_start_of_the_process_cannot_be_killed_from_within(check: Check) -> None:
    if sandbox.describe() != sandbox.ISOLATED:
        pytest.skip("without namespaces the parent is this very process")
    report = check({"test_a.py": "import os\ndef test_a(): os.kill(os.getppid(), 9)\ndef test_b(): assert 0"})
    assert not report.green


VANISHING = """
    import sys

    sys.modules["test_a"].__dict__.pop("test_two", None)
"""


def test_a_test_that_the_file_has_and_pytest_does_not_find_is_an_error(check: Check) -> None:
    tests = "def test_one(): ...\ndef test_two(): ...\nimport quiet\n"
    report = check({"test_a.py": tests, "quiet.py": VANISHING}, "test_a.py")
    assert report.cases == {"test_a.py::test_one": "passed", "test_a.py::test_two": "error"}
    assert not report.green


def test_a_test_that_was_not_chosen_is_not_missed(check: Check) -> None:
    tests = {"test_a.py": "def test_one(): ...\ndef test_two(): ...\n"}
    assert check(tests, "test_a.py", "-k", "one").green
    assert check({**tests, "pytest.ini": "[pytest]\naddopts = -k two\n"}, "test_a.py", place="x").green
    assert check({**tests, "pytest.ini": "[pytest]\npython_functions = *_two\n"}, "test_a.py", place="y").green


@pytest.mark.parametrize("name", ["iniconfig", "packaging", "pluggy", "pygments"])
def test_a_library_that_pytest_needs_is_tested_by_its_own_code(check: Check, name: str) -> None:
    tests = f"import {name}\ndef test_own(): assert {name}.WORD == 'own'\n"
    needed = {f"src/{name}/_compat.py": "DistFacade = object\n", "test_a.py": tests}
    assert check({f"src/{name}/__init__.py": "WORD = 'own'\n", **needed}).green
    assert not check({f"src/{name}/__init__.py": "WORD = 'other'\n", **needed}, place="x").green
