"""Are equal amounts equal, and are sums right?"""

from meter.money import Money


def test_equal_amounts_are_equal():
    assert Money("1.5") == Money("1.50")


def test_other_amounts_are_not():
    assert Money("1.5") != Money("1.51")


def test_amounts_add_up():
    assert str(Money("1.10") + Money("2.20")) == "3.30"


def test_an_amount_is_no_text():
    assert Money("1.50") != "1.50"


def test_equal_amounts_count_once():
    assert len({Money("1.5"), Money("1.50"), Money("2")}) == 2
