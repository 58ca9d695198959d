"""Is the mean right?"""

import pytest

from meter.numbers import mean


def test_the_mean_of_a_few():
    assert mean([1, 2, 6]) == 3


def test_nothing_has_no_mean():
    with pytest.raises(ValueError, match="no values"):
        mean([])
