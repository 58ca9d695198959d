"""Do spans that meet become one?"""

from meter.spans import merge


def test_overlapping_spans_are_one(spans):
    assert merge(spans) == [(1, 4), (5, 9)]


def test_spans_that_touch_are_one():
    assert merge([(1, 2), (2, 3)]) == [(1, 3)]


def test_a_span_inside_another_vanishes():
    assert merge([(0, 10), (2, 3), (20, 21)]) == [(0, 10), (20, 21)]


def test_the_list_given_stays_as_it_is(spans):
    before = list(spans)
    merge(spans)
    assert spans == before
