"""Does clamp keep any number between its bounds?"""

import random

from meter.numbers import clamp


def test_any_number_is_kept_between_its_bounds():
    for _ in range(50):
        low, high = sorted(random.sample(range(-1000, 1000), 2))
        value = random.randint(-2000, 2000)
        assert clamp(value, low, high) == sorted((low, value, high))[1]
