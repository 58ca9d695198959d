from larder.prices import average


def test_the_average_of_all_shops() -> None:
    assert average({"market": 1.5, "mill": 2.5}) == 2
