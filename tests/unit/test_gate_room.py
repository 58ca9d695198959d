"""Does the gate measure only bytes that count, judge a tree once, and hold it to the contract it was given?"""

from pathlib import Path

import pytest
from repositories import make_trees

from agents.domain.errors import Misconfigured
from agents.domain.gate import Verdict
from agents.domain.mission import PROTECTED
from agents.domain.reports import Report
from tasks.checks.measure import Plan
from tasks.checks.sandbox import GROUP_ONLY
from tasks.gate.contract import Contract
from tasks.gate.course import Course
from tasks.gate.decide import decide
from tasks.gate.overlay import owned_by, trusted
from tasks.git.trees import Trees

BASE = {"a.py": "def f(): return 1\n", "tests/test_a.py": "from a import f\n\n\ndef test_f(): assert f() == 2\n"}
DONE = {**BASE, "a.py": "def f(): return 2\n"}
ACCEPT = "pytest tests/test_a.py"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture
def trees(tmp_path: Path) -> Trees:
    return make_trees(tmp_path / "store")


def tree(trees: Trees, files: dict[str, str]) -> str:
    return trees.from_files({path: text.encode() for path, text in files.items()})


def contract(trees: Trees, files: dict[str, str] | None = None, accept: str = ACCEPT) -> Contract:
    plan = Plan(suites=("tests",), acceptance=(accept,), seconds=60)
    return Contract(plan, PROTECTED, (), tree=tree(trees, files) if files else "")


def test_a_verdict_is_made_once_and_is_the_same_bytes(trees: Trees, home: Path) -> None:
    base, done = tree(trees, BASE), tree(trees, DONE)
    first, again = Course(), Course()
    verdict = decide(trees, base, done, contract(trees), home, first)
    assert verdict.passed
    assert decide(trees, base, done, contract(trees), home, again).model_dump_json() == verdict.model_dump_json()
    assert (first.cached, again.cached) == (False, True)


def test_a_broken_kept_verdict_counts_as_none(trees: Trees, home: Path) -> None:
    base, done = tree(trees, BASE), tree(trees, DONE)
    decide(trees, base, done, contract(trees), home)
    for kept in (home / "verdicts").iterdir():
        kept.write_text(kept.read_text().replace('"decision":"pass"', '"decision":"p', 1))
    timing = Course()
    assert decide(trees, base, done, contract(trees), home, timing).passed
    assert not timing.cached


def test_another_contract_is_another_question(trees: Trees, home: Path) -> None:
    base, done, timing = tree(trees, BASE), tree(trees, DONE), Course()
    decide(trees, base, done, contract(trees), home)
    decide(trees, base, done, contract(trees, accept="pytest tests/test_a.py::test_f"), home, timing)
    assert not timing.cached


def test_a_weakened_test_is_refused_and_never_runs(trees: Trees, home: Path) -> None:
    weak = tree(trees, {**BASE, "tests/test_a.py": "def test_f(): pass\n"})
    verdict = decide(trees, tree(trees, BASE), weak, contract(trees), home)
    assert {reason.kind for reason in verdict.reasons} == {"protected", "acceptance"}
    assert verdict.fail_to_pass == ()


def test_trusted_tests_may_come_from_a_tree_of_their_own(trees: Trees, home: Path) -> None:
    base, done = {"a.py": BASE["a.py"]}, {"a.py": DONE["a.py"], "tests/test_a.py": "def test_f(): pass\n"}
    held = contract(trees, BASE)
    assert decide(trees, tree(trees, base), tree(trees, done), held, home).passed
    equal = "class X:\n    def __eq__(self, other): return bool(str(other))\n    __hash__ = object.__hash__\n\n\n"
    cheat = {**done, "a.py": f"{equal}def f(): return X()\n"}
    judged = decide(trees, tree(trees, base), tree(trees, cheat), held, home)
    assert "twin" in {reason.kind for reason in judged.reasons}
    lazy = {**done, "a.py": "def f(): return 3\n"}
    assert decide(trees, tree(trees, base), tree(trees, lazy), held, home).decision == "fail"


def test_a_file_gives_way_to_a_folder_of_the_contract_and_back(trees: Trees) -> None:
    ours = tree(trees, {"tests/a.py": "1", "conf": "2"})
    theirs = tree(trees, {"tests": "x", "conf/b": "y", "c.py": "z"})
    laid = trusted(trees, ours, theirs, frozenset({"tests/a.py", "conf", "tests"}))
    assert {path: trees.read(laid, path) for path in trees.entries(laid)} == {
        "tests/a.py": b"1",
        "conf": b"2",
        "c.py": b"z",
    }


def test_what_a_human_granted_is_not_laid_over(trees: Trees) -> None:
    ours = tree(trees, {"tests/a.py": "1", "pyproject.toml": "2", "a.py": "3"})
    assert owned_by(trees, ours, PROTECTED, ("pyproject.toml",)) == {"tests/a.py"}
    assert owned_by(trees, ours, ("tests",), ()) == {"tests/a.py"}


BROKEN = [
    {"requirements.txt": "none-such"},
    {"requirements.txt": "-r gone.txt"},
    {"requirements.txt": "", "setup.cfg": "[options]\npython_requires = >=9"},
]


@pytest.mark.parametrize("broken", BROKEN)
def test_an_environment_that_cannot_be_made_is_trouble_of_a_candidate_and_stops_a_base(
    trees: Trees, home: Path, monkeypatch: pytest.MonkeyPatch, broken: dict[str, str]
) -> None:
    monkeypatch.setenv("UV_OFFLINE", "1")
    base, bad = tree(trees, {**BASE, "requirements.txt": ""}), tree(trees, {**DONE, **broken})
    granted = contract(trees)._replace(grants=("**",))
    verdict = decide(trees, base, bad, granted, home)
    assert (verdict.decision, "infra" in {reason.kind for reason in verdict.reasons}) == ("fail", True)
    with pytest.raises(Misconfigured):
        decide(trees, bad, base, granted, home)


def test_an_answer_that_equals_everything_is_found_by_the_impossible_twin(trees: Trees, home: Path) -> None:
    equal = "class X:\n    def __eq__(self, other): return bool(str(other))\n    __hash__ = object.__hash__\n\n\n"
    cheat = tree(trees, {**BASE, "a.py": f"{equal}def f(): return X()\n"})
    verdict = decide(trees, tree(trees, BASE), cheat, contract(trees), home)
    assert "twin" in {reason.kind for reason in verdict.reasons}


VACUOUS = "def test_f():\n    from a import f\n    f(1)\n    assert True\n"
PROVING = "def test_f():\n    from a import f\n    assert [f(1), f(5), f(9)] == [3, 10, 10]\n"


@pytest.mark.parametrize(("text", "decision"), [(VACUOUS, "fail"), (PROVING, "pass")])
def test_a_test_that_came_with_the_change_must_notice_a_fault_in_it(
    trees: Trees, home: Path, text: str, decision: str
) -> None:
    code = "def f(x):\n    y = x * 2 + 1\n    if y > 10:\n        return 10\n    return y - 1 + 1\n"
    done = tree(trees, {"b.py": "", "a.py": code, "tests/test_new.py": text})
    verdict = decide(trees, tree(trees, {"b.py": ""}), done, contract(trees, accept="pytest tests/test_new.py"), home)
    assert (verdict.decision, "vacuous" in {r.kind for r in verdict.reasons}) == (decision, decision == "fail")


def test_what_passes_under_one_hash_seed_alone_is_not_green(trees: Trees, home: Path) -> None:
    lucky = "import os\n\n\ndef f(): return 2 if os.environ['PYTHONHASHSEED'] == '0' else 0\n"
    verdict = decide(trees, tree(trees, BASE), tree(trees, {**BASE, "a.py": lucky}), contract(trees), home)
    assert [reason.kind for reason in verdict.reasons] == ["acceptance"]


def test_a_new_submodule_is_refused_and_stops_nothing(trees: Trees, home: Path) -> None:
    base, done = tree(trees, BASE), tree(trees, DONE)
    listed = trees.git.run("ls-tree", done).decode() + f"160000 commit {'1' * 40}\tvendor\n"
    linked = trees.git.run("mktree", "--missing", stdin=listed.encode()).decode().strip()
    verdict = decide(trees, base, linked, contract(trees), home)
    assert [reason.kind for reason in verdict.reasons] == ["odd_file"]


def told(verdict: Verdict) -> dict[str, str]:
    return {stage.name: stage.outcome for stage in verdict.stages}


def test_a_verdict_tells_how_each_stage_ended(trees: Trees, home: Path) -> None:
    base, done = tree(trees, BASE), tree(trees, DONE)
    ran = ("paths", "diff", "base", "checks", "again", "apart", "twin", "held_out", "mutants")
    passed = dict.fromkeys(ran, "clear") | {"held_out": "spared"}
    assert told(decide(trees, base, done, contract(trees), home)) == passed
    lazy = tree(trees, {**BASE, "a.py": "def f(): return 3\n", "conftest.py": "collect_ignore = ['a']\n"})
    spared = dict.fromkeys(("apart", "twin", "held_out", "mutants"), "spared")
    refused = {"paths": "refused", "checks": "refused", **spared}
    assert told(decide(trees, base, lazy, contract(trees), home)) == dict.fromkeys(ran, "clear") | refused


def test_what_passes_without_isolation_is_unsandboxed(
    trees: Trees, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tasks.checks.measure.sandbox.describe", lambda: GROUP_ONLY)
    base, done, held = tree(trees, BASE), tree(trees, DONE), contract(trees)
    assert decide(trees, base, done, held, home / "open").decision == "unsandboxed"
    assert decide(trees, base, done, held._replace(unsandboxed=True), home / "open").decision == "pass"


LUCK = {"f.py": "", "test_luck.py": "import os\n\n\ndef test_luck(): assert os.urandom(1)[0] < 128\n"}


def test_a_test_that_fails_by_chance_decides_nothing_however_lucky_the_base_was(trees: Trees, home: Path) -> None:
    base, done = tree(trees, {**BASE, **LUCK}), tree(trees, {**DONE, **LUCK})
    assert decide(trees, base, done, contract(trees), home).decision == "pass"


def test_what_the_candidate_is_unstable_in_is_sought_longer_on_the_base(
    trees: Trees, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def unlucky(trees: Trees, report: Report, plan: Plan, home: Path, cases: tuple[str, ...], times: int) -> Report:
        side = "base" if report.tree == base else "candidate"
        asked.append((side, times))
        suites = [check.model_copy(update={"flaky": cases if side == "candidate" else ()}) for check in report.suites]
        return report.model_copy(update={"suites": tuple(suites)})

    monkeypatch.setattr("tasks.gate.decide.remeasure", unlucky)
    base, worse = tree(trees, {**BASE, "a.py": "def f(): return 2\n"}), tree(trees, BASE)
    verdict = decide(trees, base, worse, contract(trees, accept="pytest none.py"), home)
    assert asked == [("candidate", 5), ("base", 5), ("base", 20)]
    assert "now passes in some runs and fails in others" in verdict.reasons[1].message


ORDERED = """
import a
SEEN = []


def test_first(): SEEN.append(1)


def test_last(): assert SEEN


def test_f(): assert a.f() == 2


def test_g(): assert a.g() == 2
"""


def test_tests_that_lean_on_their_order_on_the_base_already_refuse_nobody(trees: Trees, home: Path) -> None:
    code = "def f(): return {}\n\n\ndef g(): return 2\n"
    base, done, worse = (
        tree(trees, {"a.py": text, "tests/test_a.py": ORDERED})
        for text in (code.format(1), code.format(2), code.format(2).replace("2\n", "3\n"))
    )
    verdict = decide(trees, base, done, contract(trees), home)
    assert (verdict.decision, verdict.reasons) == ("pass", ())
    assert decide(trees, base, worse, contract(trees), home).decision == "fail"


def test_a_grant_makes_nothing_stricter(trees: Trees, home: Path) -> None:
    red = {"tests/test_red.py": "def test_red(): assert False\n"}
    base, done = tree(trees, {**BASE, **red}), tree(trees, {**DONE, **red})
    assert decide(trees, base, done, contract(trees)._replace(grants=("tests/*",)), home).decision == "pass"


def test_a_command_that_turned_green_is_said_to_be_unprobed(trees: Trees, home: Path) -> None:
    accept = "python -m unittest test_u"
    base, done = tree(trees, {"a.py": "", "b.py": ""}), tree(trees, {"a.py": "", "b.py": "", "test_u.py": UNITTEST})
    verdict = decide(trees, base, done, contract(trees, accept=accept), home)
    assert (verdict.decision, verdict.unprobed) == ("pass", (accept,))


UNITTEST = """
import unittest


class TestNothing(unittest.TestCase):
    def test_nothing(self):
        self.assertTrue(True)
"""


def test_what_passes_beside_a_new_module_of_tests_alone_is_refused(trees: Trees, home: Path) -> None:
    patching = "import a\n\na.f = lambda: 2\n\n\ndef test_g(): a.f()\n"
    cheat = tree(trees, {**BASE, "tests/test_0.py": patching})
    verdict = decide(trees, tree(trees, BASE), cheat, contract(trees, accept="pytest tests"), home)
    assert "apart" in {reason.kind for reason in verdict.reasons}


def test_nothing_is_installed_that_an_ungranted_file_asks_for(trees: Trees, home: Path) -> None:
    base = {**BASE, "requirements.txt": "-r deps/base.lst\n", "deps/base.lst": ""}
    wants = {**base, **DONE, "deps/base.lst": "no-such-thing-anywhere\n"}
    verdict = decide(trees, tree(trees, base), tree(trees, wants), contract(trees), home)
    assert [(reason.kind, reason.path) for reason in verdict.reasons] == [("dependencies", "deps/base.lst")]
