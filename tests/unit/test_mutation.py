"""Is each mutant wrong in one place, on a changed line, and in a way that a test could notice?"""

import ast
import difflib
import textwrap

import pytest

from agents.domain.mutation import mutants

SOURCE = '''
    """A docstring of the module."""
    from typing import TYPE_CHECKING, Literal

    __all__ = ["f"]
    if TYPE_CHECKING:
        from x import y
    KIND = Literal["a", "b"]

    def f(é: int, n: "int" = 3, *, k: str = "a") -> bool:
        """A docstring."""
        logger.info("a %s", 3)
        sure: "bool" = True
        total = 0
        for i in range(10):
            if i == é and (  # both
                n
                or k
            ):
                continue
            total += i // n
            collect(total)
        if not total:
            raise ValueError(f"none of {total + 1}")
        return "ß" in k, -total

    if __name__ == "__main__":
        f(1)
    '''


def whats(source: str) -> set[str]:
    """All that is changed in a short text."""
    text = textwrap.dedent(source)
    return {one.what for one in mutants(text, frozenset(range(1, 99)), 0, 999)}


@pytest.mark.parametrize(
    ("source", "what"),
    [
        ("a < b", "< -> <="),
        ("a >= b", ">= -> >"),
        ("a == b", "== -> !="),
        ("a is  not b", "is not -> is"),
        ("a not in b", "not in -> in"),
        ("(a) + (b)", "+ -> -"),
        ("a and b", "and -> or"),
        ("x = not a", "not a -> (a)"),
        ("x = True", "True -> False"),
        ("x = 7", "7 -> 8"),
        ("x = 7", "7 -> 6"),
        ("x = 0.5", "0.5 -> 1.5"),
        ("x = 'a'", "'a' -> 'aXX'"),
        ("def f(n=1): pass", "1 -> 2"),
        ("def f(): return g()", "g() -> None"),
        ("for x in y: break", "break -> continue"),
        ("for x in y: continue", "continue -> break"),
        ("f(x)", "f(x) -> pass"),
        ("x += 1", "x += 1 -> pass"),
        ("if f(): pass", "f() -> not (f())"),
        ("x = a if b else c", "b -> not (b)"),
    ],
)
def test_each_kind_of_change_is_made(source: str, what: str) -> None:
    assert what in whats(source)


@pytest.mark.parametrize(
    "source",
    [
        '"""Text."""',
        "def f():\n    '''Text.'''",
        "__all__ = ['a']",
        "if TYPE_CHECKING:\n    x = 1",
        "x: 'int'",
        "def f(x: 'int') -> 'int': pass",
        "logger.info('a', 3)",
        "self.log.debug('x %s', 1 + 1)",
        "K = Literal['a']",
        "T = TypeVar('T')",
        "def f(): return None",
        "import a",
        "def f(:",
    ],
)
def test_what_no_test_could_notice_is_left_alone(source: str) -> None:
    assert whats(source) == set()


def test_every_mutant_differs_in_one_place_and_is_python() -> None:
    text = textwrap.dedent(SOURCE)
    found = mutants(text, frozenset(range(1, 99)), 0, 999)
    assert len(found) >= 20
    for one in found:
        ast.parse(one.source)
        rows = [row for row in difflib.ndiff(text.splitlines(), one.source.splitlines()) if row[:1] in "+-"]
        assert len(rows) == 2


def test_only_changed_lines_are_changed() -> None:
    text = "x = 1\ny = 2\n\u2028z = 3\n".replace("\u2028", "")
    assert {one.line for one in mutants(text, frozenset({2}), 0, 99)} == {2}


def test_letters_of_more_than_one_byte_and_odd_line_ends_are_kept() -> None:
    text = 'a = "é☃"; b = 1\r\nc = "\x0c\u2028"; d = b < 2\r\n'
    (one,) = [one for one in mutants(text, frozenset({2}), 0, 99) if one.what == "< -> <="]
    assert one.source == text.replace("<", "<=")


def test_the_seed_chooses_and_the_limit_holds() -> None:
    text, lines = textwrap.dedent(SOURCE), frozenset(range(1, 99))
    assert len(mutants(text, lines, 1, 5)) == 5
    assert mutants(text, lines, 1, 5) == mutants(text, lines, 1, 5)
    assert mutants(text, lines, 1, 5) != mutants(text, lines, 2, 5)
