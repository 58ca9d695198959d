"""Measure a tree: run every check of a plan on it, each in a workspace of its own, and report what happened once."""

import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

from agents import domain
from agents.domain.errors import AskAgain, Misconfigured
from agents.domain.reports import CheckReport, Report, report_key
from agents.domain.value import Value, digest_of
from tasks.checks import environment, keeping, sandbox
from tasks.checks.build import run_build
from tasks.checks.command import run_command
from tasks.checks.environment import Definition, Environment
from tasks.checks.mypy import run_mypy
from tasks.checks.pytest import NO_NODE, arguments_of, run_pytest
from tasks.checks.ruff import run_ruff
from tasks.checks.toolbox import tools_digest
from tasks.checks.workspace import Workspace, laid_out
from tasks.git.trees import EXECUTABLE, FILE, Trees

MANY = 500


class Plan(Value):
    """What is measured: the mission's suites and the item's acceptance checks; `seconds` is the limit of each check."""

    suites: tuple[str, ...] = ()
    acceptance: tuple[str, ...] = ()
    seconds: int


def measure(trees: Trees, tree: str, plan: Plan, home: Path, base_tree: str = "") -> Report:
    """Return the report about `tree`; a check that was carried out on this tree before is not run again.

    A check in trouble is not kept, so the next call tries again. Misconfigured when the repository's environment cannot
    be made; a candidate that asks for another one than `base_tree` is in trouble itself, and stops nobody else.
    """
    try:
        return _measured(trees, tree, plan, home)
    except Misconfigured as error:
        if not base_tree or not _redefines(trees, base_tree, tree):
            raise
        troubles = [
            tuple(CheckReport(check=check, kind="command", trouble=str(error)) for check in checks)
            for checks in (plan.suites, plan.acceptance)
        ]
        name = sandbox.describe()
        return Report(tree=tree, environment="", sandbox=name, suites=troubles[0], acceptance=troubles[1])


def _redefines(trees: Trees, base_tree: str, tree: str) -> bool:
    """Say whether a tree asks for another environment than its base, also by a definition that nobody understands."""
    return environment_name(trees, tree) != environment_name(trees, base_tree)


def _measured(trees: Trees, tree: str, plan: Plan, home: Path) -> Report:
    definition, gate = environment.define(*_sources(trees, tree)), gate_digest(home)

    def once(check: str) -> CheckReport:
        key = report_key(tree, (check, str(plan.seconds)), definition.name, gate)
        kept = home.absolute() / "reports" / f"{key}.json"
        if (known := _load(kept, check)) is not None:
            return known
        report = _check(trees, tree, check, plan.seconds, _environment(trees, tree, definition, home), home)
        if not report.trouble:
            keeping.keep(kept, report.model_dump_json())
        return report

    return Report(
        tree=tree,
        environment=definition.name,
        sandbox=sandbox.describe(),
        suites=tuple(map(once, plan.suites)),
        acceptance=tuple(map(once, plan.acceptance)),
    )


def remeasure(
    trees: Trees,
    report: Report,
    plan: Plan,
    home: Path,
    cases: tuple[str, ...],
    times: int = 2,
    seeds: tuple[int, ...] = (),
) -> Report:
    """Run the named cases again on the same tree; those that differ from the report are then `flaky` in it.

    Tests are run alone first, which is quick. Only runs of the whole check decide: a test that leans on the one before
    it differs alone, and is not unstable. With `seeds` the whole check runs once for each, in another order and with
    another hash seed. A run that could not be carried out is trouble of its check.
    """
    made = environment_of(trees, report.tree, home)

    def whole(check: str, seed: int | None = None) -> CheckReport:
        return _check(trees, report.tree, check, plan.seconds, made, home, seed)

    def settled(check: CheckReport) -> CheckReport:
        wanted = {case for case in cases if case in check.cases and case not in (*NO_NODE, *check.flaky)}
        if check.kind not in ("pytest", "command") or check.trouble:
            return check
        if seeds and check.kind == "pytest":
            turns = iter(seeds)
            return _again(check, wanted, len(seeds), lambda: whole(check.check, next(turns)))
        if check.kind == "pytest" and len(wanted) <= MANY:
            alone = _again(check, wanted, times, lambda: _alone(trees, report.tree, check, wanted, plan, made, home))
            wanted &= set(alone.flaky) if not alone.trouble else wanted
        return _again(check, wanted, times, lambda: whole(check.check))

    suites, acceptance = (tuple(map(settled, checks)) for checks in (report.suites, report.acceptance))
    return report.model_copy(update={"suites": suites, "acceptance": acceptance})


def _again(check: CheckReport, wanted: set[str], times: int, run: Callable[[], CheckReport]) -> CheckReport:
    """Run until every wanted case has differed, at most `times`; return the check with those that did as flaky."""
    flaky: set[str] = set()
    for _ in range(times):
        if flaky == wanted:
            break
        second = run()
        if second.trouble:
            return check.model_copy(update={"trouble": second.trouble})
        flaky |= {case for case in wanted if second.cases.get(case) != check.cases[case] or case in second.flaky}
    return check.model_copy(update={"flaky": tuple(sorted({*check.flaky, *flaky}))})


def _alone(
    trees: Trees, tree: str, check: CheckReport, cases: set[str], plan: Plan, made: Environment, home: Path
) -> CheckReport:
    with laid_out(trees, tree, home) as root:
        workspace = Workspace(root=root, environment=made, seconds=plan.seconds)
        return run_pytest(workspace, check.check, tuple(sorted(cases)))


def environment_of(trees: Trees, tree: str, home: Path, base_tree: str = "") -> Environment:
    """Return the environment of the repository at `tree`, made when it is not there yet.

    Misconfigured when it cannot be made; AskAgain when it is not that of `base_tree`: who wrote the tree asked for it.
    """
    try:
        return _environment(trees, tree, environment.define(*_sources(trees, tree)), home)
    except Misconfigured as error:
        if not base_tree or not _redefines(trees, base_tree, tree):
            raise
        raise AskAgain(f"the environment that this tree asks for cannot be made: {error}") from None


def environment_name(trees: Trees, tree: str) -> str:
    """Name what the environment of the repository at `tree` is made from, "" when nobody understands it."""
    try:
        return environment.define(*_sources(trees, tree)).name
    except Misconfigured:
        return ""


def gate_digest(home: Path) -> str:
    """Name what measures and judges: its source files, the bytes of its tools, and the sandbox of this machine."""
    return digest_of([_rooms(), tools_digest(home), list(sys.version_info[:3]), sandbox.describe()])


@cache
def _rooms() -> str:
    tasks = Path(__file__).parents[1]
    rooms = (*(tasks / name for name in ("checks", "gate", "git")), Path(domain.__file__).parent)
    sources = {
        f"{room.name}/{file.relative_to(room)}": file.read_text(encoding="utf-8")
        for room in rooms
        for file in sorted(room.rglob("*.py"))
    }
    return digest_of(sources)


def _sources(trees: Trees, tree: str) -> tuple[tuple[str, ...], Callable[[str], bytes]]:
    paths = tuple(path for path, entry in trees.entries(tree).items() if entry.mode in (FILE, EXECUTABLE))
    return paths, lambda path: trees.read(tree, path)


def _environment(trees: Trees, tree: str, definition: Definition, home: Path) -> Environment:
    if (made := environment.find(definition, home)) is not None:
        return made
    with laid_out(trees, tree, home) as folder:
        return environment.build(definition, folder, home)


def _check(
    trees: Trees, tree: str, check: str, seconds: int, made: Environment, home: Path, seed: int | None = None
) -> CheckReport:
    with laid_out(trees, tree, home) as root:
        workspace = Workspace(root=root, environment=made, seconds=seconds)
        match check:
            case "tests":
                return run_pytest(workspace, check, seed=seed)
            case "lint":
                return run_ruff(workspace, check)
            case "types":
                return run_mypy(workspace, check)
            case "build":
                return run_build(workspace, check, home)
        if check.startswith("pytest ") or check == "pytest":
            return run_pytest(workspace, check, arguments_of(check), seed=seed)
        return run_command(workspace, check)


def _load(kept: Path, check: str) -> CheckReport | None:
    """Read a kept report; one that is broken, or about another check, counts as none."""
    report = keeping.load(kept, CheckReport)
    return report if report and report.check == check else None
