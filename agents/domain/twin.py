"""What must every correct implementation fail? The impossible twin of a test module: same ids, another expectation."""

import ast
import inspect
import random
from collections.abc import Iterator

from agents.domain.value import Value

Function = ast.FunctionDef | ast.AsyncFunctionDef
SWALLOWING = ("raises", "suppress", "warns", "deprecated_call", "assertRaises", "assertRaisesRegex", "assertWarns")
RAISING = ("raises", "assertRaises", "assertRaisesRegex")
CALLED_WITH = ("assert_called_with", "assert_called_once_with", "assert_any_call", "assert_has_calls")
SAME = ("Equal", "AlmostEqual", "CountEqual", "ListEqual", "TupleEqual", "SetEqual", "DictEqual", "MultiLineEqual")
OPPOSITE = {
    "assertTrue": "assertFalse",
    "assertIsNone": "assertIsNotNone",
    "assertNotEqual": "assertEqual",
    "assertNotIn": "assertIn",
    "assertIsNot": "assertIs",
    "assertNotIsInstance": "assertIsInstance",
    "assertRegex": "assertNotRegex",
    "assertGreater": "assertLessEqual",
    "assertGreaterEqual": "assertLess",
}
OPPOSITES = OPPOSITE | {other: name for name, other in OPPOSITE.items()}
CHANGED = "changed"
UNRAISED = "Unraised"


class Twin(Value):
    """A test module whose `tests` ("Class.name") must all fail; in `untouched` nothing was found that could be changed.

    In each test one assertion was changed, chosen by the seed, and the others were left: a test passes as soon as that
    one accepts what cannot be right.
    """

    source: str
    tests: tuple[str, ...]
    untouched: tuple[str, ...] = ()


def twin(source: str, seed: int) -> Twin | None:
    """Return the twin of a test module; None when it is no Python, or when no test of it could be changed."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return None
    chance = random.Random(seed)  # noqa: S311  the same seed gives the same twin
    salt = chance.randrange(1000, 9000) * 6 + 1
    changes = _Changes(salt, chance)
    found = list(_tests(tree.body, ()))
    changed = [(name, changes.one_of(function)) for name, function in found]
    tests = tuple(name for name, done in changed if done)
    if not tests:
        return None
    place = _after_opening(tree.body)
    tree.body[place:place] = ast.parse(_preamble(salt)).body
    untouched = tuple(name for name, done in changed if not done)
    return Twin(source=ast.unparse(ast.fix_missing_locations(tree)), tests=tests, untouched=untouched)


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


class _Changes:
    """Changes one assertion of a test in place."""

    def __init__(self, salt: int, chance: random.Random) -> None:
        self._salt = salt
        self._chance = chance

    def one_of(self, function: Function) -> bool:
        """Change one of the assertions that are always reached; False when there is none."""
        reached = list(_reached(function.body))
        self._chance.shuffle(reached)
        return any(self._statement(one) for one in reached)

    def _statement(self, node: ast.stmt) -> bool:
        match node:
            case ast.Assert(test=test):
                node.test = self._condition(test)
                return True
            case ast.Expr(value=ast.Call() as call) | ast.Expr(value=ast.Await(value=ast.Call() as call)):
                return self._call(call)
            case ast.With(items=items) | ast.AsyncWith(items=items):
                calls = [item.context_expr for item in items if isinstance(item.context_expr, ast.Call)]
                return any(self._raises(call) for call in calls)
        return False

    def _condition(self, test: ast.expr) -> ast.expr:
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return operand
            case ast.BoolOp(op=ast.And(), values=values):
                number = self._chance.randrange(len(values))
                values[number] = self._condition(values[number])
                return test
            case ast.Compare(ops=[ast.Eq()], left=left, comparators=[right]):
                if _is_plain(left) and not _is_plain(right):
                    test.left = self._changed(left)
                else:
                    test.comparators = [self._changed(right)]
                return test
            case ast.Compare(ops=[ast.In()], left=left, comparators=[right]):
                if isinstance(right, ast.List | ast.Tuple | ast.Set) and not _is_plain(left):
                    right.elts = [self._changed(one) for one in right.elts if not isinstance(one, ast.Starred)]
                else:
                    test.left = self._changed(left)
                return test
            case ast.Compare(ops=[ast.Is()], comparators=[right]):
                flips = isinstance(right, ast.Constant) and isinstance(right.value, bool)
                test.comparators = [self._changed(right) if flips else _name("object", call=True)]
                return test
        return ast.UnaryOp(op=ast.Not(), operand=test)

    def _changed(self, node: ast.expr) -> ast.expr:
        """Change a literal in the text, where who reads the text looks for it; anything else when it is evaluated."""
        if isinstance(node, ast.Call) and _called(node) == "approx" and node.args:
            node.args[0] = self._changed(node.args[0])
            return node
        if _is_plain(node) and (value := ast.literal_eval(node)) is not None:
            written = repr(changed(value, self._salt))
            if "object at" not in written:
                return ast.parse(written, mode="eval").body
        return ast.Call(func=_name(f"{CHANGED}{self._salt}"), args=[node, ast.Constant(self._salt)], keywords=[])

    def _call(self, call: ast.Call) -> bool:
        """Change a call that asserts: those of unittest and of its mocks, and a `raises` that is given a function."""
        if not isinstance(call.func, ast.Attribute):
            return self._raises(call)
        name, args = call.func.attr, call.args
        if name in OPPOSITES and args:
            call.func.attr = OPPOSITES[name]
        elif name in ("assertIn", "assertIs") and len(args) >= 2:
            number, other = (0, self._changed(args[0])) if name == "assertIn" else (1, _name("object", call=True))
            args[number] = other
        elif name == "assertIsInstance" and len(args) >= 2:
            args[1] = _name(f"{UNRAISED}{self._salt}")
        elif name.removeprefix("assert") in SAME and name.startswith("assert") and len(args) >= 2:
            number = 0 if _is_plain(args[0]) and not _is_plain(args[1]) else 1
            args[number] = self._changed(args[number])
        elif name in CALLED_WITH and args and not isinstance(args[0], ast.Starred):
            args[0] = self._changed(args[0])
        else:
            return self._raises(call)
        return True

    def _raises(self, call: ast.Call) -> bool:
        if _called(call) not in RAISING or not call.args:
            return False
        call.args[0] = _name(f"{UNRAISED}{self._salt}")
        return True


def _tests(body: list[ast.stmt], above: tuple[str, ...]) -> Iterator[tuple[str, Function]]:
    """Yield the tests in the order they stand; of two with one name the last one is what runs."""
    last = {node.name: node for node in body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)}
    for name, node in last.items():
        if isinstance(node, ast.ClassDef):
            yield from _tests(node.body, (*above, name))
        elif name.startswith("test"):
            yield ".".join((*above, name)), node


def _reached(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements that a test always comes to, and whose failure nothing swallows."""
    for node in body:
        if isinstance(node, ast.With | ast.AsyncWith):
            names = [_called(item.context_expr) for item in node.items]
            if not any(name in SWALLOWING for name in names):
                yield from _reached(node.body)
        elif isinstance(node, ast.For) and _is_plain(node.iter) and ast.literal_eval(node.iter):
            yield from _reached(node.body)
        yield node
        if any(isinstance(inner, ast.Return | ast.Break | ast.Continue) for inner in _own(node)):
            return


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """Walk a statement, but into no function and no class that it defines."""
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
        yield node
        for child in ast.iter_child_nodes(node):
            yield from _own(child)


def _is_plain(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True


def _called(node: ast.expr) -> str:
    function = node.func if isinstance(node, ast.Call) else node
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _name(name: str, call: bool = False) -> ast.expr:
    node = ast.Name(id=name, ctx=ast.Load())
    return ast.Call(func=node, args=[], keywords=[]) if call else node


def _after_opening(body: list[ast.stmt]) -> int:
    """Count the docstring and the imports from the future: they must stay first."""
    opening = [
        number
        for number, node in enumerate(body)
        if (isinstance(node, ast.ImportFrom) and node.module == "__future__")
        or (number == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
    ]
    return opening[-1] + 1 if opening else 0


def _preamble(salt: int) -> str:
    function = inspect.getsource(changed).replace(f"{CHANGED}(", f"{CHANGED}{salt}(")
    return f"class {UNRAISED}{salt}(Exception):\n    pass\n\n{function}"
