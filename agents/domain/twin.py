"""What must every correct implementation fail? The impossible twin of a test module: same ids, another expectation."""

import ast
import inspect
import random
from collections.abc import Iterator

from agents.domain.twin_text import Edit, Function, Text, called, changed, is_plain, literals, rewritten
from agents.domain.value import Value

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
    text = Text(source)
    changes = _Changes(text, tree, salt, chance)
    found = {name: changes.one_of(function) for name, function in _tests(tree.body, ())}
    tests = tuple(name for name, edits in found.items() if edits)
    made = f"{text.edited([edit for edits in found.values() for edit in edits])}\n\n\n{_preamble(salt)}"
    if not tests or not _is_python(made):
        return None
    return Twin(source=made, tests=tests, untouched=tuple(name for name, edits in found.items() if not edits))


def _is_python(source: str) -> bool:
    try:
        ast.parse(source)
    except (SyntaxError, ValueError):
        return False
    return True


class _Changes:
    """Changes one assertion of a test."""

    def __init__(self, text: Text, module: ast.Module, salt: int, chance: random.Random) -> None:
        self._text = text
        self._module = module
        self._salt = salt
        self._chance = chance

    def one_of(self, function: Function) -> list[Edit]:
        """Return the edits of one of the assertions that are always reached; none when there is none."""
        reached = list(_reached(function.body))
        self._chance.shuffle(reached)
        return next((edits for one in reached if (edits := self._statement(one, function))), [])

    def _statement(self, node: ast.stmt, function: Function) -> list[Edit]:
        match node:
            case ast.Assert(test=test):
                return self._condition(test, function)
            case ast.Expr(value=ast.Call() as call) | ast.Expr(value=ast.Await(value=ast.Call() as call)):
                return self._call(call, function)
            case ast.With(items=items) | ast.AsyncWith(items=items):
                calls = [item.context_expr for item in items if isinstance(item.context_expr, ast.Call)]
                return next((edits for call in calls if (edits := self._raises(call))), [])
        return []

    def _condition(self, test: ast.expr, function: Function) -> list[Edit]:
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return [self._text.edit(test, f"({self._text.of(operand)})")]
            case ast.BoolOp(op=ast.And(), values=values):
                return self._condition(values[self._chance.randrange(len(values))], function)
            case ast.Compare(ops=[ast.Eq()], left=left, comparators=[right]):
                return self._changed(left if is_plain(left) and not is_plain(right) else right, function)
            case ast.Compare(ops=[ast.In()], left=left, comparators=[right]):
                return self._not_among(left, right, function)
            case ast.Compare(ops=[ast.Is()], comparators=[right]):
                if isinstance(right, ast.Constant) and isinstance(right.value, bool):
                    return self._changed(right, function)
                return [self._text.edit(right, "object()")]
        return [self._text.edit(test, f"(not ({self._text.of(test)}))")]

    def _not_among(self, left: ast.expr, right: ast.expr, function: Function) -> list[Edit]:
        parts = right.elts if isinstance(right, ast.List | ast.Tuple | ast.Set) and not is_plain(left) else []
        if not parts or any(isinstance(part, ast.Starred) for part in parts):
            return self._changed(left, function)
        return [edit for part in parts for edit in self._changed(part, function)]

    def _changed(self, node: ast.expr, function: Function) -> list[Edit]:
        """Change a literal in the text, where who reads the text looks for it; anything else when it is evaluated."""
        if isinstance(node, ast.Call) and called(node) == "approx" and node.args:
            return self._changed(node.args[0], function)
        written = [node] if is_plain(node) else literals(node, function, self._module)
        edits = [rewritten(self._text, one, self._salt) for one in written]
        if edits and all(edits):
            return [edit for each in edits for edit in each]
        return [self._text.edit(node, f"{CHANGED}{self._salt}({self._text.of(node)}, {self._salt})")]

    def _call(self, call: ast.Call, function: Function) -> list[Edit]:
        """Change a call that asserts: those of unittest and of its mocks, and a `raises` that is given a function."""
        if not isinstance(call.func, ast.Attribute):
            return self._raises(call)
        name, args = call.func.attr, call.args
        if name.removeprefix("assert") in SAME and name.startswith("assert") and len(args) >= 2:
            return self._changed(args[0 if is_plain(args[0]) and not is_plain(args[1]) else 1], function)
        if name == "assertIn" and len(args) >= 2:
            return self._not_among(args[0], args[1], function)
        if name in OPPOSITES and args:
            owner = self._text.of(call.func).removesuffix(name)
            return [self._text.edit(call.func, f"{owner}{OPPOSITES[name]}")]
        if name in CALLED_WITH and args and not isinstance(args[0], ast.Starred):
            return self._changed(args[0], function)
        return self._raises(call)

    def _raises(self, call: ast.Call) -> list[Edit]:
        if called(call) not in RAISING or not call.args:
            return []
        return [self._text.edit(call.args[0], f"{UNRAISED}{self._salt}")]


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
            names = [called(item.context_expr) for item in node.items]
            if not any(name in SWALLOWING for name in names):
                yield from _reached(node.body)
        elif isinstance(node, ast.For) and is_plain(node.iter) and ast.literal_eval(node.iter):
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


def _preamble(salt: int) -> str:
    function = inspect.getsource(changed).replace(f"{CHANGED}(", f"{CHANGED}{salt}(")
    return f"class {UNRAISED}{salt}(Exception):\n    pass\n\n{function}"
