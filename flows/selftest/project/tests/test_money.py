"""Can amounts be compared and added?"""

from meter.money import Money


def test_an_amount_has_two_places():
    assert str(Money("1.5")) == "1.50"
