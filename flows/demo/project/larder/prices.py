"""What things cost, shop by shop."""


def average(prices: dict[str, float]) -> float:
    """Return what a thing costs on the average."""
    return sum(prices.values()) / len(prices)
