"""What can be said about a few numbers?"""


def clamp(value: float, low: float, high: float) -> float:
    """Return `value`, at least `low` and at most `high`; ValueError when `low` is above `high`."""
    return max(low, value)


def mean(values: list[float]) -> float:
    """Return the mean; ValueError when there are no values."""
    if not values:
        raise ValueError("no values")
    return sum(values) / len(values)
