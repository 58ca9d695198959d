from larder.words import plural


def test_a_y_becomes_ies() -> None:
    assert plural("berry", 2) == "berries"
    assert plural("cherry", 20) == "cherries"


def test_one_stays_one() -> None:
    assert plural("berry", 1) == "berry"
