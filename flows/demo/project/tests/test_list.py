from larder.recipe import Ingredient
from larder.shopping import line, shopping_list


def test_a_lot_is_written_in_a_tidy_unit() -> None:
    assert line(Ingredient("flour", 1500, "g")) == "1.5 kg flour"
    assert line(Ingredient("milk", 2000, "ml")) == "2 l milk"


def test_what_is_counted_stands_in_the_plural() -> None:
    assert line(Ingredient("egg", 3)) == "3 eggs"
    assert line(Ingredient("radish", 20)) == "20 radishes"
    assert line(Ingredient("egg", 1)) == "1 egg"


def test_the_list_is_sorted_by_name() -> None:
    mixed = [Ingredient("tomato", 4), Ingredient("egg", 2), Ingredient("milk", 500, "ml")]
    assert shopping_list(mixed) == ["2 eggs", "500 ml milk", "4 tomatoes"]
