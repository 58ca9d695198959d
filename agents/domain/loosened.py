"""Did a file that says `Any` say it in new code alone, or in what had a better type before?"""

import ast
from collections import Counter
from collections.abc import Iterator

from agents.domain.names import Function, parsed
from agents.domain.suppressions import sightings

NOWHERE = ""


def loosens(before: str, after: str) -> bool:
    """Say whether `Any` is new to the file, or to a function, a class or a variable that was there before.

    New functions and variables of a file that used `Any` before may do as the file does: nothing became weaker.
    """
    old, new = _places(before), _places(after)
    known = {NOWHERE, *(name for name, _, _ in _named(before))}
    more = {place for place, count in new.items() if count > old[place]}
    return not old or bool(more & known) or bool(_leaning(before, after) & more)


def _leaning(before: str, after: str) -> set[str]:
    """Name what functions and classes that were there stand on newly: what decorates them, or what they are now."""
    then, now = _shapes(before), _shapes(after)
    return {name for known in then.keys() & now.keys() for name in now[known] - then[known]}


def _shapes(source: str) -> dict[str, set[str]]:
    """Return each name at the top with the names that its decorators, or the value that it is given, speak of."""
    tree, found = parsed(source), dict[str, set[str]]()
    for node in tree.body if tree else ():
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                parts: list[ast.expr] = node.decorator_list
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                parts = [value]
            case _:
                continue
        said = (each for part in parts for each in ast.walk(part))
        found.setdefault(name, set()).update(each.id for each in said if isinstance(each, ast.Name))
    return found


def _places(source: str) -> Counter[str]:
    """Count the `Any` of each name; one that is in no name's reach, or in that of several, is nowhere."""
    named = list(_named(source))
    found: Counter[str] = Counter()
    for line in (sighting.line for sighting in sightings(source) if sighting.kind == "Any"):
        around = [(last - first, name) for name, first, last in named if first <= line <= last]
        least = min(around, default=(0, NOWHERE))[0]
        names = {name for size, name in around if size == least}
        found[names.pop() if len(names) == 1 else NOWHERE] += 1
    return found


def _named(source: str) -> Iterator[tuple[str, int, int]]:
    """Yield the functions, classes and variables with their first and last line, and nothing inside of a function."""
    tree = parsed(source)
    waiting: list[tuple[str, ast.stmt]] = [("", node) for node in (tree.body if tree else ())]
    while waiting:
        above, node = waiting.pop()
        first, last = node.lineno, node.end_lineno or node.lineno
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield f"{above}{name}", min([first, *(mark.lineno for mark in node.decorator_list)]), last
                if not isinstance(node, Function):
                    waiting += [(f"{above}{name}.", child) for child in node.body]
            case ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]):
                yield f"{above}{name}", first, last
            case _:
                waiting += [(above, child) for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt)]
