import pytest

from larder import recipe
from larder.recipe import Ingredient


def test_every_amount_is_multiplied() -> None:
    dough = [Ingredient("flour", 200, "g"), Ingredient("egg", 2)]
    assert recipe.scale(dough, 1.5) == [Ingredient("flour", 300, "g"), Ingredient("egg", 3)]


def test_nothing_scales_to_nothing() -> None:
    assert recipe.scale([], 2) == []


def test_a_factor_must_be_positive() -> None:
    with pytest.raises(ValueError):
        recipe.scale([Ingredient("egg", 2)], 0)
    with pytest.raises(ValueError):
        recipe.scale([Ingredient("egg", 2)], -1)
