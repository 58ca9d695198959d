"""Is a title written as one?"""

from meter.words import title


def test_each_word_gets_a_capital():
    assert title("a small  house") == "A Small House"


def test_capitals_inside_a_word_stay():
    assert title("the iPhone of McGee") == "The IPhone Of McGee"
