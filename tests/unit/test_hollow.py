"""Is a hollow module the same but for functions that do nothing?"""

import ast

import pytest

from agents.domain.hollow import hollow

SOURCE = '''X = 1  # größe


def one(a):
    """Say one."""
    if a:
        return 1
    return 2  # why


class Two:
    @property
    def three(self): return "größe"; x = 1

    async def four(self):
        def inner():
            return 4
        return inner()
'''


def test_only_what_was_touched_is_hollow() -> None:
    made = hollow(SOURCE, frozenset({7}))
    assert made is not None
    assert made == SOURCE.replace(SOURCE[SOURCE.index('"""Say') : SOURCE.index("  # why")], "return None")


def test_methods_and_one_line_bodies_too() -> None:
    made = hollow(SOURCE, frozenset(range(1, 30)))
    assert made is not None
    bodies = [n.body for n in ast.walk(ast.parse(made)) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    assert [ast.unparse(body) for (body,) in bodies] == ["return None"] * 3
    assert "inner" not in made


@pytest.mark.parametrize(("source", "lines"), [("def f(:", {1}), (SOURCE, {1}), (SOURCE, set()), ("\0", {1})])
def test_without_a_touched_function_there_is_none(source: str, lines: set[int]) -> None:
    assert hollow(source, frozenset(lines)) is None
