"""Does clamp keep a number between its bounds?"""

import pytest

from meter.numbers import clamp


@pytest.mark.parametrize(
    ("value", "low", "high", "expected"),
    [(5, 0, 10, 5), (-3, 0, 10, 0), (11, 0, 10, 10), (7, 7, 7, 7), (2.5, -1.5, 2.25, 2.25)],
)
def test_a_number_is_kept_between_its_bounds(value, low, high, expected):
    assert clamp(value, low, high) == expected


def test_bounds_in_the_wrong_order_are_refused():
    with pytest.raises(ValueError, match="above"):
        clamp(1, 2, 0)
