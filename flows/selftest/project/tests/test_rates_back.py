"""Can a listed pair be used the other way?"""

import pytest

from meter.rates import convert


def test_the_other_way():
    assert convert(10, "USD", "EUR") == 8


def test_a_currency_into_itself():
    assert convert(3.33, "EUR", "EUR") == 3.33


def test_an_unknown_pair_is_named():
    with pytest.raises(KeyError, match="JPY"):
        convert(1, "JPY", "EUR")
