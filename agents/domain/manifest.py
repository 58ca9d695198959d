"""Which tests does a file promise? Read from its text, so that nothing that runs can make one of them go away."""

import ast
from collections.abc import Iterator
from fnmatch import fnmatchcase

from agents.domain.names import Function

NO_TEST = frozenset({"fixture", "nottest", "overload"})


def promised(source: str, functions: tuple[str, ...], classes: tuple[str, ...]) -> frozenset[str]:
    """Return the tests that every run of a test file has, as pytest writes them after the path ("Class::test").

    `functions` and `classes` are pytest's patterns for names. What a condition defines, what a decorator may take away,
    and classes that say how they are collected are not promised. No Python promises nothing.
    """
    try:
        module = ast.parse(source)
    except (SyntaxError, ValueError):
        return frozenset()
    found = set(_tests(module.body, functions))
    for node in module.body:
        if isinstance(node, ast.ClassDef) and _is_collected(node, classes):
            patterns = ("test",) if _is_unittest(node) else functions
            found |= {f"{node.name}::{name}" for name in _tests(node.body, patterns)}
    return frozenset(found)


def _tests(body: list[ast.stmt], patterns: tuple[str, ...]) -> Iterator[str]:
    deleted = [target for node in body if isinstance(node, ast.Delete) for target in node.targets]
    taken = {target.id for target in deleted if isinstance(target, ast.Name)}
    for node in body:
        if not isinstance(node, Function) or node.name in taken or not _matches(node.name, patterns):
            continue
        if not {_last(decorator) for decorator in node.decorator_list} & NO_TEST:
            yield node.name


def _is_collected(node: ast.ClassDef, classes: tuple[str, ...]) -> bool:
    own = {part.name for part in node.body if isinstance(part, Function)}
    own |= {
        target.id
        for part in node.body
        if isinstance(part, ast.Assign)
        for target in part.targets
        if hasattr(target, "id")
    }
    steered = own & {"__init__", "__new__", "__test__"} or node.keywords or node.decorator_list
    return not steered and (_is_unittest(node) or (not node.bases and _matches(node.name, classes)))


def _is_unittest(node: ast.ClassDef) -> bool:
    return any(_last(base) in ("TestCase", "IsolatedAsyncioTestCase") for base in node.bases)


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    """Match as pytest does: a pattern is the beginning of a name, or has wildcards."""
    return any(name.startswith(one) or fnmatchcase(name, one) for one in patterns)


def _last(node: ast.expr) -> str:
    match node:
        case ast.Call(func=func):
            return _last(func)
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
    return ""
