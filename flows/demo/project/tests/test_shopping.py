from larder import shopping
from larder.recipe import Ingredient


def test_a_weight_is_written_with_its_unit() -> None:
    assert shopping.shopping_list([Ingredient("flour", 200, "g")]) == ["200 g flour"]


def test_things_that_are_counted_stand_in_the_plural() -> None:
    assert shopping.shopping_list([Ingredient("egg", 3)]) == ["3 eggs"]
    assert shopping.shopping_list([Ingredient("egg", 1)]) == ["1 egg"]


def test_the_same_thing_is_bought_once_and_in_a_tidy_unit() -> None:
    twice = [Ingredient("flour", 800, "g"), Ingredient("flour", 700, "g")]
    assert shopping.shopping_list(twice) == ["1.5 kg flour"]


def test_the_list_is_sorted_by_name() -> None:
    mixed = [Ingredient("tomato", 4), Ingredient("egg", 2), Ingredient("milk", 500, "ml")]
    assert shopping.shopping_list(mixed) == ["2 eggs", "500 ml milk", "4 tomatoes"]
