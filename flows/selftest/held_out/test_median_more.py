"""Is the median the value in the middle, and the mean of the two there?"""

from meter.numbers import median


def test_an_even_number_of_values():
    assert [median([1, 2]), median([4, 1, 3, 2]), median([10, 0, 1, 1])] == [1.5, 2.5, 1]


def test_an_odd_number_of_values():
    assert [median([3]), median([9, 1, 5])] == [3, 5]
