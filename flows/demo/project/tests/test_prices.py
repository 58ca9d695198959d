from larder.prices import average


def test_the_average_of_one_shop_is_its_price() -> None:
    assert average({"mill": 2.5}) == 2.5


def test_the_average_lies_between_the_prices() -> None:
    assert average({"market": 1.5, "mill": 2.5}) == 2
