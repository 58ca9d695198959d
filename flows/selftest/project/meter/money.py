"""How much is it, to the cent?"""

from decimal import Decimal


class Money:
    """An amount with two places; equal amounts are equal, whatever they were made from."""

    def __init__(self, amount: str) -> None:
        self.amount = Decimal(amount).quantize(Decimal("0.01"))

    def __str__(self) -> str:
        return f"{self.amount}"
