"""What may be refused before anything runs? The paths that changed, and what the changed files say."""

from collections.abc import Iterator

from agents.domain.configured import is_configuration
from agents.domain.diff_policy import FileChange, inspect
from agents.domain.gate import Reason
from agents.domain.protect import Change, matches, own_checks, strays, violations
from agents.domain.standing import in_front
from tasks.checks.measure import environment_name
from tasks.gate.contract import Contract
from tasks.gate.overlay import trusted
from tasks.git.trees import EXECUTABLE, FILE, Trees

MEASURES_COVERAGE = (".coveragerc", "pyproject.toml", "setup.cfg", "tox.ini", "pytest.ini")


def path_rules(trees: Trees, base: str, changes: tuple[Change, ...], contract: Contract) -> tuple[Reason, ...]:
    """Return what was touched that is not the candidate's to touch, by name alone."""
    checks = (*contract.plan.suites, *contract.plan.acceptance)
    return (
        *in_front(changes, trees.entries(base), checks, contract.grants),
        *violations(changes, contract.protect, contract.grants),
        *own_checks(changes, contract.plan.acceptance, contract.grants),
        *strays(changes, contract.files, contract.grants),
    )


def diff_rules(
    trees: Trees, base: str, tree: str, changes: tuple[Change, ...], contract: Contract
) -> tuple[Reason, ...]:
    """Return what the content of the changed files does without a grant."""
    checks = (*contract.plan.suites, *contract.plan.acceptance)
    contents = tuple(
        FileChange(path=c.path, before=_content(trees, base, c.path), after=_content(trees, tree, c.path))
        for c in changes
    )
    covered = any(b"cov" in text for text in _present(trees, base))
    said = inspect(contents, contract.grants, typed="types" in checks, linted="lint" in checks, covered=covered)
    known = {reason.path for reason in said if reason.kind == "dependencies"}
    return (*said, *(r for r in installs(trees, base, tree, changes, contract.grants) if r.path not in known))


def installs(
    trees: Trees, base: str, tree: str, changes: tuple[Change, ...], grants: tuple[str, ...]
) -> Iterator[Reason]:
    """Yield the files, whatever their names, without whose change another environment would be made.

    To make one runs what it installs, so it is made from granted changes alone.
    """
    free = [change.path for change in changes if not matches(change.path, grants)]
    before, name = environment_name(trees, base), environment_name(trees, tree)
    if name == before or name == environment_name(trees, trusted(trees, base, tree, frozenset(free))):
        return
    for path in free:
        alone, without = (environment_name(trees, one) for one in _with_and_without(trees, base, tree, path))
        if alone != before or without != name:
            what = (
                f"{path} decides what is installed and was changed; undo it, or a human grants it (may_edit, --grant)"
            )
            yield Reason(kind="dependencies", path=path, message=what)


def _with_and_without(trees: Trees, base: str, tree: str, path: str) -> tuple[str, str]:
    """Return the base with one file as in the tree, and the tree with that file as in the base."""
    return trusted(trees, tree, base, frozenset([path])), trusted(trees, base, tree, frozenset([path]))


def by_meaning(paths: tuple[Reason, ...], content: tuple[Reason, ...]) -> tuple[Reason, ...]:
    """Return what is left of `paths`: configuration that steers as before was not touched, whatever its text is now."""
    steered = {reason.path for reason in content}
    free = {r.path for r in paths if r.kind == "protected" and is_configuration(r.path) and r.path not in steered}
    return tuple(reason for reason in paths if reason.path not in free or reason.kind != "protected")


def _content(trees: Trees, tree: str, path: str) -> bytes | None:
    entry = trees.entries(tree).get(path)
    return trees.blob(entry.oid) if entry and entry.mode in (FILE, EXECUTABLE) else None


def _present(trees: Trees, tree: str) -> Iterator[bytes]:
    return (text for path in MEASURES_COVERAGE if (text := _content(trees, tree, path)) is not None)
