"""Which tests does the text of a file promise, and which are up to what happens when it runs?"""

import textwrap

from agents.domain.manifest import promised

PROMISED = """
    import unittest
    import pytest

    def test_plain(): ...
    async def test_async(): ...
    @pytest.mark.parametrize("x", CASES)
    def test_each(x): ...
    class TestGroup:
        def test_method(self): ...
        def other(self): ...
    class Checks(unittest.TestCase):
        def test_method(self): ...
"""
OPEN = """
    import pytest

    @pytest.fixture
    def test_data(): ...
    @nottest
    def test_of_nobody(): ...
    if sys.platform == "win32":
        def test_elsewhere(): ...
    def test_gone(): ...
    del test_gone
    def helper(): ...
    class TestStarted:
        def __init__(self): ...
        def test_method(self): ...
    class TestOff:
        __test__ = False
        def test_method(self): ...
    class TestDerived(Base):
        def test_method(self): ...
    @decorated
    class TestDecorated:
        def test_method(self): ...
"""


def names(source: str, functions: str = "test", classes: str = "Test") -> set[str]:
    return set(promised(textwrap.dedent(source), (functions,), (classes,)))


def test_what_stands_in_the_text_is_promised() -> None:
    assert names(PROMISED) == {"test_plain", "test_async", "test_each", "TestGroup::test_method", "Checks::test_method"}


def test_what_a_condition_a_decorator_or_a_class_may_take_away_is_not() -> None:
    assert names(OPEN) == set()


def test_names_are_what_the_configuration_calls_a_test() -> None:
    source = "def test_a(): ...\ndef check_b(): ...\nclass SpecC:\n    def check_d(self): ...\n"
    assert names(source, "check_*", "Spec*") == {"check_b", "SpecC::check_d"}


def test_no_python_promises_nothing() -> None:
    assert names("def test(") == set()
