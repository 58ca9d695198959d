"""Do it, durably: look at the base before anyone is paid: what it holds, what fails already, what can be shown."""

import re
from collections.abc import Iterator

from prefect import task

from agents.briefing import Material
from agents.domain.checklist import Item
from agents.domain.errors import Misconfigured
from agents.domain.protect import matches
from agents.domain.reports import Report
from tasks.checks.measure import measure
from tasks.checks.pytest import CONFIGURATION
from tasks.cycle import Cycle
from tasks.integrate import postpone
from tasks.journal import Data
from tasks.policies import STAGE
from tasks.redact import is_secret

AROUND = re.compile(r"[\s`'\"(),;:]+")
NAMED = 2
CONFTEST, LEFT = "while loading conftest", "_pytest.outcomes.Exit: "
SAID = re.compile(rf"(?:^E +(?:{LEFT})?|\berror: |^ERROR: )(.+)", re.MULTILINE)


@task(name="orient", **STAGE)
def orient(cycle: Cycle) -> Data:
    """Return the material for the briefing, remarks for people, and why no check can show the item done (or "")."""
    report = base_report(cycle, cycle.pin.base_tree)
    return {
        "material": _material(cycle, report).model_dump(mode="json"),
        "remarks": list(_remarks(report)),
        "unverifiable": _unverifiable(report),
    }


def base_report(cycle: Cycle, tree: str) -> Report:
    """Measure a base (once per tree); when a check cannot even be carried out there, the operator must act first."""
    report = measure(cycle.trees, tree, cycle.plan, cycle.held.home)
    if trouble := report.trouble or tuple(startless(report, cycle.item)):
        why = f"the checks cannot be carried out on {cycle.mission.target} as it is: {'; '.join(trouble)}"
        postpone(cycle, why)
        raise Misconfigured(
            f"{why}. No model was called. Mend it and run the same command again, or start a mission with other checks "
            "under another title: a mission keeps the checks that it was started with."
        )
    return report


def startless(report: Report, item: Item) -> Iterator[str]:
    """Say why pytest starts no test on this tree, when no code could change it and no grant says that the item may.

    A conftest that cannot be imported is another matter: what it imports may be what the item is about.
    """
    for check in report.suites or report.acceptance:
        hopeless = LEFT in check.details or CONFTEST not in check.details
        if CONFIGURATION in check.cases and hopeless and not item.may_edit:
            yield f"{check.check}: pytest does not start: {_said(check.details)}"


def _said(details: str) -> str:
    return str((SAID.findall(details) or [details])[-1]).strip()[:300]


def _remarks(report: Report) -> Iterator[str]:
    """Say what a human should know about the base: what fails there already, and which checks say nothing yet."""
    if failing := _others(report):
        more = f" and {len(failing) - NAMED} more" if len(failing) > NAMED else ""
        yield f"fails on the base already, and may stay so: {', '.join(failing[:NAMED])}{more}"
    for check in report.suites:
        if check.flaky:
            yield f"unstable on the base, so it decides nothing: {', '.join(check.flaky[:5])}"
        if CONFIGURATION in check.cases:
            yield f"{check.check}: pytest does not start, so no test can show anything: {_said(check.details)}"
        if check.kind == "pytest" and not check.cases:
            yield f"{check.check}: no test was found on the base, so it shows nothing yet"
    if not report.suites:
        yield "no check of the whole repository is configured: only the item's own checks decide"


def _unverifiable(report: Report) -> str:
    if not report.acceptance:
        return "the item has no check: add one that fails now and passes when it is done"
    if all(check.green for check in report.acceptance):
        return "its checks are green already on the base, so they cannot show that it gets done"
    return ""


def _material(cycle: Cycle, report: Report) -> Material:
    tree = cycle.pin.base_tree
    paths = tuple(sorted(cycle.trees.entries(tree)))
    named = _named(cycle.item)
    shown = [path for path in paths if path in named or matches(path, cycle.item.files)]
    texts = {path: cycle.text(tree, path) for path in shown if not is_secret(path)}
    return Material(listing=paths, texts=texts, known_failures=_others(report))


def _named(item: Item) -> set[str]:
    """Return every word of the item that may be a path: of its checks, and of its description without punctuation."""
    checks = {word.split("::")[0] for check in item.checks for word in check.split()}
    return checks | {word.rstrip(".") for word in AROUND.split(item.description)}


def _others(report: Report) -> tuple[str, ...]:
    """Name the cases that fail on this tree and are not what the item is about: they may stay and may not grow."""
    own = {case for check in report.acceptance for case in check.cases}
    failing = [
        case for check in report.suites for case, outcome in check.cases.items() if outcome in ("failed", "error")
    ]
    return tuple(case for case in failing if case not in own and case != CONFIGURATION)
