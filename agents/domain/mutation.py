"""Would the tests notice? Small wrong versions of a module, each wrong in one place on the lines that were changed."""

import ast
import itertools
import random
from collections.abc import Iterator
from typing import NamedTuple

from agents.domain.value import Value

COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.In: "not in",
    ast.NotIn: "in",
}
ARITHMETIC: dict[type[ast.operator], str] = {
    ast.Add: "-",
    ast.Sub: "+",
    ast.Mult: "+",
    ast.Div: "*",
    ast.FloorDiv: "*",
    ast.Mod: "*",
    ast.Pow: "*",
    ast.LShift: ">>",
    ast.RShift: "<<",
    ast.BitAnd: "|",
    ast.BitOr: "&",
    ast.BitXor: "&",
}
UNSEEN = {"TYPE_CHECKING", "__name__"}
TYPES = ("Literal", "Annotated", "TypeVar", "NewType", "ParamSpec", "cast")
TALK = ("log", "logger", "logging", "_log", "_logger", "LOG", "LOGGER", "warnings", "print")


class Mutant(Value):
    """A module with one thing wrong: the line it is on, what was changed, and the whole text."""

    line: int
    what: str
    source: str


class Edit(NamedTuple):
    """A replacement of the text of `node`, or of what stands between two nodes."""

    start: tuple[int, int]
    end: tuple[int, int]
    text: str
    what: str


def mutants(source: str, lines: frozenset[int], seed: int, limit: int) -> tuple[Mutant, ...]:
    """Return at most `limit` mutants on `lines`, chosen by the seed and in the order of the text; none for no Python.

    Left out is what no test could notice: docstrings, annotations, `__all__`, `if TYPE_CHECKING`, logging.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return ()
    text = _Text(source)
    edits = [edit for edit in _edits(tree, text) if edit.start[0] in lines]
    random.Random(seed).shuffle(edits)  # noqa: S311  the same seed, the same choice
    chosen = itertools.islice((edit for edit in edits if _parses(text.spliced(edit))), limit)
    return tuple(Mutant(line=edit.start[0], what=edit.what, source=text.spliced(edit)) for edit in sorted(chosen))


class _Text:
    """A source by the positions of its tree: lines from 1, columns in bytes of UTF-8."""

    def __init__(self, source: str) -> None:
        self._bytes = source.encode()
        self._starts = [0, 0]
        # As the parser counts them: a form feed or a line separator inside of a string ends no line.
        for line in self._bytes.replace(b"\r\n", b" \n").replace(b"\r", b"\n").splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def between(self, start: tuple[int, int], end: tuple[int, int]) -> str:
        return self._bytes[self._at(start) : self._at(end)].decode()

    def of(self, node: ast.expr | ast.stmt) -> str:
        return self.between(_start(node), _end(node))

    def spliced(self, edit: Edit) -> str:
        whole = (self._bytes[: self._at(edit.start)], edit.text.encode(), self._bytes[self._at(edit.end) :])
        return b"".join(whole).decode()

    def _at(self, place: tuple[int, int]) -> int:
        return self._starts[place[0]] + place[1]


def _edits(node: ast.AST, text: _Text) -> Iterator[Edit]:
    """Yield every edit in a part of the tree, and look into nothing that no test could notice."""
    if isinstance(node, ast.stmt):
        yield from _of_statement(node, text)
    elif isinstance(node, ast.expr):
        yield from _of_expression(node, text)
    for child in _children(node):
        yield from _edits(child, text)


def _children(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.If(test=test) if _names(test) & UNSEEN:
            yield from node.orelse
        case ast.JoinedStr():
            return  # Python 3.11 does not know where in the text its parts are.
        case ast.Subscript(value=value) | ast.Call(func=value) if _root(value) in TYPES:
            return
        case ast.AnnAssign(value=value):
            yield from [value] if value else []
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            yield from (*node.decorator_list, *_defaults(node.args), *node.body)
        case ast.Lambda():
            yield from (*_defaults(node.args), node.body)
        case _ if isinstance(node, ast.stmt) and _is_silent(node):
            return
        case _:
            yield from ast.iter_child_nodes(node)


def _is_silent(node: ast.stmt) -> bool:
    match node:
        case ast.Expr(value=ast.Constant()) | ast.Import() | ast.ImportFrom():
            return True
        case ast.Assign(targets=[ast.Name(id="__all__")]) | ast.AugAssign(target=ast.Name(id="__all__")):
            return True
        case ast.Expr(value=ast.Call(func=function)):
            return _root(function) in TALK
    return False


def _of_statement(node: ast.stmt, text: _Text) -> Iterator[Edit]:
    match node:
        case ast.Return(value=ast.expr() as value) if text.of(value) != "None":
            yield _replaced(value, "None", text)
        case ast.Break():
            yield _replaced(node, "continue", text)
        case ast.Continue():
            yield _replaced(node, "break", text)
        case ast.Expr(value=value) if not isinstance(value, ast.Constant) and not _is_silent(node):
            yield _replaced(node, "pass", text)
        case ast.AugAssign() | ast.Raise() | ast.Delete() if not _is_silent(node):
            yield _replaced(node, "pass", text)
        case ast.If(test=ast.Name() | ast.Attribute() | ast.Call() as test) if not _names(test) & UNSEEN:
            yield _replaced(test, f"not ({text.of(test)})", text)


def _of_expression(node: ast.expr, text: _Text) -> Iterator[Edit]:
    match node:
        case ast.Compare(left=left, ops=ops, comparators=rights):
            for before, op, after in zip((left, *rights), ops, rights, strict=False):
                yield from _operator(before, after, COMPARISONS[type(op)], text)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in ARITHMETIC and not _is_text(left, right):
            yield from _operator(left, right, ARITHMETIC[type(op)], text)
        case ast.BoolOp(op=op, values=values):
            other = "or" if isinstance(op, ast.And) else "and"
            for before, after in itertools.pairwise(values):
                yield from _operator(before, after, other, text)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield _replaced(node, f"({text.of(operand)})", text)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            yield _replaced(node, f"({text.of(operand)})", text)
        case ast.IfExp(test=test):
            yield _replaced(test, f"not ({text.of(test)})", text)
        case ast.Constant(value=value):
            yield from (_replaced(node, new, text) for new in _constants(value))


def _constants(value: object) -> tuple[str, ...]:
    match value:
        case bool():
            return (str(not value),)
        case int():
            return (str(value + 1), str(value - 1) if value > 0 else "(-1)")
        case float():
            return (repr(value + 1.0),)
        case str():
            return (repr(f"{value}XX") if value else repr("XX"),)
        case bytes():
            return (repr(value + b"XX"),)
    return ()


def _operator(before: ast.expr, after: ast.expr, new: str, text: _Text) -> Iterator[Edit]:
    """Replace the operator between two operands; it stands alone there but for spaces, brackets and comments."""
    start, end = _end(before), _start(after)
    between = text.between(start, end)
    old = between.strip(" \t()\\\r\n")
    if old and "#" not in between:
        yield Edit(start, end, between.replace(old, new), f"{' '.join(old.split())} -> {new}")


def _replaced(node: ast.expr | ast.stmt, new: str, text: _Text) -> Edit:
    old = " ".join(text.of(node).split())
    shown = old if len(old) <= 40 else f"{old[:37]}..."
    return Edit(_start(node), _end(node), new, f"{shown} -> {' '.join(new.split())[:45]}")


def _defaults(arguments: ast.arguments) -> list[ast.expr]:
    return [*arguments.defaults, *(one for one in arguments.kw_defaults if one is not None)]


def _is_text(*nodes: ast.expr) -> bool:
    """A sum or a format of strings: with another operator it is an error that any test sees."""
    return any(isinstance(n, ast.JoinedStr) or isinstance(getattr(n, "value", None), str) for n in nodes)


def _names(node: ast.AST) -> set[str]:
    return {getattr(inner, "id", "") or getattr(inner, "attr", "") for inner in ast.walk(node)}


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute | ast.Call):
        node = node.value if isinstance(node, ast.Attribute) else node.func
        if isinstance(node, ast.Attribute) and node.attr in TALK:
            return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _start(node: ast.expr | ast.stmt) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _end(node: ast.expr | ast.stmt) -> tuple[int, int]:
    return node.end_lineno or node.lineno, node.end_col_offset or node.col_offset


def _parses(source: str) -> bool:
    try:
        ast.parse(source)
    except (SyntaxError, ValueError):
        return False
    return True
