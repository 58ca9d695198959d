"""How is a text written for a title or an address?"""


def slug(text: str) -> str:
    """Return the text for an address: small letters and digits without accents, single hyphens."""
    raise NotImplementedError


def title(text: str) -> str:
    """Return the text with a capital at the start of each word, and single spaces."""
    return " ".join(word[:1].upper() + word[1:] for word in text.split())
