"""Is every file, function and class small, named for what it is, and opened by a sentence?"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILE, FUNCTION, CLASS, PARAMETERS = 300, 60, 200, 7
BANNED = {"manager", "handler", "helper", "util", "utils", "common", "base", "misc", "core", "service"}
BANNED |= {"processor", "factory"}
BROAD = {"Exception", "BaseException"}
Function = ast.FunctionDef | ast.AsyncFunctionDef


def sources() -> dict[str, str]:
    files = (path for top in ("flows", "tasks", "agents", "analytics") for path in sorted((ROOT / top).rglob("*.py")))
    named = {path.relative_to(ROOT).as_posix(): path for path in files}
    return {
        name: path.read_text(encoding="utf-8")
        for name, path in named.items()
        if not name.startswith("flows/demo/project/")
    }


def faults(path: str, text: str) -> Iterator[str]:
    tree, lines = ast.parse(text), text.splitlines()
    yield from (f"{path}: the name holds {word!r}" for word in banned_in(Path(path).parts))
    if len(lines) > FILE:
        yield f"{path} has {len(lines)} lines; at most {FILE}"
    if not re.match(r"\S.*[.?!](\s|$)", ast.get_docstring(tree) or "", re.DOTALL):
        yield f"{path} opens without a sentence that says what it is for"
    for node in ast.walk(tree):
        where = f"{path}:{getattr(node, 'lineno', 0)}"
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield from (f"{where} {node.name} {why}" for why in function_faults(node))
            case ast.ClassDef():
                yield from (f"{where} {node.name} {why}" for why in class_faults(node))
            case _ if is_broad(node) and not has_reason(lines[node.lineno - 1]):
                yield f"{where} catches everything and does not say why on its line"


def function_faults(node: Function) -> Iterator[str]:
    if length(node) > FUNCTION:
        yield f"has {length(node)} lines; at most {FUNCTION}"
    named = [one.arg for one in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
    count = len(named) - (named[:1] in (["self"], ["cls"]))
    if count > PARAMETERS:
        yield f"has {count} parameters; at most {PARAMETERS}"


def class_faults(node: ast.ClassDef) -> Iterator[str]:
    if length(node) > CLASS:
        yield f"has {length(node)} lines; at most {CLASS}"
    yield from (f"has {word!r} in its name" for word in banned_in((node.name,)))


def length(node: Function | ast.ClassDef) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def banned_in(names: tuple[str, ...]) -> list[str]:
    words = [word.lower() for name in names for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)]
    return [word for word in words if word in BANNED]


def is_broad(node: ast.AST) -> bool:
    match node:
        case ast.ExceptHandler(type=None):
            return True
        case ast.ExceptHandler(type=kind) if kind is not None:
            return any(name_of(one) in BROAD for one in ast.walk(kind))
        case ast.Call(func=called, args=kinds):
            return name_of(called) == "suppress" and any(name_of(kind) in BROAD for kind in kinds)
    return False


def name_of(node: ast.AST) -> str:
    return getattr(node, "id", "") or getattr(node, "attr", "")


def has_reason(line: str) -> bool:
    """A comment of at least three words, beside what it may say to a linter."""
    comment = line.partition("#")[2]
    return len(re.sub(r"noqa(: *[A-Z0-9, ]+)?", "", comment).split()) >= 3


@pytest.mark.parametrize("path", sources())
def test_a_file_keeps_the_rules(path: str) -> None:
    assert list(faults(path, (ROOT / path).read_text(encoding="utf-8"))) == []


OPEN = '"""What is this? A sentence."""\n'
LONG = "    pass\n" * 60
BODY = "".join(f"    a{n} = 1\n" for n in range(CLASS))


@pytest.mark.parametrize(
    ("path", "text", "why"),
    [
        ("flows/a.py", OPEN + "x = 1\n" * 300, "301 lines"),
        ("flows/a.py", f"{OPEN}def f():\n{LONG}", "f has 61 lines"),
        ("flows/a.py", f"{OPEN}async def f():\n{LONG}", "f has 61 lines"),
        ("flows/a.py", f"{OPEN}class A:\n    def f(self):\n" + "        pass\n" * 60, "f has 61 lines"),
        ("flows/a.py", f"{OPEN}class A:\n{BODY}", "A has 201 lines"),
        ("flows/a.py", f"{OPEN}def f(a, b, c, d, /, e, f, *, g, h): ...", "8 parameters"),
        ("flows/a.py", f"{OPEN}class A:\n    def f(self, a, b, c, d, e, f, g, h): ...", "8 parameters"),
        ("flows/a.py", f"{OPEN}class StoreManager: ...", "'manager' in its name"),
        ("flows/a.py", f"{OPEN}class BaseStore: ...", "'base' in its name"),
        ("flows/a.py", f"{OPEN}class HTTPHandler: ...", "'handler' in its name"),
        ("flows/git_utils.py", OPEN, "the name holds 'utils'"),
        ("flows/core/a.py", OPEN, "the name holds 'core'"),
        ("flows/a.py", "", "opens without a sentence"),
        ("flows/a.py", '"""Things"""', "opens without a sentence"),
        ("flows/a.py", f"{OPEN}try:\n    f()\nexcept:\n    pass", "catches everything"),
        ("flows/a.py", f"{OPEN}try:\n    f()\nexcept Exception as e:  # noqa: BLE001\n    pass", "catches everything"),
        ("flows/a.py", f"{OPEN}try:\n    f()\nexcept (ValueError, BaseException):\n    pass", "catches everything"),
        ("flows/a.py", f"{OPEN}with contextlib.suppress(Exception):\n    f()", "catches everything"),
    ],
)
def test_a_broken_rule_is_found(path: str, text: str, why: str) -> None:
    (found,) = faults(path, text)
    assert why in found


@pytest.mark.parametrize(
    "text",
    [
        f"{OPEN}class A:\n    def f(self, a, b, c, d, e, f, g, *rest, **more): ...",
        f"{OPEN}class Score(BaseModel): ...",
        f"{OPEN}try:\n    f()\nexcept Exception:  # noqa: BLE001 a hook must never stop the run\n    pass",
        f"{OPEN}try:\n    f()\nexcept (OSError, ValueError):\n    pass",
    ],
)
def test_a_kept_rule_is_left_alone(text: str) -> None:
    assert list(faults("flows/score.py", text)) == []
