"""Is each test of a command a case of its own, told by results that this very run wrote whole?"""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from agents.domain.gate import judge
from agents.domain.reports import CheckReport, Report
from tasks.checks.command import LARGEST, argv_of
from tasks.checks.junit import read_results
from tasks.checks.measure import Plan, measure
from tasks.git.trees import Trees

Measured = Callable[..., Report]
TWO = '<testsuites><testsuite><testcase classname="A" name="x"/><testcase classname="A" name="y">{}</testcase>'
TWO += "</testsuite></testsuites>"
FAILED = TWO.format('<failure message="1 != 2">at line 3\n\nof a</failure>')
WRITE = "cp results.txt junit.xml => junit.xml"
NODE = "node --test"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture
def measured(tmp_path: Path, home: Path) -> Measured:
    subprocess.run(["git", "init", "--quiet", "--bare", tmp_path / "store"], check=True)
    trees = Trees(tmp_path / "store")

    def run(files: dict[str, str], check: str, accept: bool = False) -> Report:
        tree = trees.from_files({name: text.encode() for name, text in files.items()})
        suites, acceptance = ((), (check,)) if accept else ((check,), ())
        return measure(trees, tree, Plan(suites=suites, acceptance=acceptance, seconds=60), home)

    return run


def only(report: Report) -> CheckReport:
    (check,) = (*report.suites, *report.acceptance)
    return check


def read(text: str, files: tuple[str, ...] = ()) -> dict[str, str]:
    return dict(read_results(text.encode(), lambda said: said, lambda name: name in files).cases)


def test_each_test_in_the_results_is_a_case(measured: Measured) -> None:
    check = only(measured({"results.txt": FAILED}, WRITE))
    assert (check.cases, check.green) == ({"A::x": "passed", "A::y": "failed"}, False)
    assert check.details == "FAILED A::y\n1 != 2\nat line 3\nof a"


def test_what_passes_is_green_and_a_skip_is_no_pass(measured: Measured) -> None:
    check = only(measured({"results.txt": TWO.format("<skipped/>")}, WRITE))
    assert (check.cases, check.green) == ({"A::x": "passed", "A::y": "skipped"}, True)


def test_results_that_lay_there_before_count_for_nothing(measured: Measured) -> None:
    check = only(measured({"reports/junit.xml": TWO.format("")}, "true => reports/junit.xml"))
    assert "reports/junit.xml cannot be used: it is not there" in (check.trouble or "")


def test_a_bad_end_is_an_error_although_all_cases_passed(measured: Measured) -> None:
    command = "cp results.txt junit.xml; echo broke; exit 3 => junit.xml"
    check = only(measured({"results.txt": TWO.format("")}, command))
    assert check.cases == {"A::x": "passed", "A::y": "passed", command: "error"}
    assert "exit code 3\nbroke" in check.details


def test_a_mended_command_is_no_dodge(measured: Measured) -> None:
    command = "cp results.txt junit.xml; sh end.sh => junit.xml"
    base = measured({"results.txt": TWO.format(""), "end.sh": "exit 3"}, command, accept=True)
    mended = measured({"results.txt": TWO.format(""), "end.sh": "exit 0"}, command, accept=True)
    assert judge(base, mended).passed


def test_no_case_is_not_green(measured: Measured) -> None:
    check = only(measured({"results.txt": "<testsuites/>"}, WRITE))
    assert (check.cases, check.green, check.trouble) == ({}, False, None)


def test_a_good_end_hides_no_failure(measured: Measured) -> None:
    assert not only(measured({"results.txt": FAILED}, WRITE + " ")).green


@pytest.mark.parametrize("file", ["../junit.xml", "/tmp/junit.xml", "link/junit.xml", "folder/junit.xml"])
def test_results_lie_in_the_repository(measured: Measured, tmp_path: Path, file: str) -> None:
    files = {"folder/junit.xml/a": ""}
    assert "cannot be" in (only(measured(files, f"ln -s {tmp_path} link; true => {file}")).trouble or "")


def test_results_behind_a_link_are_not_read(measured: Measured) -> None:
    for command in ("ln -s results.txt junit.xml => junit.xml", "cp results.txt ../a.xml; ln -s .. b => b/a.xml"):
        assert "no plain file" in (only(measured({"results.txt": TWO.format("")}, command)).trouble or "")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no whole XML"),
        ("3 tests passed", "no whole XML"),
        (FAILED[:-5], "no whole XML"),
        ("<html/>", "begins with <html>"),
        ('<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><testsuites>&b;</testsuites>', "document type"),
        ("<testsuite>" * 200 + "</testsuite>" * 200, "deep"),
        ("<testsuites>" + " " * LARGEST + "</testsuites>", "larger"),
    ],
)
def test_what_is_not_whole_is_not_believed(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        read(text)


def test_a_document_type_is_found_in_any_encoding() -> None:
    with pytest.raises(ValueError, match="document type"):
        read_results("<!DOCTYPE a><testsuites/>".encode("utf-16"), str, lambda _: False)


@pytest.mark.parametrize(
    ("inside", "outcome"),
    [
        ("", "passed"),
        ("<failure/>", "failed"),
        ("<error>text</error>", "error"),
        ("<skipped/><failure/>", "skipped"),
        ("<system-out>failure</system-out>", "passed"),
    ],
)
def test_outcomes(inside: str, outcome: str) -> None:
    assert read(f'<testsuite><testcase name="a" classname="b">{inside}</testcase></testsuite>') == {"b::a": outcome}


def test_a_test_that_was_not_run_is_skipped() -> None:
    assert read('<testsuite><testcase name="a" classname="b" status="notrun"/></testsuite>') == {"b::a": "skipped"}


def test_names_that_occur_twice_are_numbered() -> None:
    case = '<testcase classname="a" name="b"/>'
    assert list(read(f"<testsuite>{case * 3}</testsuite>")) == ["a::b", "a::b (2)", "a::b (3)"]


def test_one_that_passed_when_run_again_is_flaky() -> None:
    text = '<testsuite><testcase classname="a" name="b"><flakyFailure/></testcase></testsuite>'
    assert read_results(text.encode(), str, lambda _: False).flaky == ("a::b",)


def test_a_file_that_broke_whole_is_an_error_and_one_that_ended_is_no_case() -> None:
    text = '<testsuite><testcase classname="test" name="{}">{}</testcase></testsuite>'
    assert read(text.format("a.test.js", "<failure/>"), ("a.test.js",)) == {"a.test.js": "error"}
    assert read(text.format("a.test.js", ""), ("a.test.js",)) == {}


def test_a_name_may_be_longer_than_any_file(measured: Measured) -> None:
    text = TWO.format("").replace('"x"', f'"{"x" * 5000}"')
    assert only(measured({"results.txt": text}, WRITE)).green


def test_an_arrow_within_a_command_is_no_results_file(measured: Measured) -> None:
    check = """node -e "[1].map(x => x.xml)" """.strip()
    assert only(measured({}, check)).cases == {check: "passed"}
    assert argv_of("a => b.xml")[0] == "sh"


BAD = "import test from 'node:test';\ntest('one', () => {});\ntest('two', () => { throw new Error('no'); });\n"


def test_node_tells_of_each_test(measured: Measured) -> None:
    check = only(measured({"test/a.test.mjs": BAD, "test/b.test.mjs": "import './none.mjs'"}, NODE))
    assert check.cases == {"test::one": "passed", "test::two": "failed", "test/b.test.mjs": "error"}
    assert check.details.startswith("FAILED test::two\n")


def test_node_is_judged_test_by_test(measured: Measured) -> None:
    good = BAD.replace("throw new Error('no');", "")
    base, candidate = (
        measured({"a.test.mjs": BAD}, NODE),
        measured({"a.test.mjs": BAD.replace("{}", "{ boom; }")}, NODE),
    )
    assert judge(base, candidate).pass_to_pass_broken == ("test::one",)
    red, green = (measured({"a.test.mjs": text}, f"{NODE} a.test.mjs", accept=True) for text in (BAD, good))
    assert judge(red, green).passed


def test_a_test_file_that_the_item_brings_was_red_before(measured: Measured) -> None:
    check = f"{NODE} test/new.test.mjs"
    base = measured({"a.txt": ""}, check, accept=True)
    candidate = measured({"test/new.test.mjs": BAD.replace("throw new Error('no');", "")}, check, accept=True)
    assert only(base).trouble is None
    assert judge(base, candidate).passed


def test_node_with_a_reporter_of_its_own_stays_one_case(measured: Measured) -> None:
    check = f"{NODE} --test-reporter=tap"
    assert only(measured({"a.test.mjs": BAD}, check)).cases == {check: "failed"}


def test_npm_writes_results_where_it_is_told(measured: Measured) -> None:
    script = "node --test --test-reporter=junit --test-reporter-destination=junit.xml"
    files = {"package.json": json.dumps({"scripts": {"test": script}}), "a.test.mjs": BAD}
    assert only(measured(files, "npm test => junit.xml")).cases == {"test::one": "passed", "test::two": "failed"}
