"""Is a text made fit for an address?"""

from meter.words import slug


def test_words_are_joined_by_hyphens():
    assert slug("Hello Small World") == "hello-small-world"


def test_accents_go_and_letters_stay():
    assert slug("Crème Brûlée") == "creme-brulee"


def test_marks_become_one_hyphen():
    assert slug("  rock -- & roll!  ") == "rock-roll"


def test_nothing_stays_nothing():
    assert slug("...") == ""
