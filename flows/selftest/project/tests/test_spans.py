"""Is a point covered?"""

from meter.spans import covers


def test_a_point_on_the_end_is_covered(spans):
    assert covers(spans, 9)


def test_a_point_between_two_is_not(spans):
    assert not covers([(1, 3), (5, 9)], 4)
