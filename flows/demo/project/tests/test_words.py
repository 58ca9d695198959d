from larder.words import plural


def test_one_egg_stays_an_egg() -> None:
    assert plural("egg", 1) == "egg"


def test_no_egg_and_many_eggs_take_an_s() -> None:
    assert plural("egg", 0) == "eggs"
    assert plural("egg", 12) == "eggs"
