"""How does a test expect something else, also for who reads its text? The literal is changed where it is written."""

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

NEW_LINE = re.compile(rb"\r\n|\r|\n")
STRING = re.compile(r"(?s)\w{0,2}('''|\"\"\"|'|\").*\1")
Function = ast.FunctionDef | ast.AsyncFunctionDef


class Edit(NamedTuple):
    """Bytes of a text, from `start` up to `end`, and what stands there instead."""

    start: int
    end: int
    new: str


class Text:
    """The text of a module; what is not edited stays as it was, byte for byte."""

    def __init__(self, source: str) -> None:
        self._bytes = source.encode("utf-8", "surrogatepass")
        self._lines = [0, *(found.end() for found in NEW_LINE.finditer(self._bytes))]

    def of(self, node: ast.expr) -> str:
        """Return how an expression is written."""
        start, end = self._span(node)
        return self._bytes[start:end].decode("utf-8", "surrogatepass")

    def edit(self, node: ast.expr, new: str) -> Edit:
        """Write something else for an expression."""
        return Edit(*self._span(node), new)

    def edited(self, edits: list[Edit]) -> str:
        """Return the text after all edits; no two of them may meet."""
        made = self._bytes
        for start, end, new in sorted(edits, reverse=True):
            made = made[:start] + new.encode("utf-8", "surrogatepass") + made[end:]
        return made.decode("utf-8", "surrogatepass")

    def _span(self, node: ast.expr) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._lines[node.lineno - 1] + node.col_offset, self._lines[node.end_lineno - 1] + node.end_col_offset


def changed(value: object, salt: int) -> object:
    """Return what is equal to no correct answer where `value` is; plain data keeps its shape, and all but one part."""
    if type(value) is bool:
        return not value
    if isinstance(value, int | float) and type(value) in (int, float):
        return value * 2 + salt if value >= 0 else value * 2 - salt
    if type(value) is complex:
        return value + salt
    if type(value) is str:
        return f"{value}{salt}"
    if type(value) is bytes:
        return value + str(salt).encode()
    for kind in (list, tuple, set, frozenset):
        if isinstance(value, kind) and type(value) is kind:
            chosen = salt // 6 % max(len(value), 1)
            return kind([changed(x, salt) if n == chosen else x for n, x in enumerate(value)] or [salt])
    if isinstance(value, dict) and type(value) is dict:
        chosen = salt // 6 % max(len(value), 1)
        return {k: changed(x, salt) if n == chosen else x for n, (k, x) in enumerate(value.items())} or {salt: salt}
    return object()


def rewritten(text: Text, node: ast.expr, salt: int) -> list[Edit]:
    """Return the edit that changes a literal, or one part of it, and keeps its quotes; none when no text can say it."""
    parts = _parts(node)
    if parts:
        return rewritten(text, parts[salt // 6 % len(parts)], salt)
    new = changed(ast.literal_eval(node), salt)
    old = text.of(node)
    quoted = STRING.fullmatch(old)
    if quoted and isinstance(new, str | bytes):
        quote = quoted[1]
        longer = f"{old.removesuffix(quote)}{salt}{quote}"
        if _value(longer) == new:
            return [text.edit(node, longer)]
    return [text.edit(node, repr(new))] if _value(repr(new)) == new else []


def literals(node: ast.expr, function: Function, module: ast.Module) -> list[ast.expr]:
    """Return the literals that alone decide what `node` is: a name that is used nowhere else, or an item of that.

    They stand in the rows of `parametrize`, in a loop, or in an assignment of the function or of the module.
    """
    if isinstance(node, ast.Subscript):
        return [part for one in literals(node.value, function, module) for part in _parts(one)]
    if not isinstance(node, ast.Name) or len(_named(function, node.id, ast.Load)) != 1:
        return []
    found = _cells(node.id, function, module)
    return found if all(map(is_plain, found)) else []


def is_plain(node: ast.expr) -> bool:
    """Say whether an expression is a literal."""
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True


def called(node: ast.expr) -> str:
    """Return the last part of the name that an expression calls, or is."""
    function = node.func if isinstance(node, ast.Call) else node
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _cells(name: str, function: Function, module: ast.Module) -> list[ast.expr]:
    arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    if name in [one.arg for one in arguments]:
        return [cell for decorator in function.decorator_list for cell in _parameters(name, decorator, module)]
    stores = _named(function, name, ast.Store)
    if not stores:
        return [constant] if (constant := _constant(name, module)) is not None else []
    for node in ast.walk(function) if len(stores) == 1 else ():
        match node:
            case ast.Assign(targets=[ast.Name(id=target)], value=value) if target == name:
                return [value]
            case ast.For(target=ast.Name(id=target), iter=rows) if target == name:
                return _column(rows, None, module)
            case ast.For(target=ast.Tuple(elts=targets), iter=rows) if stores[0] in targets:
                return _column(rows, targets.index(stores[0]), module)
    return []


def _parameters(name: str, decorator: ast.expr, module: ast.Module) -> list[ast.expr]:
    match decorator:
        case ast.Call(args=[names, rows], keywords=keywords) if called(decorator) == "parametrize":
            if any(keyword.arg == "indirect" for keyword in keywords) or not is_plain(names):
                return []
            said = ast.literal_eval(names)
            known = [word.strip() for word in said.split(",")] if isinstance(said, str) else list(said)
            if name in known:
                return _column(rows, known.index(name) if len(known) > 1 else None, module)
    return []


def _column(rows: ast.expr, number: int | None, module: ast.Module) -> list[ast.expr]:
    """Return one cell of each row, or with None the rows themselves; nothing when a row is of another shape."""
    if isinstance(rows, ast.Name):
        constant = _constant(rows.id, module)
        return [] if constant is None else _column(constant, number, module)
    cells: list[ast.expr] = []
    for row in rows.elts if isinstance(rows, ast.List | ast.Tuple) else ():
        shown = row.args if isinstance(row, ast.Call) and called(row) == "param" else _parts(row)
        whole = [row] if number is None and not isinstance(row, ast.Call) else shown
        if len(whole) <= (number or 0):
            return []
        cells.append(whole[number or 0])
    return cells


def _constant(name: str, module: ast.Module) -> ast.expr | None:
    """Return the literal that a module names once and uses once."""
    if len(_named(module, name, ast.Load)) != 1 or len(_named(module, name, ast.Store)) != 1:
        return None
    for node in module.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=target)], value=value) if target == name:
                return value
            case ast.AnnAssign(target=ast.Name(id=target), value=value) if target == name:
                return value
    return None


def _parts(node: ast.expr) -> list[ast.expr]:
    match node:
        case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
            return parts
        case ast.Dict(keys=keys, values=parts) if len({ast.dump(key) for key in keys if key}) == len(parts):
            return parts
    return []


def _named(tree: ast.AST, name: str, how: type[ast.expr_context]) -> list[ast.Name]:
    return [node for node in _names(tree) if node.id == name and isinstance(node.ctx, how)]


def _names(tree: ast.AST) -> Iterator[ast.Name]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Name))


def _value(written: str) -> object:
    try:
        return ast.literal_eval(written)
    except (ValueError, SyntaxError):
        return None
