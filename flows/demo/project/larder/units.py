"""Weights and volumes, and the way from one unit to another."""

GRAMS = {"g": 1.0, "kg": 1000.0}
MILLILITRES = {"ml": 1.0, "tsp": 5.0, "tbsp": 15.0, "l": 1000.0}


def convert(amount: float, source: str, target: str) -> float:
    """Return the amount in another unit of the same kind; anything else is a ValueError."""
    for table in (GRAMS, MILLILITRES):
        if source in table and target in table:
            return amount * table[source] / table[target]
    raise ValueError(f"cannot convert {source} to {target}")
