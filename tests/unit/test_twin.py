"""Does every correct implementation fail the twin, and does one that is equal to everything pass it?"""

import re
import textwrap

import pytest

from agents.domain.twin import Twin, changed, twin

RIGHT = """
    import pytest

    def test_literal(): assert f(2) == 4
    def test_left(): assert 4 == f(2)
    def test_text(): assert str(f(2)) == "4"
    def test_empty(): assert [] == list(())
    def test_nested(): assert {"a": [f(2), None]} == {"a": [4, None]}
    def test_approx(): assert f(0.3) == pytest.approx(0.6)
    def test_list_of_approx(): assert [f(0.3)] == [pytest.approx(0.6)]
    def test_in(): assert f(2) in (4, 5)
    def test_word_in(): assert "a" in "cat"
    def test_is_none(): assert f.__doc__ is None
    def test_is_true(): assert (f(2) == 4) is True
    def test_not(): assert not f(0)
    def test_truth(): assert f(2)
    def test_less(): assert f(2) < 5
    def test_unequal(): assert f(2) != 5
    def test_chain(): assert 3 < f(2) < 5
    def test_both(): assert f(2) == 4 and f(3) == 6
    def test_either(): assert f(2) == 9 or f(3) == 6
    def test_many():
        assert f(2) == 4
        assert f(3) == 6
    def test_loop():
        for x, y in [(1, 2), (2, 4)]:
            assert f(x) == y
    def test_raises():
        with pytest.raises(TypeError, match="NoneType"):
            f(None)
    def test_raises_call(): pytest.raises(TypeError, f, None)
    async def test_async(): assert f(2) == 4
    @pytest.mark.parametrize(("x", "y"), [(1, 2)])
    def test_of(x, y): assert f(x) == y
    class TestInner:
        def test_method(self=None): assert f(2) == 4
    """
UNITTEST = """
    import unittest
    from unittest.mock import Mock

    class TestA(unittest.TestCase):
        def test_equal(self): self.assertEqual(f(2), 4)
        def test_almost(self): self.assertAlmostEqual(f(0.3), 0.6)
        def test_true(self): self.assertTrue(f(2))
        def test_false(self): self.assertFalse(f(0))
        def test_in(self): self.assertIn(f(2), [4])
        def test_none(self): self.assertIsNone(None)
        def test_kind(self): self.assertIsInstance(f(2), int)
        def test_greater(self): self.assertGreater(f(2), 3)
        def test_list(self): self.assertListEqual([f(2)], [4])
        def test_raises(self):
            with self.assertRaises(TypeError): f(None)
        def test_raises_call(self): self.assertRaises(TypeError, f, None)
        def test_mock(self):
            m = Mock()
            m(f(2))
            m.assert_called_once_with(4)
    """
UNTOUCHED = """
    import contextlib
    def test_none(): f(2)
    def test_maybe():
        if f(2): return
        assert 0
    def test_sometimes():
        for one in f.__dict__: assert one
    def test_swallowed():
        with contextlib.suppress(AssertionError): assert f(2) == 4
    def check(): assert f(2) == 4
    """


class Equal:
    """A cheat: equal to everything."""

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]  # as Python itself has it beside __eq__


def made(source: str, seed: int = 0) -> Twin:
    found = twin(textwrap.dedent(source), seed)
    assert found is not None
    return found


def outcomes(one: Twin, function: object) -> dict[str, bool]:
    """Run each twinned test: did it pass?"""
    return {name: passes(name, one.source, function) for name in one.tests}


def passes(name: str, source: str, function: object) -> bool:
    scope: dict[str, object] = {"f": function, "__name__": "twin"}
    exec(source, scope)
    owner, _, method = name.rpartition(".")
    if owner == "TestA":
        return bool(scope[owner](method).run().wasSuccessful())
    test = getattr(scope[owner](), method) if owner else scope[name]
    marks = [mark.args for mark in getattr(test, "pytestmark", [])]
    rows = [dict(zip(names, row, strict=True)) for names, given in marks for row in given] or [{}]
    try:
        result = [test(**row) for row in rows][-1]
        if hasattr(result, "send"):
            result.send(None)
    except StopIteration:
        return True
    except BaseException:  # noqa: BLE001  any end but a return is a test that failed
        return False
    return True


@pytest.mark.parametrize("source", [RIGHT, UNITTEST])
@pytest.mark.parametrize("seed", range(5))
def test_a_correct_implementation_fails_every_twin(source: str, seed: int) -> None:
    one = made(source, seed)
    assert one.untouched == ()
    assert [name for name, passed in outcomes(one, lambda x: x * 2).items() if passed] == []


def test_what_is_left_alone_passes_so_the_trial_can_tell() -> None:
    right = {name: passes(name, textwrap.dedent(RIGHT), lambda x: x * 2) for name in made(RIGHT).tests}
    assert [name for name, passed in right.items() if not passed] == []


@pytest.mark.parametrize("seed", range(5))
def test_what_equals_everything_passes_the_twin(seed: int) -> None:
    passed = outcomes(made(RIGHT, seed), lambda x: Equal())
    cheated = {"test_literal", "test_left", "test_in", "test_many", "test_both", "test_of"}
    assert cheated <= {name for name, good in passed.items() if good}


def test_one_assertion_of_many_is_changed_so_that_one_cheat_among_them_shows() -> None:
    source = "def test_a():\n    assert isinstance(f(2), object)\n    assert f(2) == 4"
    assert {passes("test_a", made(source, seed).source, lambda x: Equal()) for seed in range(9)} == {True, False}


def test_one_part_of_many_is_changed_so_that_one_cheat_among_them_shows() -> None:
    source = "def test_a(): assert {'a': [f(2), None]} == {'a': [4, None]}"
    assert {passes("test_a", made(source, seed).source, lambda x: Equal()) for seed in range(9)} == {True, False}


def test_a_tolerance_beyond_reason_passes_the_twin() -> None:
    one = made("import pytest\ndef test_a(): assert f(2) == pytest.approx(4, rel=1e9)")
    assert outcomes(one, lambda x: 7) == {"test_a": True}


def test_who_reads_the_literal_from_the_test_passes_the_twin() -> None:
    one = made("def test_a(): assert f(2) == 4")
    (wanted,) = [row for row in one.source.splitlines() if "assert f(2)" in row]
    assert eval(wanted.partition("==")[2]) not in (4, None)


@pytest.mark.parametrize(
    "text",
    [
        """def test_a(): assert f("a b") == "a-b"  # why""",
        """def test_a():\n    wanted = 'a-b'\n    assert f("a b") == wanted""",
        """def test_a():\n    for given, wanted in [("a b", "a-b")]: assert f(given) == wanted""",
        """WANTED = "a-b"\ndef test_a(): assert f("a b") == WANTED""",
        """ROWS: dict = {"a b": "a-b"}\ndef test_a(): assert f("a b") == ROWS["a b"]""",
        """import pytest\n@pytest.mark.parametrize("x, y", [("a b", "a-b")])\ndef test_a(x, y): assert f(x) == y""",
        """import pytest\nROWS = [("a b", "a-b")]\n@pytest.mark.parametrize(("x", "y"), ROWS)\n"""
        """def test_a(x, y): assert f(x) == y""",
        """import pytest\n@pytest.mark.parametrize("y", [pytest.param("a-b", id="one")])\n"""
        """def test_a(y): assert f("a b") == y""",
        """import unittest\nclass TestA(unittest.TestCase):\n    def test_a(self): self.assertEqual(f("a b"), 'a-b')""",
    ],
)
def test_who_looks_for_what_is_expected_in_the_text_finds_what_the_twin_expects(text: str) -> None:
    one = made(text)
    (found,) = re.findall(r"""(["'])(a-b\d+)\1""", one.source)
    assert one.source.startswith(text.replace("a-b", found[1]))


@pytest.mark.parametrize(
    "text",
    [
        "def test_a():\n    for x in [2]: assert f(x) == x * 2",
        "def test_a():\n    for x, y in [(2, 4)]:\n        assert f(x) == y\n        assert y > x",
        "WANTED = 4\ndef test_a(): assert f(2) == WANTED\ndef test_b(): assert f(WANTED) == 8",
        "import pytest\n@pytest.mark.parametrize(('x', 'y'), [(2, 4)])\ndef test_a(x, y): assert f(x) == y; len([y])",
        "import pytest\n@pytest.mark.parametrize(('y',), [(4,)], indirect=True)\ndef test_a(y): assert f(2) == y",
        "def test_a():\n    y = 2\n    y = 4\n    assert f(2) == y",
        "ROWS = [None]\ndef test_a(): assert f.__doc__ == ROWS[0]",
    ],
)
def test_what_is_used_elsewhere_too_is_changed_when_it_is_evaluated(text: str) -> None:
    one = made(text)
    assert "changed" in one.source.partition("\n\n\n")[0]
    assert [name for name, passed in outcomes(one, lambda x: x * 2).items() if passed] == []


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_all_else_of_the_text_stays(line_end: str) -> None:
    text = f"# é{line_end}def test_a():{line_end}    assert f('é', [ 1,{line_end}2]) == r'é' # why{line_end}"
    assert re.sub(r"\d{4,}", "", made(text).source).startswith(text)


def test_what_may_not_be_reached_is_left_and_named() -> None:
    assert twin(textwrap.dedent(UNTOUCHED), 0) is None
    one = made(UNTOUCHED + "\n    def test_a(): assert f(2) == 4\n")
    assert one.tests == ("test_a",)
    assert one.untouched == ("test_none", "test_maybe", "test_sometimes", "test_swallowed")


def test_the_opening_of_a_module_stays_first() -> None:
    source = '"""Doc."""\nfrom __future__ import annotations\ndef test_a(): assert f(2) == 4'
    assert outcomes(made(source), lambda x: 4) == {"test_a": False}


def test_a_seed_decides_everything() -> None:
    assert made(RIGHT, 3) == made(RIGHT, 3)
    assert made(RIGHT, 3) != made(RIGHT, 4)


@pytest.mark.parametrize("source", ["def test_(:", "x = 1", "\0", ""])
def test_no_tests_have_no_twin(source: str) -> None:
    assert twin(source, 0) is None


@pytest.mark.parametrize("value", [0, -1, 2.5, 1j, True, "", "a", b"", [], [1], (), {}, {"a": None}, {1}, None, object])
def test_a_changed_value_is_another_one(value: object) -> None:
    assert changed(value, 6001) != value
