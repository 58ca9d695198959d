"""Does what turned green prove anything? A check that no wrong answer can turn red was made to pass."""

import ast
import difflib
from pathlib import Path

from agents.domain.gate import Reason, Verdict
from agents.domain.names import parsed
from agents.domain.protect import TESTS, matches
from agents.domain.reports import CheckReport, Report
from agents.domain.trouble import kind_of_trouble
from agents.domain.weak import expects_little
from tasks.checks.measure import environment_of
from tasks.checks.probes import Bench, passes_hollow, survivors, twin_passes
from tasks.gate.contract import Contract
from tasks.git.trees import EXECUTABLE, FILE, Change, Trees

TWINS = 2
MUTANTS = 6
FEWEST = 2
NO_CODE = (ast.Import, ast.ImportFrom)
SECONDS = 120.0


def twin_rules(trees: Trees, candidate: Report, verdict: Verdict, contract: Contract, home: Path) -> tuple[Reason, ...]:
    """Run impossible twins of the tests that turned green: one that passes accepts what cannot be right.

    The seeds come from the candidate's tree: nobody knows them while the candidate is written, and the same tree has
    the same twins.
    """
    bench = _bench(trees, candidate, contract, home)
    first = _seed(verdict)
    found: dict[tuple[str, str], Reason] = {}
    for check in _turned(candidate, verdict):
        for seed in range(first, first + TWINS):
            told = twin_passes(bench, check, seed)
            if told.trouble and kind_of_trouble(told.trouble) == "tamper":
                found["tamper", check.check] = Reason(kind="tamper", path=check.check, message=told.trouble)
            for case in told.passed:
                message = f"{case} also passes when it expects an answer that cannot be right"
                found["twin", case] = Reason(kind="twin", path=case, message=message)
    return tuple(found.values())


def mutant_rules(
    trees: Trees, changes: tuple[Change, ...], candidate: Report, verdict: Verdict, contract: Contract, home: Path
) -> tuple[Reason, ...]:
    """Break the changed lines: tests that the candidate brought itself must notice one of a few faults at least.

    Tests that a human wrote are not held to this: what they leave open is theirs to leave open.
    """
    own = [check for check in _turned(candidate, verdict) if check.check in verdict.self_written]
    lines = _changed_lines(trees, verdict.base_tree, candidate.tree, changes) if own else {}
    lines = {path: rows for path, rows in lines.items() if _has_code(_text(trees, candidate.tree, path), rows)}
    bench = _bench(trees, candidate, contract, home)
    return tuple(
        Reason(kind="vacuous", path=check.check, message=f"{check.check} came with the change and {what}")
        for check in own
        if (what := _unnoticed(bench, check, lines, _seed(verdict), _expects_little(trees, candidate.tree, check)))
    )


def _unnoticed(bench: Bench, check: CheckReport, lines: dict[str, frozenset[int]], seed: int, little: bool) -> str:
    """Say what a check did not notice: that the changed functions do nothing, or each of a few faults in them."""
    if passes_hollow(bench, check, lines):
        return "stays green when the changed functions do nothing at all"
    told = survivors(bench, check, lines, seed, MUTANTS, SECONDS)
    if told.tried < FEWEST:
        lax = little and lines and not told.killed
        return "compares with no answer, and there is little in it to break" if lax else ""
    lived = ", ".join(f"{one.path}:{one.line} {one.what}" for one in told.survivors[:3])
    if not told.killed:
        return f"notices no fault in it: {told.tried} tried, such as {lived}"
    if little and 2 * told.killed < told.tried:
        return f"compares with no answer, and notices {told.killed} of {told.tried} faults: not {lived}"
    return ""


def _has_code(text: list[str], rows: frozenset[int]) -> bool:
    """Say whether these rows define or do anything, beside imports and texts."""
    module = parsed("\n".join(text))
    statements = [node for node in ast.walk(module) if isinstance(node, ast.stmt)] if module else []
    coded = (node for node in statements if not isinstance(node, NO_CODE) and not _is_text(node))
    return any(rows & set(range(node.lineno, (node.end_lineno or 0) + 1)) for node in coded)


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _expects_little(trees: Trees, tree: str, check: CheckReport) -> bool:
    """Say whether a check asks for types and presence alone: it then notices some faults by chance."""
    files = {case.partition("::")[0] for case in check.cases}
    return all(expects_little("\n".join(_text(trees, tree, path))) for path in files)


def _turned(candidate: Report, verdict: Verdict) -> list[CheckReport]:
    return [check for check in candidate.acceptance if check.kind == "pytest" and check.check in verdict.fail_to_pass]


def _bench(trees: Trees, candidate: Report, contract: Contract, home: Path) -> Bench:
    made = environment_of(trees, candidate.tree, home)
    return Bench(trees=trees, tree=candidate.tree, made=made, home=home, seconds=contract.plan.seconds)


def _seed(verdict: Verdict) -> int:
    return int(verdict.candidate_tree[:8], 16)


def _changed_lines(trees: Trees, base: str, tree: str, changes: tuple[Change, ...]) -> dict[str, frozenset[int]]:
    """Return the lines, counted from 1, that are new or other in each changed Python file outside of tests."""
    files = [c for c in changes if c.path.endswith(".py") and c.new_mode in (FILE, EXECUTABLE)]
    return {
        c.path: _new_lines(_text(trees, base, c.path), _text(trees, tree, c.path))
        for c in files
        if not matches(c.path, TESTS)
    }


def _text(trees: Trees, tree: str, path: str) -> list[str]:
    return trees.read(tree, path).decode("utf-8", "replace").splitlines() if path in trees.entries(tree) else []


def _new_lines(before: list[str], after: list[str]) -> frozenset[int]:
    blocks = difflib.SequenceMatcher(a=before, b=after, autojunk=False).get_opcodes()
    return frozenset(n + 1 for what, _, _, start, end in blocks if what != "equal" for n in range(start, end))
