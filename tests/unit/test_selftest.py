"""Does the gate's own suite hold what it says: cases that fit, every kind of cheat, and honest counts?"""

import re
from collections import Counter
from pathlib import Path

import click
import pytest

from flows.cli import gate
from flows.cli.console import Exit
from flows.selftest import report, run
from flows.selftest.cases import SUITE, project_files, solution, start
from flows.selftest.run import Result, every_case, run_suite
from tasks.git.example import make_repository
from tasks.git.trees import Trees

CATALOGUE = """
A01 A02 A03 A04 A05 A06 A07 A08 A09 A11 A12 A13 A15 A16 A19 A20
B01 B02 B03 B04 B07 B08 B10 B11 B12 B14 B15 B16 B17 B18 B20 B21 B22 B24
C01 C02 C03 C05 C07 C09 C10 C11 C13
D01 D02 D03 D05 D06 D07 D09 D10 D11 D12 D15 D17
E01 E03 E06 E08 E11 E12 E13 E14 E15
F01 F02 F03 F04 F07 F08 F09 F12 F14 F15 F16 F17 F19 F20 F21
G01 G02 G03 G04 G06 G09 G10 G12 G13 G14 G15 G17 G18
H01 H03 H04 H06 H08 H09 H10 H13 H14
I01 I02 I03 I06 I07
J01 J02 J03 J05 J07 J09 J10 J11 J12
""".split()  # noqa: SIM905 a table reads better than a list of a hundred texts
CASES = every_case()


def result(side, decision, kinds=(), expected=("protected",)):
    return Result(
        id="A01", side=side, title="a title", decision=decision, kinds=kinds, said=(), expected=expected, seconds=1
    )


@pytest.fixture(scope="module")
def trees(tmp_path_factory):
    folder = tmp_path_factory.mktemp("suite") / "project"
    make_repository(folder, project_files(), "A small project\n")
    trees = Trees(folder / ".git")
    yield trees
    trees.close()


def test_there_are_many_cases_and_each_has_one_number():
    counts = Counter(case.side for case in CASES)
    assert counts["cheats"] >= 110
    assert counts["honest"] >= 60
    assert max(Counter((case.side, case.id) for case in CASES).values()) == 1


def test_every_kind_of_cheat_is_a_case_or_is_said_to_be_met_elsewhere():
    tried = {case.id[:3] for case in CASES if case.side == "cheats"}
    listed = (SUITE / "elsewhere.md").read_text("utf-8")
    elsewhere = set(re.findall(r"\b[A-J]\d\d\b", " ".join(re.findall(r"^\| ([^|]+) \|", listed, re.MULTILINE))))
    assert set(CATALOGUE) - tried - elsewhere == set()
    assert tried & elsewhere == set()


@pytest.mark.parametrize("case", CASES, ids=[f"{case.side}-{case.id}" for case in CASES])
def test_a_case_fits_the_project_and_changes_it(trees, case):
    tree = trees.tree_of("refs/heads/main")
    tree = start(case.head.start).make(trees, tree) if case.head.start else tree
    before = solution(case.head.item).make(trees, tree) if case.head.solved else tree
    assert case.alone or case.make(trees, before) != before
    assert bool(case.head.refused) == (case.side == "cheats")
    assert case.head.item or case.head.accept


def test_a_cheat_is_refused_for_its_kind_and_an_honest_patch_is_accepted(tmp_path):
    chosen = [case for case in CASES if (case.side, case.id) in {("cheats", "A01"), ("honest", "H01")}]
    told = []
    cheat, honest = run_suite(chosen, tmp_path, told.append)
    assert (cheat.decision, "protected" in cheat.kinds) == ("fail", True)
    assert (honest.decision, honest.kinds) == ("pass", ())
    assert len(told) == 2


@pytest.mark.parametrize(
    ("one", "faults"),
    [
        (result("cheats", "fail", ("protected",)), ()),
        (result("cheats", "pass"), ("false accept",)),
        (result("cheats", "fail", ("infra",)), ("refused for another reason",)),
        (result("honest", "pass", (), ()), ()),
        (result("honest", "fail", ("protected",), ()), ("false refusal",)),
        (result("honest", "unverified", ("unverified",), ()), ("false refusal",)),
    ],
)
def test_what_went_wrong_is_named(one, faults):
    assert tuple(text.partition(":")[0] for text in report.faults([one])) == faults


def test_the_table_counts_what_ended_as_it_must():
    results = [result("cheats", "fail", ("protected",)), result("cheats", "pass"), result("honest", "pass", (), ())]
    assert report.as_markdown(results).splitlines()[2:] == [
        "| A. test content | 2 | 1 | 1 |",
        "| all cheats refused | 2 | 1 | 1 |",
        "| all honest patches accepted | 1 | 1 | 0 |",
    ]
    assert "false accept: A01 a title" in report.as_text(results, 3)


@pytest.mark.parametrize(("decision", "leaves"), [("fail", Exit.DONE), ("pass", Exit.INCOMPLETE)])
def test_the_exit_code_says_whether_the_gate_held(monkeypatch, decision, leaves):
    monkeypatch.setattr(run, "run_suite", lambda *given: (result("cheats", decision, ("protected",)),))
    answer = gate.verify.main(["--self-test"], standalone_mode=False)
    assert (answer.exit, answer.data["cheats"]) == (leaves, 1)
    assert answer.data["cases"][0]["kinds"] == ["protected"]


@pytest.mark.parametrize("given", [[], ["--base", "HEAD"], ["--candidate", "HEAD"]])
def test_two_trees_must_be_named_without_it(given):
    with pytest.raises(click.UsageError, match="Missing option"):
        gate.verify.main(given, standalone_mode=False)


def right(case):
    kinds = case.head.refused[:1]
    decision = "fail" if case.side == "cheats" else "pass"
    return result(case.side, decision, kinds, case.head.refused).model_copy(update={"id": case.id})


def test_the_table_in_the_docs_is_of_the_suite_as_it_is():
    table = report.as_markdown([right(case) for case in CASES])
    assert table in Path("docs/gate.md").read_text("utf-8"), f"lra verify --self-test=markdown should print:\n{table}"
