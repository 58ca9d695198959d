"""Words as they stand on a shopping list."""


def plural(word: str, count: float) -> str:
    """Return the word as it stands after a count: 1 egg, 2 eggs."""
    if count == 1:
        return word
    return word + "s"
