import pytest

from larder.recipe import Ingredient, parse_line


def test_a_line_with_a_unit() -> None:
    assert parse_line("200 g flour") == Ingredient("flour", 200, "g")


def test_a_line_that_counts() -> None:
    assert parse_line("3 red onion") == Ingredient("red onion", 3)


def test_a_line_without_an_amount_is_refused() -> None:
    with pytest.raises(ValueError):
        parse_line("some salt")
