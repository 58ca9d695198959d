"""What do several tests need?"""

from pathlib import Path

import pytest


@pytest.fixture
def orders() -> Path:
    return Path(__file__).parent / "data" / "orders.csv"


@pytest.fixture
def spans():
    return [(5, 9), (1, 3), (2, 4)]
