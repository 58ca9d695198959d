from larder.recipe import Ingredient
from larder.shopping import heading, line, shopping_list


def test_a_weight_is_written_with_its_unit() -> None:
    assert line(Ingredient("flour", 200, "g")) == "200 g flour"


def test_half_of_something_is_written_as_a_decimal() -> None:
    assert line(Ingredient("cream", 0.5, "l")) == "0.5 l cream"


def test_nothing_to_cook_is_nothing_to_buy() -> None:
    assert shopping_list([]) == []


def test_the_heading_counts_the_recipes() -> None:
    assert heading(1) == "To buy for 1 recipe"
    assert heading(2) == "To buy for 2 recipes"
