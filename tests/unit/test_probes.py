"""Does a tampered check pass its impossible twin, and does a weak one let mutants live?"""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from agents.domain.reports import CheckReport
from tasks.checks import probes
from tasks.checks.measure import Plan, environment_of, measure
from tasks.checks.probes import Bench, MutationReport, TwinReport, survivors, twin_passes
from tasks.git.trees import Trees

CODE = "LIMIT = 3\n\n\ndef clamp(x):\n    if x > LIMIT:\n        return LIMIT\n    return x\n"
STRONG = "from a import clamp\n\n\ndef test_a():\n    assert [clamp(x) for x in (1, 3, 4, 5)] == [1, 3, 3, 3]\n"
WEAK = "from a import clamp\n\n\ndef test_a():\n    assert clamp(1) == 1\n"
EQUAL = "class E:\n    def __eq__(self, other): return True\n\n\ndef clamp(x):\n    return E()\n"
FRAME = """import sys


def clamp(x):
    return next(one for one in sys._getframe(1).f_code.co_consts if type(one) is float)
"""
READ = "from a import clamp\n\n\ndef test_a():\n    assert clamp(9) == 2.5\n"
ABSURD = "import pytest\nfrom a import clamp\n\n\ndef test_a():\n    assert clamp(1) == pytest.approx(9, rel=1e9)\n"
LINES = frozenset(range(1, 8))
Bound = Callable[..., tuple[Bench, CheckReport]]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture
def bound(tmp_path: Path, home: Path) -> Bound:
    """Measure a tree by its check, and set it up to be probed."""
    subprocess.run(["git", "init", "--quiet", "--bare", tmp_path / "store"], check=True)
    trees = Trees(tmp_path / "store")

    def bind(**files: str) -> tuple[Bench, CheckReport]:
        tree = trees.from_files({f"{name}.py": text.encode() for name, text in files.items()})
        (report,) = measure(trees, tree, Plan(acceptance=("pytest test_a.py",), seconds=60), home).acceptance
        return Bench(trees, tree, environment_of(trees, tree, home), home, 60), report

    return bind


def test_no_twin_of_honest_work_passes(bound: Bound) -> None:
    report = twin_passes(*bound(a=CODE, test_a=STRONG + "\n\ndef test_b():\n    clamp(1)\n"), seed=1)
    assert report == TwinReport(tried=("test_a.py::test_a",), untouched=("test_a.py::test_b",))


@pytest.mark.parametrize(("code", "test"), [(EQUAL, WEAK), (FRAME, READ), (CODE, ABSURD)])
def test_a_cheat_passes_its_twin(bound: Bound, code: str, test: str) -> None:
    bench, checked = bound(a=code, test_a=test)
    assert checked.green
    report = twin_passes(bench, checked, seed=1)
    assert report.tried == report.passed == ("test_a.py::test_a",)


def test_parameters_share_the_twin_of_their_function(bound: Bound) -> None:
    head = "import pytest\nfrom a import clamp\n\n\n@pytest.mark.parametrize('x', [1, 2])\n"
    report = twin_passes(*bound(a=CODE, test_a=head + "def test_a(x): assert clamp(x) == x\n"), seed=1)
    assert report == TwinReport(tried=("test_a.py::test_a[1]", "test_a.py::test_a[2]"))


def test_a_strong_check_kills_what_a_weak_one_lets_live(bound: Bound) -> None:
    strong = survivors(*bound(a=CODE, test_a=STRONG), {"a.py": LINES}, seed=1, limit=4, seconds=60)
    weak = survivors(*bound(a=CODE, test_a=WEAK), {"a.py": LINES}, seed=1, limit=4, seconds=60)
    assert (strong.made, strong.tried) == (weak.made, weak.tried) == (4, 4)
    assert strong.killed > weak.killed == 0
    assert weak.killed < strong.killed
    assert {one.path for one in weak.survivors} == {"a.py"}


def test_a_mutant_that_hangs_is_killed(bound: Bound, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probes, "SHORTEST_S", 1)
    code = "def clamp(x):\n    n = x\n    while n > 1:\n        n -= 1\n    return n\n"
    report = survivors(*bound(a=code, test_a=WEAK + "    assert clamp(4) == 1\n"), {"a.py": {4}}, 1, 9, 60)
    assert report.killed == report.tried >= 2


def test_tests_and_other_files_are_not_broken(bound: Bound) -> None:
    lines = {"test_a.py": LINES, "nonesuch.py": LINES, "a.txt": LINES}
    assert survivors(*bound(a=CODE, test_a=STRONG), lines, 1, 9, 60) == MutationReport()


def test_time_is_kept(bound: Bound) -> None:
    report = survivors(*bound(a=CODE, test_a=STRONG), {"a.py": LINES}, seed=1, limit=9, seconds=0)
    assert report.made > 0
    assert (report.tried, report.killed, report.survivors) == (0, 0, ())


def test_a_check_that_fails_unbroken_gives_no_count(bound: Bound) -> None:
    bench, checked = bound(a=CODE, test_a="def test_a():\n    assert 0\n")
    claimed = checked.model_copy(update={"cases": {"test_a.py::test_a": "passed"}})
    report = survivors(bench, claimed, {"a.py": LINES}, seed=1, limit=9, seconds=60)
    assert report.trouble == "the tests fail on the unbroken tree"
    assert report.tried == 0
