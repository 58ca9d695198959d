"""Read the constants of a Python file, without running any of it."""

import ast
import contextlib
from collections import Counter
from typing import Any

Data = dict[str, Any]


def called(call: ast.Call) -> str:
    """Return the last name of what is called."""
    return getattr(call.func, "id", "") or getattr(call.func, "attr", "")


def constants_of(tree: ast.Module) -> Data:
    """Return the names that are bound once, to constants, and that nothing changes afterwards."""
    bound = Counter(n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
    owners = [n.value for n in ast.walk(tree) if isinstance(n, ast.Attribute | ast.Subscript)]
    touched = {n.id for n in owners if isinstance(n, ast.Name)}
    known: Data = {}
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if bound[name] == 1 and name not in touched:
                with contextlib.suppress(ValueError, TypeError):
                    known[name] = value_of(value, known)
    return known


def value_of(node: ast.expr, known: Data) -> Any:
    """Return what an expression of constants is worth; ValueError or TypeError when only running it would tell."""
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name) if name in known:
            return known[name]
        case ast.List(elts=parts) | ast.Tuple(elts=parts):
            values: list[Any] = []
            for part in parts:
                values += value_of(part.value, known) if isinstance(part, ast.Starred) else [value_of(part, known)]
            return values
        case ast.Dict(keys=keys, values=parts) if None not in keys:
            return {value_of(key, known): value_of(part, known) for key, part in zip(keys, parts, strict=True) if key}
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return value_of(left, known) + value_of(right, known)
    raise ValueError("not a constant")


def parts_of(tree: ast.Module, node: ast.expr, known: Data) -> Data:
    """Return what is constant in a table, wherever its name is given an entry; what is computed is left out."""
    name = node.id if isinstance(node, ast.Name) else ""
    tables, found = [node], Data()
    entries: list[tuple[ast.expr | None, ast.expr]] = []
    for step in ast.walk(tree) if name else ():
        match step:
            case ast.Assign(targets=[ast.Name(id=bound)], value=value) if bound == name:
                tables.append(value)
            case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=bound), slice=key)], value=value) if bound == name:
                entries.append((key, value))
    whole = [pair for one in tables if isinstance(one, ast.Dict) for pair in zip(one.keys, one.values, strict=True)]
    for named, value in (*whole, *entries):
        with contextlib.suppress(ValueError, TypeError):
            found |= {value_of(named, known): value_of(value, known)} if named else {}
    return found
