from larder.words import plural


def test_a_hissing_sound_takes_es() -> None:
    assert plural("radish", 2) == "radishes"
    assert plural("peach", 3) == "peaches"
    assert plural("box", 2) == "boxes"


def test_an_o_takes_es() -> None:
    assert plural("tomato", 4) == "tomatoes"
    assert plural("potato", 4) == "potatoes"


def test_one_stays_one() -> None:
    assert plural("radish", 1) == "radish"
    assert plural("tomato", 1) == "tomato"
