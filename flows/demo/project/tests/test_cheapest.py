from larder import prices


def test_the_lowest_price_wins() -> None:
    assert prices.cheapest({"corner shop": 2.5, "market": 1.8, "mill": 2.1}) == "market"


def test_the_only_shop_wins() -> None:
    assert prices.cheapest({"mill": 2.1}) == "mill"
