"""Which special methods answer the same whatever they are asked? Read from the syntax tree alone."""

import ast
from collections.abc import Iterator, Mapping, Sequence

from agents.domain.names import Function, Names, folded

COMPARISONS = frozenset(("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"))
Functions = Mapping[str, Sequence[Function]]
ANSWERS = COMPARISONS | {"__bool__", "__contains__", "__instancecheck__", "__subclasscheck__"}


def functions_of(tree: ast.Module) -> Functions:
    """Return the functions of a file by their names, all of each: a later one must not hide an earlier."""
    found: dict[str, list[Function]] = {}
    for node in ast.walk(tree):
        if isinstance(node, Function):
            found.setdefault(node.name, []).append(node)
    return found


def constant_answers(node: ast.AST, names: Names, functions: Functions) -> Iterator[str]:
    """Yield the special methods, wherever they are attached, that answer the same whatever they are asked."""
    pairs: list[tuple[str | None, ast.AST | None]] = []
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            pairs = [(name, node)]
            if name == "__class__":
                yield "a false __class__"
        case ast.Assign(targets=targets, value=value):
            pairs = [(getattr(target, "id", getattr(target, "attr", None)), value) for target in targets]
        case ast.Dict(keys=keys, values=values):
            pairs = [(folded(key) if key else None, value) for key, value in zip(keys, values, strict=True)]
        case ast.Call(func=func, args=[_, name, value]) if "builtins.setattr" in names.of(func):
            pairs = [(folded(name), value)]
        case ast.keyword(arg=name, value=value):
            pairs = [(name, value)]
    for special, given in pairs:
        methods = functions.get(given.id, ()) if isinstance(given, ast.Name) else (given,)
        if special in ANSWERS and any(_is_constant(special, method) for method in methods):
            yield f"constant {special}"


def _is_constant(name: str | None, method: ast.AST | None) -> bool:
    if not isinstance(method, ast.Lambda | Function):
        return False
    inside = list(own(method))
    returned = [node.value for node in inside if isinstance(node, ast.Return)]
    returned = [method.body] if isinstance(method, ast.Lambda) else returned
    answers = [node for node in returned if getattr(node, "id", "") != "NotImplemented"]
    constants = {truth(node) for node in answers}
    if not answers or (name == "__contains__" and constants == {False}):
        return False
    one, *rest = [arg.arg for arg in (*method.args.posonlyargs, *method.args.args)] or [""]
    rest += [arg.arg for arg in (method.args.vararg, method.args.kwarg) if arg]
    asked = {node.id for node in inside if isinstance(node, ast.Name)}
    if name not in COMPARISONS:
        return len(constants) == 1 and None not in constants
    by_type = asked & {"isinstance", "type", "issubclass"}
    blind = None not in constants and one not in asked and not by_type
    return blind or not asked.intersection(rest) or (len(constants) == 1 and None not in constants)


def truth(node: ast.AST | None) -> bool | None:
    """Return the truth of an expression that spells a constant; a missing one is None, and false."""
    match node:
        case None:
            return False
        case ast.Constant(value=value):
            return bool(value)
        case ast.UnaryOp(op=ast.Not(), operand=operand) if truth(operand) is not None:
            return not truth(operand)
        case ast.Call(func=ast.Name(id="bool"), args=[ast.Constant(value=value)]):
            return bool(value)
    return None


def own(method: ast.Lambda | Function) -> Iterator[ast.AST]:
    """Walk what runs when the method is called, but not what it only defines."""
    waiting: list[ast.AST] = list(method.body) if isinstance(method, Function) else [method.body]
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, Function | ast.Lambda | ast.ClassDef):
            waiting.extend(ast.iter_child_nodes(node))
