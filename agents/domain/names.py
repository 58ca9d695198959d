"""What does a name in Python source stand for, however it is spelled? Read from the syntax tree alone."""

import ast
import warnings
from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from agents.domain.value import digest_of

Function = ast.FunctionDef | ast.AsyncFunctionDef
Dotted = frozenset[str]

NOTHING: Dotted = frozenset()
SAME = {"posix": "os", "nt": "os", "_signal": "signal", "_pickle": "pickle", "_ctypes": "ctypes", "_gc": "gc"}
SAME |= {"_pytest.outcomes": "pytest", "typing_extensions": "typing", "importlib._bootstrap": "importlib"}
EVERYWHERE = frozenset(("builtins", "ctypes", "gc", "os", "sys"))
BUILTINS = frozenset(
    ("__builtins__", "__import__", "compile", "delattr", "eval", "exec", "exit", "getattr", "quit", "setattr", "vars")
)
IMPORTERS = frozenset(("importlib.import_module", "builtins.__import__", "importlib.__import__"))
ROUNDS = 20
MEANINGS = 20
MOVABLE = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class Sighting(NamedTuple):
    """One place where something of a kind stands; `unit` names the import, function or class at the top that holds it.

    Equal units are equal code, whatever its layout, so that moved code is known again; "" is never moved.
    """

    kind: str
    line: int
    unit: str = ""


class Names:
    """The meanings of the names of one file, each a dotted path such as "os._exit".

    A name has every meaning that any scope of the file gives it: hiding one behind another does not work. `modules` are
    those that the file imports, `borrowed` what it takes out of them, `followed` the values that it gives to names.
    """

    def __init__(self, tree: ast.Module) -> None:
        self.modules: set[str] = set()
        self.borrowed: set[str] = set()
        self.followed: frozenset[ast.AST] = frozenset()
        self._given: dict[str, set[str]] = {}
        nodes = list(ast.walk(tree))
        self._hidden = _hidden_builtins(tree, nodes)
        self._found: dict[ast.AST, Dotted] = {}
        for node in nodes:
            self._learn_import(node)
        pairs = [pair for node in nodes for pair in _bindings(node)]
        self.followed = frozenset(value for _, value in pairs)
        for _ in range(ROUNDS):
            learned = self._learn_aliases(pairs)
            self._found.clear()
            if not learned:
                break

    def of(self, node: ast.AST) -> Dotted:
        """Return what an expression can stand for; nothing when that cannot be told from this file."""
        if node not in self._found:
            self._found[node] = frozenset(map(usual, self._meanings(node)))
        return self._found[node]

    def _learn_import(self, node: ast.AST) -> None:
        match node:
            case ast.Import(names=names):
                for one in names:
                    parts = one.name.split(".")
                    self.modules.update(usual(".".join(parts[:end])) for end in range(1, len(parts) + 1))
                    self._given.setdefault(one.asname or parts[0], set()).add(one.name if one.asname else parts[0])
            case ast.ImportFrom(module=module, names=names, level=level):
                for one in names:
                    whole = "." * level + ".".join(filter(None, (module, one.name)))
                    self.borrowed.add(usual(whole))
                    self._given.setdefault(one.asname or one.name, set()).add(whole)

    def _learn_aliases(self, pairs: list[tuple[str, ast.AST]]) -> bool:
        """Follow each `a = b` once, and say whether that taught anything; `a = a.b` must not grow for ever."""
        learned = False
        for name, value in pairs:
            known = self._given.get(name, set())
            new = self.of(value) - known
            if new and len(known) < MEANINGS:
                self._given.setdefault(name, set()).update(new)
                learned = True
        return learned

    def _meanings(self, node: ast.AST) -> Iterator[str]:
        match node:
            case ast.Name(id=name):
                yield from self._given.get(name, ())
                if name in BUILTINS and node.lineno <= self._hidden.get(name, node.lineno):
                    yield f"builtins.{name}"
            case ast.Attribute(value=value, attr=attribute):
                yield from (f"{meaning}.{attribute}" for meaning in self.of(value))
            case ast.Subscript(value=ast.Call(func=ast.Name(id="globals" | "locals" | "vars"), args=[]), slice=key):
                yield from self._given.get(folded(key) or "", ())
            case ast.Subscript(value=value, slice=key):
                yield from self._looked_up(self.of(value), folded(key))
            case ast.Call():
                yield from self._called(node)
            case ast.NamedExpr(value=value) | ast.Starred(value=value):
                yield from self.of(value)
            case ast.IfExp(body=one, orelse=two):
                yield from self.of(one) | self.of(two)
            case ast.BoolOp(values=values):
                yield from chain.from_iterable(map(self.of, values))

    def _looked_up(self, where: Dotted, key: str | None) -> Iterator[str]:
        """Yield what stands in `sys.modules` or in the `__dict__` of a module under a key."""
        for meaning in where if key is not None else ():
            if meaning == "sys.modules":
                yield str(key)
            elif meaning.endswith(".__dict__"):
                yield f"{meaning.removesuffix('.__dict__')}.{key}"
            elif meaning == "builtins.__builtins__":
                yield f"builtins.{key}"

    def _called(self, call: ast.Call) -> Iterator[str]:
        called, words = self.of(call.func), [folded(argument) for argument in call.args]
        first: Dotted = self.of(call.args[0]) if call.args else NOTHING
        if called & IMPORTERS:
            told = [word for word in (*words, *(folded(word.value) for word in call.keywords)) if word]
            yield from (f"{package}{told[0]}" for package in told[1:] if told[0].startswith("."))
            yield from told[:1]
        if "builtins.getattr" in called and len(words) > 1 and words[1] is not None:
            yield from (f"{meaning}.{words[1]}" for meaning in first)
        if "builtins.vars" in called:
            yield from (f"{meaning}.__dict__" for meaning in first)
        if called & {"sys.modules.get", "sys.modules.__getitem__"} and words:
            yield from self._looked_up(frozenset(["sys.modules"]), words[0])


def parsed(source: str) -> ast.Module | None:
    """Return the syntax tree of a file, or nothing when this Python cannot read it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a strange escape is the linter's affair
            return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # the last two: nested to break its reader
        return None


def unit_of(statement: ast.stmt) -> str:
    """Name the content of a statement at the top of a file, when it is one that can move."""
    return digest_of(ast.dump(statement)) if isinstance(statement, MOVABLE) else ""


def folded(node: ast.AST) -> str | None:
    """Return the text that an expression spells out, also in parts; bytes count as text."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.Constant(value=bytes(content)):
            return content.decode("latin-1")
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _joined([folded(left), folded(right)])
        case ast.JoinedStr(values=values):
            return _joined([folded(value) for value in values])
        case ast.FormattedValue(value=value):
            return folded(value)
        case ast.Call(
            func=ast.Attribute(value=between, attr="join"), args=[ast.List(elts=parts) | ast.Tuple(elts=parts)]
        ):
            return _joined([folded(part) for part in parts], folded(between))
    return None


def _joined(parts: list[str | None], between: str | None = "") -> str | None:
    known = [part for part in parts if part is not None]
    return between.join(known) if between is not None and len(known) == len(parts) else None


def usual(dotted: str) -> str:
    """Give a meaning its usual name: `posix` holds what `os` holds, and so does the `os` inside of another module."""
    parts = dotted.split(".")
    inner = max((place for place, part in enumerate(parts) if part in EVERYWHERE), default=0)
    parts = parts[inner:]
    for length in (2, 1):
        usual = SAME.get(".".join(parts[:length]))
        if usual is not None and len(parts) >= length:
            return ".".join([usual, *parts[length:]])
    return ".".join(parts)


def _hidden_builtins(tree: ast.Module, nodes: list[ast.AST]) -> dict[str, int]:
    """Return the builtins that the file replaces for good at its top, each with the line from where on."""
    bound: dict[str, int] = {}
    for node in tree.body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                bound.setdefault(name, node.lineno)
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                for one in names:
                    bound.setdefault(one.asname or one.name, node.lineno)
    deleted = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Del)}
    return {name: line for name, line in bound.items() if name not in deleted}


def _bindings(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                yield from _paired(target, value)
        case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.NamedExpr(target=target, value=value):
            yield from _paired(target, value)
        case ast.arguments(posonlyargs=first, args=second, defaults=defaults, kwonlyargs=named, kw_defaults=values):
            last = [*first, *second][len(first) + len(second) - len(defaults) :]
            pairs = zip([*last, *named], [*defaults, *values], strict=True)
            yield from ((one.arg, value) for one, value in pairs if value is not None)


def _paired(target: ast.AST, value: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    match target, value:
        case ast.Name(id=name), _:
            yield name, value
        case ((ast.Tuple(elts=names) | ast.List(elts=names)), (ast.Tuple(elts=values) | ast.List(elts=values))):
            for one, other in zip(names, values, strict=False):
                yield from _paired(one, other)
