from larder import prices


def test_the_bill_is_the_sum_in_whole_cents() -> None:
    assert prices.bill([1.5, 2.25, 0.8]) == 4.55
    assert prices.bill([0.1, 0.2]) == 0.3


def test_nothing_costs_nothing() -> None:
    assert prices.bill([]) == 0
