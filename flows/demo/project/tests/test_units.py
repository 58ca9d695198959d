import pytest

from larder.units import convert


def test_a_kilogram_is_a_thousand_grams() -> None:
    assert convert(1, "kg", "g") == 1000


def test_three_teaspoons_are_a_tablespoon() -> None:
    assert convert(3, "tsp", "tbsp") == 1


def test_a_weight_is_not_a_volume() -> None:
    with pytest.raises(ValueError):
        convert(1, "g", "ml")
