"""Are the listed rates used?"""

from meter.rates import convert


def test_a_listed_pair():
    assert convert(10, "EUR", "USD") == 12.5
