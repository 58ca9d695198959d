"""Is a candidate really done? One pure rule over two reports; nothing here runs anything."""

from typing import Literal

from pydantic import field_validator

from agents.domain.reports import CheckReport, Report
from agents.domain.trouble import kind_of_trouble
from agents.domain.value import Value

Decision = Literal["pass", "fail", "unverified", "unsandboxed"]
STORY_CHARS = 500
PLACES = 3
UNSANDBOXED = "UNSANDBOXED"
UNPROVED = (
    "no acceptance check applies, so nothing shows that the change does what it is for: name one (`check:` of an item, "
    "--accept)"
)
UNFENCED = (
    "all that was asked for holds, but the checks ran without isolation, so nothing shows that they were left alone: "
    "`lra doctor` names the command that mends it, and LRA_ALLOW_UNSANDBOXED=true of the operator does without"
)


class Reason(Value):
    """Why a candidate is refused; `kind` is stable for machines, `message` is for people.

    `path` is the file, the id of the case, or the check that it is about.
    """

    kind: str
    message: str
    path: str = ""

    @field_validator("message", "path")
    @classmethod
    def _is_writable(cls, text: str) -> str:
        """Spell out the bytes of a path that are no UTF-8: the record is JSON."""
        return text.encode("utf-8", "backslashreplace").decode()


class Stage(Value):
    """How a stage of the gate ended: clear, with `reasons` to refuse, or spared, as its answer could change nothing."""

    name: str
    outcome: Literal["clear", "refused", "spared"]
    reasons: int = 0


class Verdict(Value):
    """The gate's answer about one candidate tree; worthless for any other tree.

    `quarantined` names cases that the base itself is unstable in, `self_written` the acceptance checks whose tests the
    base did not have: the candidate brought them, so they prove no more than their author wanted. `unprobed` are checks
    that turned green and are commands: no twin or mutant asks whether they prove anything.
    """

    decision: Decision
    base_tree: str
    candidate_tree: str
    reasons: tuple[Reason, ...] = ()
    fail_to_pass: tuple[str, ...] = ()
    pass_to_pass_broken: tuple[str, ...] = ()
    quarantined: tuple[str, ...] = ()
    self_written: tuple[str, ...] = ()
    unprobed: tuple[str, ...] = ()
    stages: tuple[Stage, ...] = ()
    environment: str = ""
    sandbox: str = ""

    @property
    def passed(self) -> bool:
        """The candidate may merge."""
        return self.decision == "pass"


def judge(base: Report, candidate: Report, integrity: tuple[Reason, ...] = ()) -> Verdict:
    """Decide whether `candidate` is done and worse in nothing; a tree judged against itself never passes.

    pass        an acceptance check that was not green on base is green on the candidate, all of them are green,
                nothing that passed on base is lost, no diagnostic is new, and integrity holds.
    unverified  no acceptance check applies, and nothing else is wrong: never a pass.
    fail        anything else, with every reason that was found.
    """
    candidate = settled(base, candidate)
    broken, quarantined = _lost_passes(base, candidate)
    turned = _turned_green(base, candidate)
    reasons = [
        *integrity,
        *_unchanged(base, candidate),
        *troubles("base", base),
        *troubles("candidate", candidate),
        *_unfinished(base, candidate),
        *(Reason(kind="pass_to_pass", path=case, message=_lost(candidate, case)) for case in broken),
        *_new_failures(base, candidate),
        *_new_diagnostics(base, candidate),
    ]
    if not turned and (why := _nothing_to_turn(base, candidate)) and not any(r.kind == "acceptance" for r in reasons):
        reasons.append(Reason(kind="already_green", message=why))
    decision: Decision = "fail" if reasons else "pass" if turned else "unverified"
    if decision == "unverified":
        reasons.append(Reason(kind="unverified", message=UNPROVED))
    return Verdict(
        decision=decision,
        base_tree=base.tree,
        candidate_tree=candidate.tree,
        reasons=tuple(reasons),
        fail_to_pass=turned,
        pass_to_pass_broken=broken,
        quarantined=quarantined,
        self_written=tuple(
            c.check for c in base.acceptance if c.kind == "pytest" and not c.cases and c.check in turned
        ),
        unprobed=tuple(c.check for c in candidate.acceptance if c.kind == "command" and c.check in turned),
        environment=candidate.environment,
        sandbox=candidate.sandbox,
    )


def settled(base: Report, candidate: Report) -> Report:
    """Leave out of the acceptance checks the cases that waver on the base: neither side is held to luck."""
    luck = {check.check: frozenset(check.flaky) for check in base.acceptance}
    acceptance = tuple(_without(check, luck.get(check.check, frozenset())) for check in candidate.acceptance)
    return candidate.model_copy(update={"acceptance": acceptance})


def troubles(side: str, report: Report) -> list[Reason]:
    """Return why a tree could not be measured: nothing is known of what its checks would have said."""
    return [
        Reason(kind=kind_of_trouble(check.trouble), message=f"on the {side}, {check.check}: {check.trouble}")
        for check in (*report.suites, *report.acceptance)
        if check.trouble
    ]


def fenced(verdict: Verdict, allowed: bool) -> Verdict:
    """Take back a pass that no isolation stands behind, unless the operator has allowed such: it was only claimed."""
    if not verdict.passed or allowed or not verdict.sandbox.startswith(UNSANDBOXED):
        return verdict
    reason = Reason(kind="unsandboxed", message=UNFENCED)
    return verdict.model_copy(update={"decision": "unsandboxed", "reasons": (*verdict.reasons, reason)})


def _unchanged(base: Report, candidate: Report) -> list[Reason]:
    same = base.tree == candidate.tree
    return [Reason(kind="unchanged", message="the candidate is the base: nothing was changed")] if same else []


def _unfinished(base: Report, candidate: Report) -> list[Reason]:
    before = {check.check: check for check in base.acceptance}
    reasons = []
    for check in candidate.acceptance:
        dodged = _dodged(before[check.check], check) if check.check in before else ()
        if check.trouble or (not check.cases and check.check in before and before[check.check].flaky):
            continue
        if not check.green:
            reasons.append((check, _first_red(check)))
        elif dodged:
            reasons.append((check, f": {dodged[0]} failed before and does not plainly pass now"))
    return [Reason(kind="acceptance", path=c.check, message=f"{c.check} is not green{why}") for c, why in reasons]


def _dodged(before: CheckReport, now: CheckReport) -> tuple[str, ...]:
    """Name the cases that were red and are skipped, expected to fail or gone now; a file that broke whole may go."""
    return tuple(
        case
        for case, outcome in before.cases.items()
        if outcome in ("failed", "error")
        and now.cases.get(case) != "passed"
        and not (outcome == "error" and "::" not in case and case not in now.cases)
    )


def _first_red(check: CheckReport) -> str:
    if not check.cases and not check.diagnostics:
        return f": nothing ran{f' ({check.details})' if check.details else ''}"
    red = next(((case, outcome) for case, outcome in check.cases.items() if outcome != "passed"), None)
    said = f":\n{check.details[-STORY_CHARS:]}" if check.details and check.kind != "pytest" else ""
    return f": {red[0]} {red[1]}" + (_story((check,), red[0]) or said) if red else said


def _without(check: CheckReport, cases: frozenset[str]) -> CheckReport:
    rest = {case: outcome for case, outcome in check.cases.items() if case not in cases}
    return check.model_copy(update={"cases": rest, "flaky": tuple(case for case in check.flaky if case not in cases)})


def _turned_green(base: Report, candidate: Report) -> tuple[str, ...]:
    """Name the checks that are green and were not; one that was red in nothing but luck shows nothing."""
    was_red = {c.check for c in base.acceptance if (_steadily_red(c) if c.flaky else not c.green)}
    return tuple(check.check for check in candidate.acceptance if check.green and check.check in was_red)


def _steadily_red(check: CheckReport) -> bool:
    return any(outcome in ("failed", "error") for case, outcome in check.cases.items() if case not in check.flaky)


def _nothing_to_turn(base: Report, candidate: Report) -> str:
    """Say why no acceptance check could turn green; nothing without one, or when one could not be carried out."""
    if not candidate.acceptance or any(check.trouble for check in (*base.acceptance, *candidate.acceptance)):
        return ""
    unsteady = [check.check for check in base.acceptance if check.flaky]
    if unsteady:
        return f"{unsteady[0]} passes on the base in some runs and fails in others, so it can show nothing"
    return "every acceptance check was green before the change"


def _lost_passes(base: Report, candidate: Report) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what passed on base and does not now, and what is left out because the base itself is unstable in it."""
    now = {
        (c.check, case): case not in c.flaky and o == "passed" for c in candidate.suites for case, o in c.cases.items()
    }
    unstable = {(c.check, case) for c in base.suites for case in c.flaky}
    troubled = {c.check for c in candidate.suites if c.trouble}
    held = [(c.check, case) for c in base.suites for case, outcome in c.cases.items() if outcome == "passed"]
    broken = [
        case
        for check, case in held
        if check not in troubled and (check, case) not in unstable and not now.get((check, case))
    ]
    return tuple(broken), tuple(sorted({case for _, case in unstable}))


def _lost(candidate: Report, case: str) -> str:
    unstable = any(case in check.flaky for check in candidate.suites)
    said = "now passes in some runs and fails in others" if unstable else "does not now"
    return f"{case} passed on base and {said}{_story(candidate.suites, case)}"


def _story(checks: tuple[CheckReport, ...], case: str) -> str:
    """Return what the checks tell of a case, for the next attempt to learn from; nothing when it is gone."""
    parts = (part for check in checks for part in check.details.split("\n\n"))
    return next(
        (f":\n{part[:STORY_CHARS]}" for part in parts if case in part.partition("\n")[0].split(" ", 1)[-1:]), ""
    )


def _new_failures(base: Report, candidate: Report) -> list[Reason]:
    known = {(c.check, case) for c in base.suites for case in c.cases}
    return [
        Reason(
            kind="new_failure",
            path=case,
            message=f"{case} is new and does not pass ({outcome})" + _story(candidate.suites, case),
        )
        for c in candidate.suites
        for case, outcome in c.cases.items()
        if (c.check, case) not in known and case not in c.flaky and outcome in ("failed", "error", "xpassed")
    ]


def _new_diagnostics(base: Report, candidate: Report) -> list[Reason]:
    before = {c.check: c.diagnostics for c in (*base.acceptance, *base.suites)}
    return [
        _grown(check, text, before.get(check.check, {}).get(text, 0))
        for check in (*candidate.suites, *(one for one in candidate.acceptance if one.kind == "build"))
        for text, count in check.diagnostics.items()
        if count > before.get(check.check, {}).get(text, 0)
    ]


def _grown(check: CheckReport, text: str, before: int) -> Reason:
    """Tell of a diagnostic that there is more of; the report may have shortened the details that say where."""
    code, _, told = text.partition(": ")
    places = [line.partition(": ")[0] for line in check.details.splitlines() if code in line and told in line]
    where = f" at {', '.join(places[:PLACES])}" if places else ""
    message = f"{text} ({check.diagnostics[text]} now, {before} before){where}"
    return Reason(kind=f"new_{check.kind}", path=places[0].partition(":")[0] if places else "", message=message)
