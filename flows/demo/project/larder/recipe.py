"""Recipes as people write them, one ingredient on a line."""

from dataclasses import dataclass

from larder.units import GRAMS, MILLILITRES


@dataclass(frozen=True)
class Ingredient:
    """What goes into a dish; things that are counted, such as eggs, have no unit."""

    name: str
    amount: float
    unit: str = ""


def parse_line(line: str) -> Ingredient:
    """Read a line such as "200 g flour" or "3 egg"; a line without an amount is a ValueError."""
    first, _, rest = line.strip().partition(" ")
    amount = float(first)
    unit, _, name = rest.partition(" ")
    if unit in GRAMS or unit in MILLILITRES:
        return Ingredient(name, amount, unit)
    return Ingredient(rest, amount)
