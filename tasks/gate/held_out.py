"""Does the candidate also do what it was never shown? Held-out tests say so, and never what they expect."""

import ast
from pathlib import Path, PurePosixPath

from agents.domain.errors import Misconfigured
from agents.domain.gate import Reason
from agents.domain.reports import CheckReport, Report
from agents.domain.trouble import kind_of_trouble
from agents.domain.value import digest_of
from tasks.checks.environment import Environment
from tasks.checks.measure import environment_of
from tasks.checks.oracle import run_held_out
from tasks.checks.workspace import Workspace, laid_out
from tasks.gate.contract import Contract
from tasks.git.trees import EXECUTABLE, FILE, Trees


def read_held_out(trees: Trees, seen: tuple[str, ...], files: tuple[Path, ...]) -> tuple[tuple[str, str], ...]:
    """Return what a contract takes of these files: name and text of each.

    Misconfigured when one is no Python, when two have one name, and when one stands in a tree of `seen`: whoever wrote
    the candidate could read it there.
    """
    found: dict[str, str] = {}
    for file in files:
        content = file.read_bytes()
        try:
            ast.parse(text := content.decode())
        except (SyntaxError, ValueError) as error:
            raise Misconfigured(f"the held-out file {file} is no Python: {error}") from None
        if file.name in found:
            raise Misconfigured(f"two held-out files are named {file.name}: give one of them another name")
        for tree in seen:
            if same := [path for path in _named(trees, tree, file.name) if trees.read(tree, path) == content]:
                raise Misconfigured(f"{file} is {same[0]} of the repository, so it is not held out: take it from there")
        found[file.name] = text
    return tuple(found.items())


def _named(trees: Trees, tree: str, name: str) -> list[str]:
    entries = trees.entries(tree)
    return [p for p, entry in entries.items() if PurePosixPath(p).name == name and entry.mode in (FILE, EXECUTABLE)]


def held_out_rules(trees: Trees, candidate: Report, contract: Contract, home: Path) -> tuple[Reason, ...]:
    """Run the contract's held-out files, each in a process of its own; every test must plainly pass.

    A reason tells a file's name and how many of its tests failed: it goes back to who wrote the candidate. The seed
    comes from the candidate's tree and the file, so that it was unknown before, and the same question has one answer.
    """
    if not contract.held_out:
        return ()
    made = environment_of(trees, candidate.tree, home)
    reports = (_run(trees, candidate.tree, made, held, contract, home) for held in contract.held_out)
    return tuple(reason for report in reports if (reason := _reason(report)) is not None)


def _run(
    trees: Trees, tree: str, made: Environment, held: tuple[str, str], contract: Contract, home: Path
) -> CheckReport:
    name, content = held
    seed = int(digest_of([tree, content])[:16], 16)
    with laid_out(trees, tree, home) as root:
        workspace = Workspace(root=root, environment=made, seconds=contract.plan.seconds)
        return run_held_out(workspace, name, content, seed, home)


def _reason(report: CheckReport) -> Reason | None:
    name = report.check
    if report.trouble:
        kind = kind_of_trouble(report.trouble)
        return Reason(kind=kind, path=name, message=f"the held-out tests of {name} gave no answer: {report.trouble}")
    failed = sum(outcome != "passed" for outcome in report.cases.values())
    if not failed:
        return None
    if failed == len(report.cases) and not any("::" in case for case in report.cases):
        return Reason(kind="held_out", path=name, message=f"{name}, which is held out, cannot be loaded on this tree")
    message = f"{failed} of the {len(report.cases)} held-out tests of {name} did not pass"
    return Reason(kind="held_out", path=name, message=message)
