"""Which new files would stand in front of others? Decided from the names in the base and in the change."""

import sys
from collections.abc import Iterable
from pathlib import PurePosixPath

from agents.domain.diff_policy import TAKEN
from agents.domain.gate import Reason
from agents.domain.programs import programs_of
from agents.domain.protect import Change, matches

PACKAGE = "__init__.py"
SOURCES = ("", "src", "lib", "python")


def in_front(
    changes: tuple[Change, ...], base: Iterable[str], checks: tuple[str, ...], grants: tuple[str, ...]
) -> tuple[Reason, ...]:
    """Return the new files that are imported in place of what the base has, of what checks use.

    A new package beside a module of its name is imported instead of it; so is one that has the name of a product module
    in a folder of tests that is no package itself; and whatever lies beside a script comes first for it.
    """
    known = frozenset(base) - {change.path for change in changes if change.kind == "deleted"}
    folders = {str(PurePosixPath(program).parent) for check in checks for program in programs_of(check)}
    alike = {path.lower(): path for path in known}
    found = []
    for path in [c.path for c in changes if c.kind == "added" and not matches(c.path, grants)]:
        if (twin := alike.get(path.lower(), path)) != path:
            found.append(_reason("odd_name", path, f"differs from {twin} in the case of letters alone"))
        elif what := _hides(path, known, folders):
            found.append(_reason("shadowing", path, f"is imported in place of {what}"))
    return tuple(found)


def _hides(path: str, known: frozenset[str], folders: set[str]) -> str:
    place = PurePosixPath(path)
    module = place.parent if place.name == PACKAGE else place.with_suffix("") if place.suffix == ".py" else None
    if module is None:
        return ""
    if place.name == PACKAGE and f"{module}.py" in known:
        return f"{module}.py"
    above = str(module.parent)
    if above in folders and above not in (".", "src") and module.name in TAKEN | sys.stdlib_module_names:
        return f"the module {module.name}, for a script that checks"
    bare = f"{above}/{PACKAGE}" not in known and above != "." and above not in SOURCES
    if place.name == PACKAGE and bare and f"{above}/" in {f"{parent}/" for parent in _folders_of_tests(known)}:
        if module.name in TAKEN:
            return f"the module {module.name}, for the tests of {above}"
        return f"the product's {module.name}" if module.name in _products(known) else ""
    return ""


def _folders_of_tests(known: frozenset[str]) -> set[str]:
    return {str(PurePosixPath(path).parent) for path in known if PurePosixPath(path).name.startswith("test_")}


def _products(known: frozenset[str]) -> set[str]:
    """Name the top modules and packages that the base has at its root and in the usual source folders."""
    tops = set()
    for path in known:
        parts = PurePosixPath(path).parts
        parts = parts[1:] if parts[0] in SOURCES else parts
        if len(parts) == 2 and parts[1] == PACKAGE:
            tops.add(parts[0])
        elif len(parts) == 1 and parts[0].endswith(".py"):
            tops.add(parts[0].removesuffix(".py"))
    return tops


def _reason(kind: str, path: str, what: str) -> Reason:
    return Reason(kind=kind, path=path, message=f"{path} is new and {what}; a human may grant it: may_edit, --grant")
