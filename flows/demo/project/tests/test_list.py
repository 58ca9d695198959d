from larder.recipe import Ingredient
from larder.shopping import line


def test_what_is_counted_stands_in_the_plural() -> None:
    assert line(Ingredient("egg", 3)) == "3 eggs"
    assert line(Ingredient("cherry", 20)) == "20 cherries"


def test_one_stays_one_and_what_is_weighed_stays() -> None:
    assert line(Ingredient("egg", 1)) == "1 egg"
    assert line(Ingredient("flour", 1500, "g")) == "1500 g flour"
