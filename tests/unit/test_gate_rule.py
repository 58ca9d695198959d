"""When may a candidate merge, and what can never let it?"""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from agents.domain.gate import Reason, Verdict, fenced, judge
from agents.domain.reports import CheckReport, Outcome, Report, report_key
from agents.domain.trouble import kind_of_trouble
from tasks.checks.sandbox import BUBBLEWRAP, GROUP_ONLY

ACCEPT, SUITE, LINT = "pytest tests/test_new.py", "tests", "lint"
OUTCOMES: tuple[Outcome, ...] = ("passed", "failed", "error", "skipped", "xfailed", "xpassed")
QUICK = settings(max_examples=100, derandomize=True, deadline=None)


def check(name: str = ACCEPT, trouble: str | None = None, **cases: Outcome) -> CheckReport:
    kind = "ruff" if name == LINT else "pytest"
    return CheckReport(check=name, kind=kind, cases=cases, trouble=trouble)


def report(tree: str, *suites: CheckReport, accept: tuple[CheckReport, ...] = ()) -> Report:
    return Report(tree=tree, environment="e", sandbox="s", suites=suites, acceptance=accept)


def verdict(before: CheckReport, after: CheckReport) -> Verdict:
    return judge(report("b", accept=(before,)), report("c", accept=(after,)))


def suite_verdict(before: CheckReport, after: CheckReport) -> Verdict:
    """Judge a change whose acceptance is fine, so that the suite alone decides."""
    base = report("b", before, accept=(check(new="failed"),))
    return judge(base, report("c", after, accept=(check(new="passed"),)))


def kinds(judged: Verdict) -> set[str]:
    return {reason.kind for reason in judged.reasons}


CASES = st.dictionaries(st.sampled_from("abcd"), st.sampled_from(OUTCOMES), max_size=4)
DIAGNOSTICS = st.dictionaries(st.sampled_from(["E1: x", "E2: y"]), st.integers(1, 3), max_size=2)
TROUBLE = st.one_of(st.none(), st.none(), st.just("timed out"))


def checks(name: str, kind: str) -> st.SearchStrategy[CheckReport]:
    flaky = st.lists(st.sampled_from("abcd"), max_size=2, unique=True).map(tuple)
    return st.builds(
        CheckReport,
        check=st.just(name),
        kind=st.just(kind),
        cases=CASES if kind == "pytest" else st.just({}),
        diagnostics=DIAGNOSTICS if kind == "ruff" else st.just({}),
        flaky=flaky if kind == "pytest" else st.just(()),
        trouble=TROUBLE,
        details=st.just(""),
        seconds=st.just(0.0),
    )


def reports(tree: str) -> st.SearchStrategy[Report]:
    suites = st.tuples(checks(SUITE, "pytest"), checks(LINT, "ruff"))
    accept = st.one_of(st.just(()), st.tuples(checks(ACCEPT, "pytest")))
    return st.builds(
        Report, tree=st.just(tree), environment=st.just("e"), sandbox=st.just("s"), suites=suites, acceptance=accept
    )


@st.composite
def passing(draw: st.DrawFn) -> tuple[Report, Report]:
    """Draw two reports that pass: a base, and a candidate that is no worse in anything and better in one thing."""
    cases, extra = draw(CASES), draw(st.lists(st.sampled_from("efg"), unique=True))
    found = draw(DIAGNOSTICS)
    base = report("b", check(SUITE, **cases), check(LINT).model_copy(update={"diagnostics": found}))
    better: dict[str, Outcome] = {case: draw(st.sampled_from(["passed", outcome])) for case, outcome in cases.items()}
    better |= {case: draw(st.sampled_from(["passed", "skipped", "xfailed"])) for case in extra}
    fewer = {text: draw(st.integers(0, count)) for text, count in found.items()}
    after = report("c", check(SUITE, **better), check(LINT).model_copy(update={"diagnostics": fewer}))
    red = draw(st.sampled_from(["failed", "error", "xpassed"]))
    return (
        base.model_copy(update={"acceptance": (check(new=red, old="passed"),)}),
        after.model_copy(update={"acceptance": (check(new="passed", old="passed"),)}),
    )


@QUICK
@given(passing())
def test_a_change_that_helps_and_harms_nothing_passes(pair: tuple[Report, Report]) -> None:
    judged = judge(*pair)
    assert judged.passed
    assert judged.reasons == ()
    assert judged.fail_to_pass == (ACCEPT,)
    assert (judged.base_tree, judged.candidate_tree) == ("b", "c")


@QUICK
@given(reports("t"), reports("t"))
def test_a_tree_judged_against_itself_never_passes(base: Report, candidate: Report) -> None:
    judged = judge(base, candidate)
    assert judged.decision == "fail"
    assert "unchanged" in kinds(judged)


HARMS = {
    "a new failing test": lambda c: harmed(c, 0, cases={**c.suites[0].cases, "z": "failed"}),
    "a new test with an error": lambda c: harmed(c, 0, cases={**c.suites[0].cases, "z": "error"}),
    "a new test that should fail and passes": lambda c: harmed(c, 0, cases={**c.suites[0].cases, "z": "xpassed"}),
    "a suite that could not run": lambda c: harmed(c, 0, trouble="timed out"),
    "a linter that could not run": lambda c: harmed(c, 1, trouble="crashed"),
    "a new diagnostic": lambda c: harmed(c, 1, diagnostics={**c.suites[1].diagnostics, "E9: z": 1}),
    "an acceptance check that could not run": lambda c: rejudged(c, trouble="timed out"),
    "an acceptance test that fails": lambda c: rejudged(c, cases={"new": "passed", "old": "passed", "z": "failed"}),
    "an acceptance test that is flaky": lambda c: rejudged(c, flaky=("new",)),
    "an acceptance check that ran nothing": lambda c: rejudged(c, cases={}),
}


def harmed(candidate: Report, place: int, **changes: object) -> Report:
    suites = list(candidate.suites)
    suites[place] = suites[place].model_copy(update=changes)
    return candidate.model_copy(update={"suites": tuple(suites)})


def rejudged(candidate: Report, **changes: object) -> Report:
    return candidate.model_copy(update={"acceptance": (candidate.acceptance[0].model_copy(update=changes),)})


@pytest.mark.parametrize("harm", HARMS)
@settings(max_examples=30, derandomize=True, deadline=None)
@given(pair=passing())
def test_no_harm_added_to_a_passing_candidate_keeps_it_passing(harm: str, pair: tuple[Report, Report]) -> None:
    base, candidate = pair
    assert judge(base, HARMS[harm](candidate)).decision == "fail"


@QUICK
@given(passing(), st.sampled_from([outcome for outcome in (*OUTCOMES, None) if outcome != "passed"]))
def test_a_test_that_passed_must_pass(pair: tuple[Report, Report], now: Outcome | None) -> None:
    base, candidate = pair
    held = [case for case, outcome in base.suites[0].cases.items() if outcome == "passed"]
    assume(held)
    cases = {**candidate.suites[0].cases, held[0]: now}
    kept = {case: outcome for case, outcome in cases.items() if outcome is not None}
    judged = judge(base, harmed(candidate, 0, cases=kept))
    assert judged.decision == "fail"
    assert judged.pass_to_pass_broken == (held[0],)


@QUICK
@given(reports("b"), reports("c"))
def test_a_pass_has_its_proof_and_a_refusal_its_reason(base: Report, candidate: Report) -> None:
    judged = judge(base, candidate)
    assert judged.passed == (not judged.reasons)
    if judged.passed:
        green = {one.check for one in candidate.acceptance if one.green}
        assert judged.fail_to_pass
        assert set(judged.fail_to_pass) <= green == {one.check for one in candidate.acceptance}
        assert not base.trouble
        assert not candidate.trouble
    if not candidate.acceptance:
        assert not judged.passed


@QUICK
@given(passing(), st.sampled_from(["protected", "odd_file"]))
def test_integrity_is_never_outweighed(pair: tuple[Report, Report], kind: str) -> None:
    touched = Reason(kind=kind, path="tests/test_a.py", message="touched")
    assert judge(*pair, integrity=(touched,)).reasons == (touched,)


@QUICK
@given(reports("b"), reports("c"))
def test_equal_reports_get_equal_verdicts(base: Report, candidate: Report) -> None:
    assert judge(base, candidate).digest() == judge(base, candidate).digest()


@pytest.mark.parametrize(
    ("kind", "cases", "diagnostics", "green"),
    [
        ("pytest", {}, {}, False),
        ("pytest", {"a": "passed"}, {}, True),
        ("pytest", {"a": "skipped"}, {}, False),
        ("pytest", {"a": "xfailed"}, {}, False),
        ("pytest", {"a": "passed", "b": "skipped"}, {}, True),
        ("pytest", {"a": "passed", "b": "xpassed"}, {}, False),
        ("pytest", {"a": "passed", "b": "error"}, {}, False),
        ("command", {"run": "failed"}, {}, False),
        ("build", {}, {}, False),
        ("ruff", {}, {}, True),
        ("mypy", {}, {"E1: x": 1}, False),
    ],
)
def test_green_needs_something_that_ran_and_was_good(kind, cases, diagnostics, green) -> None:
    assert CheckReport(check="c", kind=kind, cases=cases, diagnostics=diagnostics).green is green


@pytest.mark.parametrize("kind", ["pytest", "command", "build", "ruff", "mypy"])
def test_trouble_and_flakiness_are_never_green(kind) -> None:
    good = CheckReport(check="c", kind=kind, cases={"a": "passed"})
    assert good.green
    assert not good.model_copy(update={"trouble": "timed out"}).green
    assert not good.model_copy(update={"flaky": ("a",)}).green


def test_without_acceptance_a_harmless_change_is_unverified() -> None:
    judged = judge(report("b", check(SUITE, a="passed")), report("c", check(SUITE, a="passed")))
    assert (judged.decision, kinds(judged)) == ("unverified", {"unverified"})


def test_without_acceptance_a_harmful_change_fails() -> None:
    assert judge(report("b", check(SUITE, a="passed")), report("c", check(SUITE, a="failed"))).decision == "fail"


def test_what_was_green_before_proves_nothing() -> None:
    assert kinds(verdict(check(a="passed"), check(a="passed"))) == {"already_green"}


def test_one_acceptance_check_must_turn_and_all_must_be_green() -> None:
    red, still = check("pytest b", b="failed"), check("pytest c", c="passed")
    base = report("b", accept=(red, still))
    assert judge(base, report("c", accept=(check("pytest b", b="passed"), still))).passed
    half = judge(base, report("c", accept=(check("pytest b", b="passed"), check("pytest c", c="failed"))))
    assert [reason.message for reason in half.reasons] == ["pytest c is not green: c failed"]


@pytest.mark.parametrize("outcome", ["failed", "error", "skipped", "xfailed"])
def test_what_failed_on_base_may_stay_as_it_is(outcome: Outcome) -> None:
    assert suite_verdict(check(SUITE, a=outcome), check(SUITE, a=outcome)).passed


def test_a_test_lost_on_base_by_flakiness_is_quarantined_and_said() -> None:
    before = check(SUITE, a="passed").model_copy(update={"flaky": ("a",)})
    judged = suite_verdict(before, check(SUITE, a="failed"))
    assert (judged.decision, judged.quarantined) == ("pass", ("a",))


def test_the_same_test_name_in_two_checks_is_two_tests() -> None:
    base = report("b", check("one", a="passed"), check("two", a="passed"), accept=(check(new="failed"),))
    after = report("c", check("one", a="failed"), check("two", a="passed"), accept=(check(new="passed"),))
    assert judge(base, after).pass_to_pass_broken == ("a",)


def test_trouble_on_the_base_is_no_verdict_on_the_candidate() -> None:
    judged = verdict(check(trouble="timed out"), check(a="passed"))
    assert [reason.message for reason in judged.reasons] == [f"on the base, {ACCEPT}: timed out"]


def test_more_of_a_known_diagnostic_is_new() -> None:
    before = check(LINT).model_copy(update={"diagnostics": {"E1: x": 2}})
    judged = suite_verdict(before, before.model_copy(update={"diagnostics": {"E1: x": 3}}))
    assert [(r.kind, r.message) for r in judged.reasons] == [("new_ruff", "E1: x (3 now, 2 before)")]


def test_a_check_that_is_flaky_on_base_turns_nothing_green() -> None:
    before = check(a="failed").model_copy(update={"flaky": ("a",)})
    assert not verdict(before, check(a="passed")).passed


@pytest.mark.parametrize("now", ["skipped", "xfailed"])
def test_an_acceptance_test_that_failed_is_not_mended_by_a_skip(now: Outcome) -> None:
    assert not verdict(check(a="failed", b="passed"), check(a=now, b="passed")).passed


def test_a_check_that_was_not_run_on_base_proves_nothing() -> None:
    assert not judge(report("b"), report("c", accept=(check(a="passed"),))).passed


def test_a_test_that_the_candidate_makes_flaky_is_lost() -> None:
    after = check(SUITE, a="failed").model_copy(update={"flaky": ("a",)})
    assert not suite_verdict(check(SUITE, a="passed"), after).passed


def test_a_report_is_named_by_everything_it_depends_on() -> None:
    names = {
        report_key("t", ("a", "b"), "e", "g"),
        report_key("u", ("a", "b"), "e", "g"),
        report_key("t", ("a",), "e", "g"),
        report_key("t", ("b", "a"), "e", "g"),
        report_key("t", ("a", "b"), "f", "g"),
        report_key("t", ("a", "b"), "e", "h"),
    }
    assert len(names) == 6


@pytest.mark.parametrize(
    ("kind", "cases", "details", "told"),
    [
        ("pytest", {"t.py::a": "passed", "t.py::b": "failed"}, "FAILED t.py::b\nassert 1 == 2", "assert 1 == 2"),
        ("command", {"make": "failed"}, "exit code 2\nno rule", "exit code 2\nno rule"),
        ("ruff", {}, "a.py:3: F401 unused", "a.py:3: F401 unused"),
    ],
)
def test_a_red_acceptance_check_tells_what_it_saw(
    kind: str, cases: dict[str, Outcome], details: str, told: str
) -> None:
    now = CheckReport.model_validate(
        {"check": "c", "kind": kind, "cases": cases, "details": details, "diagnostics": {} if cases else {"F401: x": 1}}
    )
    (reason,) = judge(report("b", accept=(check("c", b="failed"),)), report("c", accept=(now,))).reasons
    assert reason.kind == "acceptance"
    assert told in reason.message


def test_a_new_diagnostic_tells_where_it_is() -> None:
    details = "src/a.py:3: F401 `os` is unused\nsrc/b.py:9: E501 too long"
    now = CheckReport(check=LINT, kind="ruff", diagnostics={"F401: `os` is unused": 1}, details=details)
    judged = judge(report("b", check(LINT)), report("c", now))
    assert "F401: `os` is unused (1 now, 0 before) at src/a.py:3" in [r.message for r in judged.reasons]


def test_a_pass_without_isolation_is_none_unless_the_operator_allowed_it() -> None:
    passed = verdict(check(a="failed"), check(a="passed")).model_copy(update={"sandbox": GROUP_ONLY})
    held = fenced(passed, allowed=False)
    assert (held.decision, held.passed, kinds(held)) == ("unsandboxed", False, {"unsandboxed"})
    assert fenced(passed, allowed=True) == passed
    isolated = passed.model_copy(update={"sandbox": BUBBLEWRAP})
    assert fenced(isolated, allowed=False) == isolated


def test_a_refusal_stays_one_without_isolation() -> None:
    failed = verdict(check(a="failed"), check(a="failed")).model_copy(update={"sandbox": GROUP_ONLY})
    assert fenced(failed, allowed=False) == failed


def test_a_case_that_became_unstable_is_lost_and_the_reason_says_so() -> None:
    unstable = check(SUITE, old="passed").model_copy(update={"flaky": ("old",)})
    judged = suite_verdict(check(SUITE, old="passed"), unstable)
    assert [(r.kind, r.message) for r in judged.reasons] == [
        ("pass_to_pass", "old passed on base and now passes in some runs and fails in others")
    ]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("timed out after 3 s; the setting check_seconds raises the limit", "timeout"),
        ("crashed in test_a: it ended with exit code -9 before it had reported its end", "crash"),
        ("stopped in test_a: 2 tests were collected and never ended, the first is test_b", "crash"),
        ("ruff could not check: it ended with exit code 2", "crash"),
        (
            "crashed: it ended with exit code -9 before it had reported its end; stopped: it held more than 9 b",
            "memory",
        ),
        ("crashed: it ended with exit code -9 before it had reported its end; stopped: it wrote more than 9 b", "disk"),
        ("timed out after 3 s; it was in test_a[the result channel was tampered with]", "timeout"),
        ("the result channel was tampered with", "tamper"),
        ("exit code 0, and its results in r.xml cannot be used: not well-formed", "garbage"),
        ("the build backend cannot be had", "infra"),
    ],
)
def test_trouble_has_a_kind_of_its_own(text: str, kind: str) -> None:
    assert kind_of_trouble(text) == kind
    judged = verdict(check(a="failed"), check(trouble=text))
    assert (judged.passed, kinds(judged)) == (False, {kind})


def test_an_acceptance_check_that_is_luck_on_the_base_shows_nothing() -> None:
    lucky = check(a="passed").model_copy(update={"flaky": ("a",)})
    judged = verdict(lucky, check(a="passed"))
    assert [reason.kind for reason in judged.reasons] == ["already_green"]
    assert "can show nothing" in judged.reasons[0].message


def test_a_case_that_wavers_on_the_base_is_not_held_against_the_candidate() -> None:
    before = check(fault="failed", order="passed").model_copy(update={"flaky": ("order",)})
    for outcome in ("passed", "failed"):
        after = check(fault="passed", order=outcome).model_copy(update={"flaky": ("order",)})
        assert verdict(before, after).passed
    assert not verdict(before, check(fault="failed", order="passed")).passed
    worse = check(fault="passed", order="passed").model_copy(update={"flaky": ("fault",)})
    assert kinds(verdict(before, worse)) == {"acceptance"}
