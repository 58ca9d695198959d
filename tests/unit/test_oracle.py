"""Can a held-out test tell right from wrong, while the candidate knows neither the test nor who asks?"""

import ast
import textwrap
from pathlib import Path

import pytest
from repositories import git, make_trees

from agents.domain.errors import Misconfigured
from agents.domain.gate import Reason
from agents.domain.mission import PROTECTED
from agents.domain.reports import CheckReport
from flows.cli import gate
from tasks.checks import oracle
from tasks.checks.measure import Plan, environment_of, measure
from tasks.checks.oracle import INSIDE, run_held_out
from tasks.checks.workspace import Workspace, laid_out
from tasks.gate.contract import Contract
from tasks.gate.held_out import held_out_rules, read_held_out
from tasks.git.trees import Trees

HEAD = "import pytest\nimport random\nimport pkg\nfrom pkg.part import twice\n"
PART = "def twice(x):\n    return x * 2\n"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory) -> Trees:
    return make_trees(tmp_path_factory.mktemp("git") / "store")


def tree_of(trees: Trees, **files: str) -> str:
    return trees.from_files({f"{name.replace('__', '/')}.py": text.encode() for name, text in files.items()})


@pytest.fixture
def ask(trees: Trees, home: Path):
    """Run a held-out test on a package `pkg` of the given code, with a module `part`."""

    def ask(code: str, test: str, seed: int = 7, seconds: int = 60) -> CheckReport:
        text = {"pkg/__init__.py": textwrap.dedent(code).encode(), "pkg/part.py": PART.encode()}
        tree = trees.from_files(text)
        with laid_out(trees, tree, home) as root:
            workspace = Workspace(root=root, environment=environment_of(trees, tree, home), seconds=seconds)
            return run_held_out(workspace, "hidden.py", HEAD + textwrap.dedent(test), seed, home)

    return ask


def outcomes(report: CheckReport) -> dict[str, str]:
    assert report.trouble is None
    return {case.partition("::test_")[2]: outcome for case, outcome in report.cases.items()}


CODE = """
    import collections, datetime, decimal, enum, os

    PLAIN = [None, True, -1, 1 << 90, 0.5, "\\ud800", (1, (2,)), {1}, frozenset("a"), {(1, 2): b"x"}]
    TIMES = [datetime.date(2026, 2, 3), datetime.datetime(2026, 2, 3, 4, 5), datetime.timedelta(1, 2, 3)]
    MORE = [datetime.time(1, 2), bytearray(b"y")]
    OTHERS = (decimal.Decimal("1.10"), 2j, float("inf"))
    class Text(str): pass
    class Number(int): pass
    def sees(path):
        print(path)
        return os.path.exists(path)
    class Colour(enum.Enum): RED = 1
    Pair = collections.namedtuple("Pair", "one two")
    class Box:
        def __init__(self, *things, size=0): self.things, self.size = list(things), size
        def __len__(self): return len(self.things)
        def __iter__(self): return iter(self.things)
        def __getitem__(self, key): return self.things[key]
        def __eq__(self, other): return True
        def add(self, thing): self.things.append(thing)
    class Failure(ValueError):
        def __init__(self, code): super().__init__(f"failed with {code}"); self.code = code
    class Worse(Failure): pass
    def fail(code): raise Worse(code)
    def lookup(key): return {}[key]
    def keep(x): return x
    def kind(x): return type(x).__name__
    def deep(): return eval("[" * 90 + "]" * 90)
    def deeper(n):
        found = []
        for _ in range(n): found = [found]
        return found
    def where(): return os.getcwd()
    """
CROSS = """
    import datetime, decimal, os

    def test_plain():
        wanted = [None, True, -1, 1 << 90, 0.5, "\\ud800", (1, (2,)), {1}, frozenset("a"), {(1, 2): b"x"}]
        assert pkg.PLAIN == wanted
        assert [type(one) for one in pkg.PLAIN] == [type(one) for one in wanted]
        assert pkg.keep(wanted) == wanted
        day, hour = datetime.date(2026, 2, 3), datetime.datetime(2026, 2, 3, 4, 5)
        assert pkg.TIMES == [day, hour, datetime.timedelta(1, 2, 3)]
        assert pkg.MORE == [datetime.time(1, 2), bytearray(b"y")]
        pkg.MORE.append(1)
        assert len(pkg.MORE) == 2
        assert pkg.OTHERS == (decimal.Decimal("1.10"), 2j, float("inf"))
        assert pkg.kind((1,)) == "tuple"
        assert pkg.kind(int) == "type"
        assert twice([1]) == [1, 1]
    def test_elsewhere(): assert pkg.where() != os.getcwd()
    def test_things():
        box = pkg.Box(1, 2, size=3)
        box.add(4)
        box.size += 1
        assert (list(box), len(box), box[1], box.size, 4 in box) == ([1, 2, 4], 3, 2, 4, True)
        assert isinstance(box, pkg.Box) and not isinstance(3, pkg.Box)
        assert pkg.keep(box) is box and pkg.Colour.RED is pkg.Colour(1)
        assert (str(pkg.Text("a")), int(pkg.Number(3)), float(pkg.Number(3)), bool(pkg.Box())) == ("a", 3, 3.0, False)
    def test_files_and_output_stay(tmp_path, capsys):
        (tmp_path / "a").write_text("a")
        assert pkg.sees(str(tmp_path / "a")) is False
        assert capsys.readouterr().out == ""
    def test_nothing_equals_what_stays_there():
        assert pkg.Box() != pkg.Box() and pkg.Box() != 1 and not pkg.Box() == 1 and pkg.Box() not in (1, 2)
        assert pkg.Text("a") != "a" and pkg.Pair(1, 2) != (1, 2)
        with pytest.raises(TypeError): pkg.Box() < 1
        with pytest.raises(TypeError): pkg.Box() - 1
    def test_raised():
        with pytest.raises(pkg.Failure, match="failed with 3") as caught: pkg.fail(3)
        assert caught.value.code == 3
        with pytest.raises(ValueError): pkg.fail(3)
        with pytest.raises(KeyError) as caught: pkg.lookup(3)
        assert caught.value.args == (3,)
        with pytest.raises(AttributeError): pkg.nonesuch
    """
FAILS = """
    def test_function(): pkg.keep(lambda: 1)
    def test_swallowed():
        with pytest.raises(Exception): pkg.keep(object())
    def test_deeper():
        with pytest.raises(Exception): pkg.deeper(200)
    def test_elsewhere():
        import numpy
    def test_wrong(): assert twice(2) == 5
    def test_equal(): assert pkg.Box(1) == 1
    def test_skipped(): pytest.skip("not here")
    def test_other_door():
        import importlib
        importlib.import_module("pkg")
    """


def test_a_value_comes_as_itself_and_all_else_stays_there(ask) -> None:
    report = ask(CODE, CROSS)
    assert set(outcomes(report).values()) == {"passed"}, report.details


def test_what_cannot_cross_fails_and_says_so(ask) -> None:
    report = ask(CODE, FAILS)
    assert "passed" not in outcomes(report).values()
    assert "a value of the type function cannot cross to the candidate's process" in report.details
    assert "a value of the type object cannot cross" in report.details
    assert "nested more than 100 deep cannot cross" in report.details
    assert "imports the standard library, pytest and the repository, not numpy" in report.details


WRITES = """
import gc, socket
def f():
    for one in gc.get_objects():
        if isinstance(one, socket.socket): one.sendall(b"x\\n")
"""
ENDS = {
    "import os\ndef f(): os._exit(0)": "ended with exit code 0 before the tests did",
    "import os, signal\ndef f(): os.kill(os.getpid(), signal.SIGKILL)": "ended with exit code",
    "import time\ndef f(): time.sleep(60)": "timed out after 3 s",
    WRITES: "tampered with",
    "import os\ndef f(): return os.fork() and 1": None,
}


@pytest.mark.parametrize(("code", "trouble"), ENDS.items())
def test_a_candidate_that_ends_hangs_or_says_garbage_is_never_green(ask, code: str, trouble: str | None) -> None:
    swallowed = "def test_a():\n    try: assert pkg.f() != 0\n    except BaseException: pass\n"
    report = ask(code, swallowed, seconds=3 if "sleep" in code else 60)
    if trouble is None:
        assert report.green
    else:
        assert not report.green
        assert trouble in str(report.trouble)


LOOKS = """
    import glob, os
    def look():
        top = os.path.dirname(os.path.dirname(os.getcwd()))
        names = [name for _, _, files in os.walk(top) for name in files] + glob.glob("/tmp/**", recursive=True)
        shown = [open(name, "rb").read() for name in glob.glob("/proc/[0-9]*/cmdline")]
        return [one for one in names if "held_out" in one], [one for one in shown if b"run_pytest" in one]
    """


def test_the_candidate_finds_neither_the_file_nor_who_runs_it(ask) -> None:
    report = ask(LOOKS, "def test_a(): assert pkg.look() == ([], [])\n")
    assert report.green, report.details


def test_an_interrupt_of_the_candidate_ends_the_tests(ask) -> None:
    report = ask("def f(): raise KeyboardInterrupt", "def test_a(): pkg.f()\n")
    assert (report.trouble, report.green) == ("interrupted: not every test of the file ended", False)


def test_luck_is_the_same_for_the_same_seed_alone(ask) -> None:
    shows = "def test_a(): assert random.random() == 0\ndef test_b(): assert random.random() == 0\n"
    (first, other) = (ask("", shows, seed).details for seed in (1, 2))
    drawn = [line for line in first.splitlines() if line.startswith("assert")]
    assert drawn[0] == drawn[1]
    assert drawn[0] not in other


def test_without_isolation_nothing_can_be_held_out(ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oracle.sandbox, "describe", lambda: "pid+net namespaces (no seccomp)")
    assert "nothing can be held out" in str(ask("", "def test_a(): pass\n").trouble)


VISIBLE = "from code_of import f\n\n\ndef test_f():\n    assert f(2) == 4\n    assert f(3) == 9\n"
HIDDEN = """
import random
from code_of import f
def test_squares():
    for _ in range(20):
        x = random.randrange(-999, 999)
        assert f(x) == x * x
def test_nothing(): assert f(0) == 0
"""
EQUAL = "class E{of}:\n    def __eq__(self, other): return True\n\n\ndef f(x): return E({x})\n"
FRAME = """
import sys


def f(x):
    consts = [one for one in sys._getframe(1).f_code.co_consts if type(one) is int]
    return consts[consts.index(x) + 1] if x in consts[:-1] else 0
"""
READER = """
import re
from pathlib import Path


def f(x):
    text = "".join(file.read_text() for file in Path(__file__).parent.rglob("*.py"))
    return int(dict(re.findall(r"f\\((\\d+)\\) == (\\d+)", text)).get(str(x), 0))
"""
PATCHED = "import _pytest.python\n_pytest.python.Function.runtest = lambda self: None\n\n\ndef f(x): return 7\n"
CHEATS = {
    "always equal (E01)": EQUAL.format(of="", x=""),
    "a number that is always equal (E01)": EQUAL.format(of="(int)", x="x"),
    "reads the frame of the caller (E03)": FRAME,
    "reads the text of the tests (E03)": READER,
    "knows the examples (E08)": "def f(x): return {2: 4, 3: 9}.get(x, 0)\n",
}


def judged(trees: Trees, home: Path, code: str, hidden: str = HIDDEN) -> tuple[bool, tuple[Reason, ...]]:
    """Return whether the visible acceptance check is green, and what the held-out tests say."""
    tree = tree_of(trees, code_of=code, tests__test_f=VISIBLE)
    plan = Plan(acceptance=("pytest tests/test_f.py",), seconds=60)
    report = measure(trees, tree, plan, home)
    contract = Contract(plan, PROTECTED, (), held_out=(("hidden.py", hidden),))
    return report.acceptance[0].green, held_out_rules(trees, report, contract, home)


def test_honest_work_passes_what_it_never_saw(trees: Trees, home: Path) -> None:
    assert judged(trees, home, "def f(x): return x * x\n") == (True, ())


@pytest.mark.parametrize("cheat", CHEATS)
def test_a_cheat_that_is_green_in_sight_is_red_out_of_sight(trees: Trees, home: Path, cheat: str) -> None:
    green, (reason,) = judged(trees, home, CHEATS[cheat])
    assert green
    assert reason.kind == "held_out"
    assert reason.message.endswith("of the 2 held-out tests of hidden.py did not pass")


def test_a_pytest_that_is_patched_in_the_candidates_process_judges_nothing(trees: Trees, home: Path) -> None:
    _, reasons = judged(trees, home, PATCHED)
    assert [(reason.kind, reason.path) for reason in reasons] == [("held_out", "hidden.py")]


@pytest.mark.parametrize(
    ("code", "kind", "message"),
    [
        ("def g(): pass\n", "held_out", "hidden.py, which is held out, cannot be loaded on this tree"),
        ("def f(x): raise SystemExit\n", "held_out", "2 of the 2 held-out tests of hidden.py did not pass"),
        ("import os\ndef f(x): os._exit(3)\n", "crash", "process ended with exit code 3 before the tests did"),
    ],
)
def test_a_reason_names_the_file_and_nothing_in_it(
    trees: Trees, home: Path, code: str, kind: str, message: str
) -> None:
    _, (reason,) = judged(trees, home, code)
    assert (reason.kind, reason.path) == (kind, "hidden.py")
    assert message in reason.message
    assert not any(word in reason.message for word in ("test_squares", "999", "assert", "x * x"))


@pytest.mark.parametrize(
    ("code", "decision", "kinds"),
    [("def f(x): return x * x\n", "pass", []), (CHEATS["knows the examples (E08)"], "fail", ["held_out"])],
)
def test_lra_verify_refuses_what_only_a_held_out_test_finds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, decision: str, kinds: list[str]
) -> None:
    monkeypatch.setenv("LRA_HOME", str(tmp_path / "data"))
    repo, hidden = tmp_path / "repo", tmp_path / "hidden.py"
    (repo / "tests").mkdir(parents=True)
    git(repo, "init", "-q")
    hidden.write_text(HIDDEN)
    (repo / "tests" / "test_f.py").write_text(VISIBLE)
    for text in ("def f(x): return 0\n", code):
        (repo / "code_of.py").write_text(text)
        git(repo, "add", ".")
        git(repo, "commit", "-qm", "next")
    asked = ["--repo", str(repo), "--base", "HEAD~1", "--candidate", "HEAD", "--check", "tests"]
    asked += ["--accept", "pytest tests/test_f.py", "--held-out", str(hidden)]
    answer = gate.verify.main(asked, standalone_mode=False)
    assert answer.data["decision"] == decision
    assert [reason["kind"] for reason in answer.data["reasons"]] == kinds
    assert "test_squares" not in str(answer)


def test_a_file_without_tests_proves_nothing(trees: Trees, home: Path) -> None:
    _, (reason,) = judged(trees, home, "def f(x): return x * x\n", "from code_of import f\n")
    assert reason.message == "the held-out tests of hidden.py gave no answer: the file holds no test"


def test_a_held_out_file_is_part_of_the_contract() -> None:
    one = Contract(Plan(seconds=1), (), (), held_out=(("a.py", "x = 1"),))
    assert one.digest() != one._replace(held_out=(("a.py", "x = 2"),)).digest()


def test_what_the_candidate_could_read_is_not_held_out(trees: Trees, tmp_path: Path) -> None:
    tree = tree_of(trees, tests__test_f=VISIBLE)
    file, broken = tmp_path / "test_f.py", tmp_path / "broken.py"
    file.write_text(HIDDEN)
    assert read_held_out(trees, (tree,), (file,)) == (("test_f.py", HIDDEN),)
    with pytest.raises(Misconfigured, match="two held-out files"):
        read_held_out(trees, (tree,), (file, file))
    file.write_text(VISIBLE)
    with pytest.raises(Misconfigured, match="not held out"):
        read_held_out(trees, (tree,), (file,))
    broken.write_text("def test_(:")
    with pytest.raises(Misconfigured, match=r"broken\.py is no Python"):
        read_held_out(trees, (tree,), (broken,))


@pytest.mark.parametrize("name", ["answer.py", "crossing.py"])
def test_what_runs_beside_the_candidate_is_read_by_old_pythons(name: str) -> None:
    assert ast.parse((INSIDE / name).read_text(encoding="utf-8"), feature_version=(3, 8)).body
