"""What may a change not do, whatever the checks say of it? Decided from the content of the files before and after."""

import io
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple

from agents.domain import capabilities, suppressions
from agents.domain.configured import differences, is_configuration
from agents.domain.gate import Reason
from agents.domain.loosened import loosens
from agents.domain.names import Sighting
from agents.domain.protect import TESTS, matches
from agents.domain.value import Value

PYTHON = (".py", ".pyw", ".pyi")
SCRIPT = re.compile(rb"#![^\n]*\bpython[\d.]*\b")
UNREADABLE = "\0"
IN_TESTS = (*TESTS, "**/tests/**", "**/conftest.py")
BESIDE = "**/*_test.py"
OF_TESTS = ("import of", "pytest.", "unittest.")
TOOLS = {
    *("_pytest", "build", "coverage", "hypothesis", "iniconfig", "mypy", "mypyc", "packaging", "pip", "pluggy"),
    *("pyproject_hooks", "pytest", "pytest_cov", "ruff", "setuptools", "uv", "wheel", "xdist"),
}
TAKEN = (sys.stdlib_module_names | TOOLS) - {"test"}
TOP_MODULE = re.compile(r"(?:src/|lib/|python/)?(\w+)(?:\.py|/__init__\.py|/__main__\.py)")
ALIKE = 0.5
NAMED = 5

Reader = Callable[[str], tuple[Sighting, ...]]
Rises = Callable[[Counter[str], Counter[str]], Counter[str]]


class FileChange(Value):
    """The content of one file in two trees; None where the file is absent, or is a link or a submodule."""

    path: str
    before: bytes | None
    after: bytes | None


class _Seen(NamedTuple):
    """What was seen in one file; a file that was renamed keeps what it was before."""

    path: str
    old: str | None
    new: str | None
    before: tuple[Sighting, ...]
    after: tuple[Sighting, ...]


def inspect(
    changes: tuple[FileChange, ...], grants: tuple[str, ...], typed: bool, linted: bool, covered: bool = True
) -> tuple[Reason, ...]:
    """Return what the changes do without a grant, each with its file and what to do; nothing that the base did already.

    configuration, dependencies  a setting that steers checks, builds or installs has another meaning
    capability                   product code newly uses what a cheat needs, or cannot be parsed any more
    suppression                  a file tells a check to look away more often: lint counts when `linted`, types when
                                 `typed`, coverage when `covered`, tests always; in a new test file it harms nothing,
                                 nor does `Any` in new code of a file that says it already
    shadowing                    a new module takes the name of a standard or a checking one, or a new stub hides code

    Code that moved as a whole (an import, a function or a class, or half of a file) brings along what it had.
    """
    in_force = {"tests": True, "lint": linted, "types": typed, "coverage": covered}
    found = (
        *_configuration(changes),
        *_shadowing(changes, typed),
        *_capabilities(changes),
        *_suppressions(changes, frozenset(check for check, holds in in_force.items() if holds)),
    )
    return tuple(reason for reason in found if not matches(reason.path, grants))


def _configuration(changes: tuple[FileChange, ...]) -> Iterator[Reason]:
    for change in changes:
        settings = differences(change.path, change.before, change.after) if is_configuration(change.path) else ()
        for kind, what in (("configuration", "checks, builds or tools"), ("dependencies", "what is installed")):
            names = [setting.name for setting in settings if setting.steers == kind]
            if names:
                more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
                yield _reason(kind, change.path, f"changes {', '.join(names[:NAMED])}{more}, which steers {what}")


def _shadowing(changes: tuple[FileChange, ...], typed: bool) -> Iterator[Reason]:
    gone = [change.before for change in changes if change.after is None and change.path.endswith(".pyi")]
    for change in changes:
        if change.before is not None or change.after is None:
            continue
        top = TOP_MODULE.fullmatch(change.path)
        if top and top[1] in TAKEN:
            what = f"is new and takes the place of the module {top[1]} wherever its folder comes first"
            yield _reason("shadowing", change.path, what)
        if typed and change.path.endswith(".pyi") and change.after not in gone:
            yield _reason("shadowing", change.path, "is new: the types check reads such a stub in place of the code")


def _capabilities(changes: tuple[FileChange, ...]) -> Iterator[Reason]:
    product = tuple(change for change in changes if _is_product(change.path))
    for seen, more, fresh in _excess(product, capabilities.sightings, lambda before, after: after - before):
        beside = matches(seen.path, (BESIDE,))
        for kind in sorted(kind for kind in more if not (beside and kind.startswith(OF_TESTS))):
            said = "cannot be parsed" if kind == capabilities.UNPARSEABLE else f"newly has: {kind}"
            yield _reason("capability", seen.path, said, [one.line for one in fresh if one.kind == kind])


def _is_product(path: str) -> bool:
    """Say whether a product can run this file: to import `x_test` beside it looks like any other import."""
    others = tuple(glob for glob in IN_TESTS if glob != BESIDE)
    return not matches(path, others) and not path.endswith(".pyi")


def _suppressions(changes: tuple[FileChange, ...], in_force: frozenset[str]) -> Iterator[Reason]:
    for of_tests in (False, True):
        files = tuple(change for change in changes if matches(change.path, IN_TESTS) == of_tests)
        for seen, more, fresh in _excess(files, suppressions.sightings, suppressions.rises):
            counted = {kind for kind in more if suppressions.silences(kind) in in_force}
            if "Any" in counted and seen.old and seen.new and not loosens(seen.old, seen.new):
                counted.discard("Any")
            if of_tests and seen.old is None:
                continue  # a new test that does not plainly pass proves nothing, and no case is lost by it
            for kind in sorted({kind.partition(" [")[0] for kind in counted}):
                lines = [one.line for one in fresh if one.kind in counted and one.kind.partition(" [")[0] == kind]
                yield _reason("suppression", seen.path, f"silences a check more often than before: {kind}", lines)


def _reason(kind: str, path: str, what: str, lines: list[int] | None = None) -> Reason:
    places = sorted(set(lines or ()))[:NAMED]
    where = f" (line {', '.join(map(str, places))})" if places else ""
    return Reason(
        kind=kind, path=path, message=f"{path} {what}{where}; undo it, or a human grants it (may_edit, --grant)"
    )


def _excess(
    changes: tuple[FileChange, ...], read: Reader, rises: Rises
) -> Iterator[tuple[_Seen, Counter[str], list[Sighting]]]:
    """Yield the files that have more than before, with how much more of each kind, and the places that are new."""
    sources = [(c.path, _source(c.path, c.before), _source(c.path, c.after)) for c in changes if c.before != c.after]
    look = cache(lambda source: () if source is None else read(source))
    if not any(rises(_kinds(look(old)), _kinds(look(new))) for _, old, new in sources if look(new)):
        return  # most changes: the rest of what was before need not be read
    files = _with_renames([_Seen(path, old, new, look(old), look(new)) for path, old, new in sources])
    moved = sum((_fallen(seen) for seen in files), Counter[tuple[str, str]]())
    for seen in files:
        known = Counter(_place(one) for one in seen.before)
        more = rises(_kinds(seen.before), _kinds(seen.after))
        fresh = [one for one in seen.after if not _taken(known, _place(one))]
        brought = [one for one in fresh if more[one.kind] > 0 and _moves(moved, more, one)]
        more = +more
        if more:
            yield seen, more, [one for one in fresh if one not in brought]


def _moves(moved: Counter[tuple[str, str]], more: Counter[str], one: Sighting) -> bool:
    """Say whether the code that holds this left another file, and then count it no more."""
    if not one.unit or not _taken(moved, _place(one)):
        return False
    more[one.kind] -= 1
    return True


def _taken(stock: Counter[tuple[str, str]], place: tuple[str, str]) -> bool:
    if stock[place] < 1:
        return False
    stock[place] -= 1
    return True


def _fallen(seen: _Seen) -> Counter[tuple[str, str]]:
    """Count what left a file for good: a kind that only changed its place in it is still there."""
    less = _kinds(seen.before) - _kinds(seen.after)
    gone = Counter(map(_place, seen.before)) - Counter(map(_place, seen.after))
    return Counter({place: min(count, less[place[0]]) for place, count in gone.items() if less[place[0]]})


def _with_renames(files: list[_Seen]) -> list[_Seen]:
    """Join a new file with the gone one that it is most alike, if half of their lines are the same."""
    gone = {seen.path: seen for seen in files if seen.new is None and seen.before}
    new = {seen.path: seen for seen in files if seen.old is None and seen.after}
    then = {path: _lines(seen.old) for path, seen in gone.items()}
    now = {path: _lines(seen.new) for path, seen in new.items()}
    pairs = sorted((-_likeness(then[there], now[here]), here, there) for here in new for there in gone)
    for unlike, here, there in pairs:
        if -unlike >= ALIKE and here in new and there in gone:
            old, late = gone.pop(there), new.pop(here)
            files = [seen for seen in files if seen not in (old, late)]
            files.append(_Seen(here, old.old, late.new, old.before, late.after))
    return files


def _lines(text: str | None) -> Counter[str]:
    return Counter(line.strip() for line in (text or "").splitlines() if line.strip())


def _likeness(one: Counter[str], two: Counter[str]) -> float:
    return (one & two).total() / max(one.total(), two.total(), 1)


def _kinds(sightings: tuple[Sighting, ...]) -> Counter[str]:
    return Counter(one.kind for one in sightings)


def _place(one: Sighting) -> tuple[str, str]:
    return one.kind, one.unit


def _source(path: str, content: bytes | None) -> str | None:
    """Return the text of a Python file or script as Python itself decodes it, None of any other file."""
    if content is None or not (path.endswith(PYTHON) or SCRIPT.match(content)):
        return None
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
        return content.decode(encoding)
    except (SyntaxError, UnicodeError, LookupError):  # an unknown encoding, or bytes that are none of it
        return UNREADABLE
