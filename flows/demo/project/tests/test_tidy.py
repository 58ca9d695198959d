from larder import units


def test_a_lot_of_grams_become_kilograms() -> None:
    assert units.tidy(1500, "g") == (1.5, "kg")
    assert units.tidy(1000, "g") == (1, "kg")


def test_a_lot_of_millilitres_become_litres() -> None:
    assert units.tidy(2000, "ml") == (2, "l")


def test_everything_else_stays() -> None:
    assert units.tidy(999, "g") == (999, "g")
    assert units.tidy(4000, "tsp") == (4000, "tsp")
    assert units.tidy(5000, "") == (5000, "")
