"""Is a text made fit for an address, also one that nobody was shown?"""

from meter.words import slug


def test_words_of_other_texts():
    assert [slug("A B"), slug("Über Straßen!"), slug("x"), slug("9 Lives")] == ["a-b", "uber-straen", "x", "9-lives"]
