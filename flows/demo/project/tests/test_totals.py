from larder import recipe
from larder.recipe import Ingredient


def test_the_same_thing_is_added_up() -> None:
    dough = [Ingredient("flour", 200, "g"), Ingredient("egg", 2), Ingredient("flour", 150, "g")]
    assert recipe.totals(dough) == {("flour", "g"): 350, ("egg", ""): 2}


def test_another_unit_is_another_thing() -> None:
    milk = [Ingredient("milk", 1, "l"), Ingredient("milk", 30, "ml")]
    assert recipe.totals(milk) == {("milk", "l"): 1, ("milk", "ml"): 30}


def test_nothing_adds_up_to_nothing() -> None:
    assert recipe.totals([]) == {}
