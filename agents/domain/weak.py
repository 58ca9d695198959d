"""Does a test say what the answer is? One that asks for a type or a presence alone holds for most wrong answers."""

import ast
from collections.abc import Iterator

OF_A_KIND = frozenset({"isinstance", "issubclass", "callable", "hasattr", "bool", "len", "any", "all"})
WEAK_METHODS = frozenset({"assertIsInstance", "assertIsNotNone"})
ON_TRUTH = frozenset({"assertTrue", "assertFalse"})
EXPECTING = frozenset({"raises", "warns", "approx"})


def expects_little(source: str) -> bool:
    """Say whether no assertion of a module compares with an answer: types, presence and truth are all that is asked.

    A module that is no Python expects nothing; a function of its own that asserts, wherever it stands, counts as well.
    """
    try:
        module = ast.parse(source)
    except (SyntaxError, ValueError):
        return True
    return not any(_tells(node) for node in ast.walk(module))


def _tells(node: ast.AST) -> bool:
    match node:
        case ast.Assert(test=test):
            return any(_compares(part) for part in _parts(test))
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=args):
            if name in ON_TRUTH:
                return any(_compares(part) for part in _parts(args[0])) if args else False
            return name in EXPECTING or (name.startswith(("assert", "fail")) and name not in WEAK_METHODS)
    return False


def _parts(test: ast.expr) -> Iterator[ast.expr]:
    match test:
        case ast.BoolOp(values=values):
            for value in values:
                yield from _parts(value)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield from _parts(operand)
        case _:
            yield test


def _compares(test: ast.expr) -> bool:
    """Say whether a condition tells an answer from most others: a call that is given two things may compare them."""
    match test:
        case ast.Compare(ops=[ast.Is() | ast.IsNot()], comparators=[ast.Constant(value=None)]):
            return isinstance(test.ops[0], ast.Is)
        case ast.Compare(ops=[ast.Gt() | ast.GtE() | ast.NotEq()], comparators=[right]):
            return not _is_empty(right)
        case ast.Compare(left=ast.Call(func=ast.Name(id="type"))):
            return False
        case ast.Compare():
            return True
        case ast.Call(func=ast.Name(id=name), args=args):
            return name not in OF_A_KIND and len(args) > 1
        case ast.Call(args=args):
            return bool(args)
    return False


def _is_empty(node: ast.expr) -> bool:
    match node:
        case ast.Constant(value=value):
            return not value
        case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Dict(keys=parts):
            return not parts
    return False
