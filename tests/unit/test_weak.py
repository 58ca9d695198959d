"""Which tests say what the answer is, and which hold for most wrong answers?"""

import pytest

from agents.domain.weak import expects_little

LITTLE = [
    "f(1)",
    "assert f(1)",
    "assert f(1) is not None",
    "assert isinstance(f(1), float)",
    "assert type(f(1)) == float",
    "assert f(1) is not None and isinstance(f(1), int)",
    "assert not isinstance(f(1), str)",
    "assert len(f(1)) > 0",
    "assert f(1) != []",
    "assert hasattr(f(1), 'x')",
    "self.assertIsInstance(f(1), int)",
    "self.assertIsNotNone(f(1))",
    "self.assertTrue(f(1))",
]
ENOUGH = [
    "assert f(1) == 2",
    "assert f(1) is None",
    "assert isinstance(f(1), int) and f(1) > 3",
    "assert f(1) in (1, 2)",
    "assert f(1).startswith('a')",
    "assert close(f(1), 2)",
    "pytest.raises(ValueError, f, 1)",
    "self.assertEqual(f(1), 2)",
    "self.assertTrue(f(1) == 2)",
    "mock.assert_called_once_with(1)",
]


@pytest.mark.parametrize("line", LITTLE)
def test_a_type_or_a_presence_is_little(line: str) -> None:
    assert expects_little(f"def test_f(self):\n    g = 1\n    {line}\n")


@pytest.mark.parametrize("line", ENOUGH)
def test_an_answer_is_enough_wherever_it_stands(line: str) -> None:
    assert not expects_little(f"def test_f(self):\n    assert f(1)\n    for _ in range(2):\n        {line}\n")


def test_what_is_no_python_expects_nothing() -> None:
    assert expects_little("def test(")
