"""Where does a Python file tell a check to look away? Read from its comments and its syntax tree."""

import ast
import io
import re
import tokenize
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from typing import Literal

from agents.domain.names import Names, Sighting, folded, parsed, unit_of
from agents.domain.walking import children, nodes_of

Silenced = Literal["lint", "types", "tests", "coverage"]

EVERYTHING, WHOLE_FILE = "everything", "the whole file"
CONDITIONAL = "conditional skip"
UNTYPED = "code under not TYPE_CHECKING"
COMMENTS = {
    "noqa": re.compile(r"#\s*noqa\b(?P<rest>[^#]*)", re.IGNORECASE),
    "ruff: noqa": re.compile(r"#\s*(?:ruff|flake8|isort)\s*:(?P<rest>[^#]*)", re.IGNORECASE),
    "type: ignore": re.compile(r"#\s*type:\s*ignore\b(?P<rest>[^#]*)"),
    "mypy:": re.compile(r"#\s*mypy:(?P<rest>[^#]*)"),
    "pyright:": re.compile(r"#\s*pyright:(?P<rest>[^#]*)"),
    "pragma: no cover": re.compile(r"#\s*pragma:\s*no\s*(?:cover|branch)(?P<rest>)", re.IGNORECASE),
}
CODES = {
    "noqa": re.compile(r"(?:^:|[,\s])\s*([A-Z]+[0-9]+)\b"),
    "ruff: noqa": re.compile(r"\b([A-Z]+[0-9]+)\b"),
    "type: ignore": re.compile(r"(?:^\[|,)\s*([\w-]+)(?=[^\[]*\])"),
    "mypy:": re.compile(r"([\w-]+(?:\s*=[^,]*)?)"),
    "pyright:": re.compile(r"([\w-]+)"),
}
CHECKS: dict[str, Silenced] = {
    "noqa": "lint",
    "ruff: noqa": "lint",
    "type: ignore": "types",
    "mypy:": "types",
    "pyright:": "types",
    "Any": "types",
    "cast": "types",
    "no_type_check": "types",
    UNTYPED: "types",
    "pragma: no cover": "coverage",
    "skip": "tests",
    CONDITIONAL: "tests",
}
TYPING = ("Any", "cast", "no_type_check")
SKIPS = frozenset(
    [f"pytest.{name}" for name in ("skip", "exit", "xfail", "mark.skip", "mark.skipif", "mark.xfail")]
    + [f"unittest.{name}" for name in ("skip", "skipIf", "skipUnless", "expectedFailure", "SkipTest", "case.SkipTest")]
)
ON_CONDITION = frozenset(("pytest.mark.skipif", "pytest.mark.xfail", "unittest.skipIf", "unittest.skipUnless"))
# Every mark ends in one of these words, or comes by a way on which no word of its own is needed.
WORDS = frozenset((*TYPING, *(mark.rpartition(".")[2] for mark in SKIPS), "skipTest", "importorskip", "__test__"))
WORDS |= {"TYPE_CHECKING", "getattr", "vars", "__dict__", "modules", "import_module", "__import__", "__builtins__"}
FACTS = (
    *("sys.platform", "sys.version_info", "sys.implementation", "os.name", "os.uname", "platform"),
    *("shutil.which", "importlib.util.find_spec"),
)
ASKED = frozenset(("__eq__", "__ne__", "__contains__", "__exit__", "__aexit__", "__setattr__"))
SENT = {"Generator": (1,), "AsyncGenerator": (1,), "Coroutine": (0, 1)}
ANNOTATED = frozenset((ast.arg, ast.AnnAssign, ast.FunctionDef, ast.AsyncFunctionDef))
TELLING = frozenset((ast.Assign, ast.If, ast.Name, ast.Attribute, ast.Call, ast.Subscript))
MAPPINGS = frozenset(("dict", "Dict", "Mapping", "MutableMapping"))


def suppressions(source: str) -> Counter[str]:
    """Count, by kind, what silences a check; what only stands in a text is none.

    A comment counts as its directive ("noqa"), and once for each code ("noqa [E501]") or for "everything". A skip is
    conditional when it asks for the platform, the version or an absent program: anything else can hold in the gate.
    `Any` does not count where nothing better can be said: for `*args`, `**kwargs`, and values under text keys.
    """
    return Counter(sighting.kind for sighting in sightings(source))


def sightings(source: str) -> tuple[Sighting, ...]:
    """Return every suppression with its line, in the order of the file; none of a file that cannot be read."""
    tree = parsed(source)
    if tree is None:
        return ()
    try:
        found = [*_comments(source, tree.body), *_marks(tree)]
    except (tokenize.TokenError, SyntaxError, RecursionError):  # nested to break its reader
        return ()
    return tuple(sorted(found, key=lambda sighting: (sighting.line, sighting.kind)))


def silences(kind: str) -> Silenced:
    """Say which check a kind of suppression is about."""
    return CHECKS[kind.partition(" [")[0]]


def rises(before: Counter[str], after: Counter[str]) -> Counter[str]:
    """Count what there is more of; to name codes where everything was silenced is no rise."""
    narrowed = {kind for kind in CODES if before[_with(kind, EVERYTHING)] > after[_with(kind, EVERYTHING)]}
    more = after - before
    return Counter({kind: more[kind] for kind in more if kind in CHECKS or kind.partition(" [")[0] not in narrowed})


def _with(kind: str, code: str) -> str:
    return f"{kind} [{code}]"


def _comments(source: str, tops: list[ast.stmt]) -> Iterator[Sighting]:
    if not any(pattern.search(source) for pattern in COMMENTS.values()):
        return  # to read the comments takes as long as all the rest
    starts = [statement.lineno for statement in tops]
    lines = io.StringIO(source, newline=None).readlines()
    for token in tokenize.generate_tokens(iter([*lines, ""]).__next__):
        if token.type == tokenize.COMMENT:
            line, column = token.start
            kinds = list(_directives(token.string, alone=not lines[line - 1][:column].strip()))
            above = bisect_right(starts, line) - 1
            inside = bool(kinds) and above >= 0 and line <= (tops[above].end_lineno or 0)
            unit = unit_of(tops[above]) if inside else ""
            yield from (Sighting(kind, line, unit) for kind in kinds)


def _directives(comment: str, *, alone: bool) -> Iterator[str]:
    for kind, pattern in COMMENTS.items():
        for found in pattern.finditer(comment):
            yield kind
            if kind in CODES:
                codes = CODES[kind].findall(found["rest"]) or [EVERYTHING]
                yield from (_with(kind, code) for code in codes)
            if kind == "type: ignore" and alone:
                yield _with(kind, WHOLE_FILE)


def _marks(tree: ast.Module) -> Iterator[Sighting]:
    for node in nodes_of(tree):
        if type(node) in ANNOTATED:
            for field in ("annotation", "returns"):
                if isinstance(getattr(node, field, None), ast.expr):
                    setattr(node, field, _Unquoted().visit(getattr(node, field)))
    if WORDS.isdisjoint(map(_last_word, nodes_of(tree))):
        return  # to follow what every name stands for takes longest
    names = Names(tree)
    plain = {id(node) for node in _plain_any(tree)}
    for statement in tree.body:
        seen = [
            (kind, node)
            for node, conditional in _conditions(statement, names)
            if type(node) in TELLING
            for kind in _kinds(node, names, conditional)
            if not (kind == "Any" and id(node) in plain)
        ]
        unit = unit_of(statement) if seen else ""
        yield from (Sighting(kind, getattr(node, "lineno", statement.lineno), unit) for kind, node in seen)


def _kinds(node: ast.AST, names: Names, conditional: bool) -> Iterator[str]:
    match node:
        case ast.Assign(targets=[target], value=ast.Constant(value=False)) if _named(target) == "__test__":
            yield "skip"
        case ast.If(test=test, body=body, orelse=other):
            negated = isinstance(test, ast.UnaryOp)
            asked = names.of(test.operand if isinstance(test, ast.UnaryOp) else test)
            if "typing.TYPE_CHECKING" in asked and any(map(_defines, body if negated else other)):
                yield UNTYPED
        case ast.Name(ctx=ast.Load()) | ast.Attribute() | ast.Call() | ast.Subscript():
            if not (meanings := names.of(node)) and not (isinstance(node, ast.Attribute) and node.attr == "skipTest"):
                return
            yield from (kind for kind in TYPING if f"typing.{kind}" in meanings)
            if meanings & SKIPS or (isinstance(node, ast.Attribute) and node.attr == "skipTest"):
                yield CONDITIONAL if conditional else "skip"
            if "pytest.importorskip" in meanings:
                yield CONDITIONAL


def _last_word(node: ast.AST) -> str:
    return node.name.rpartition(".")[2] if isinstance(node, ast.alias) else _named(node)


def _defines(statement: ast.stmt) -> bool:
    return any(isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) for node in nodes_of(statement))


class _Unquoted(ast.NodeTransformer):
    """Read the texts inside an annotation as the annotations that they are, but for the words of a `Literal`."""

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        """Return the annotation that a text spells, its line that of the text."""
        read = parsed(f"({node.value}\n)") if isinstance(node.value, str) else None
        if read is None or not isinstance(read.body[0], ast.Expr):
            return node
        for part in ast.walk(read):
            if isinstance(part, ast.expr):
                part.lineno = node.lineno
        found: ast.AST = self.visit(read.body[0].value)
        return found

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """Leave the words of a `Literal` alone."""
        return node if _named(node.value) == "Literal" else self.generic_visit(node)


def _plain_any(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield the annotations that may well be `Any`, for nothing better can be said.

    They are those of further arguments, of values under text keys, of what a function that is handed over gives back,
    of what is sent to a generator or a coroutine, and of what the special methods of an object are asked about.
    """
    for node in nodes_of(tree):
        match node:
            case ast.arguments(vararg=more, kwarg=named):
                yield from (one.annotation for one in (more, named) if one and one.annotation)
            case ast.arg(annotation=ast.expr() as said):
                yield from _given_back(said)
            case ast.FunctionDef(returns=said, name=name) | ast.AsyncFunctionDef(returns=said, name=name):
                yield from _given_back(said) if said else ()
                yield from (one.annotation for one in node.args.args if one.annotation and name in ASKED)
            case ast.Subscript(value=value, slice=ast.Tuple(elts=[ast.Name(id="str"), held])) if (
                _named(value) in MAPPINGS
            ):
                yield held
            case ast.Subscript(value=value, slice=ast.Tuple(elts=parts)):
                yield from (parts[at] for at in SENT.get(_named(value), ()) if at < len(parts))


def _given_back(annotation: ast.expr) -> Iterator[ast.AST]:
    for node in nodes_of(annotation):
        match node:
            case ast.Subscript(value=value, slice=ast.Tuple(elts=[_, result])) if _named(value) == "Callable":
                yield result


def _named(node: ast.AST) -> str:
    return getattr(node, "id", getattr(node, "attr", ""))


def _conditions(statement: ast.stmt, names: Names) -> Iterator[tuple[ast.AST, bool]]:
    """Walk a statement; with each node goes whether it only holds under a condition that the gate does not choose."""
    waiting: list[tuple[ast.AST, bool]] = [(statement, False)]
    while waiting:
        node, conditional = waiting.pop()
        yield node, conditional
        match node:
            case ast.If(test=test) | ast.IfExp(test=test):
                conditional = conditional or _asks_facts(test, names)
            case ast.ExceptHandler():
                conditional = True
            case ast.Call(func=func, args=args, keywords=words) if names.of(func) & ON_CONDITION:
                asked = [*args[:1], *(word.value for word in words if word.arg == "condition")]
                conditional = conditional or any(_asks_facts(one, names) for one in asked)
        waiting.extend([(child, conditional) for child in children(node)])


def _asks_facts(test: ast.AST, names: Names) -> bool:
    known = {meaning for node in nodes_of(test) for meaning in names.of(node)}
    text = folded(test) or ""
    return any(fact in text or any(f"{one}.".startswith(f"{fact}.") for one in known) for fact in FACTS)
