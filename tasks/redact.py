"""Do it, durably: secrets that stand in the repository reach no model, journal or record."""

import re

from agents.domain.protect import SECRETS, matches
from tasks.git.trees import Trees

ASSIGNMENT = re.compile(r"^\s*(?:export\s+)?[\w./:-]+\s*[:=]\s*[\"']?([^\s\"']{6,})", re.MULTILINE)
LOGIN = re.compile(r"\b(?:password|login|account)\s+(\S{6,})")
BODY = re.compile(r"^[A-Za-z0-9+/=]{16,}$", re.MULTILINE)
MASK = "[redacted]"


class Redactor:
    """Masks the values that the secret files of a tree hold (`.env`, keys, …), wherever they turn up in a text."""

    def __init__(self, trees: Trees, tree: str) -> None:
        texts = [
            trees.read(tree, path).decode("utf-8", "replace") for path in trees.entries(tree) if matches(path, SECRETS)
        ]
        forms = (ASSIGNMENT, LOGIN, BODY)
        values = {value for text in texts for form in forms for value in form.findall(text)}
        self._values = sorted(values, key=len, reverse=True)

    def __call__(self, text: str) -> str:
        """Return the text without any of the values."""
        for value in self._values:
            text = text.replace(value, MASK)
        return text


def is_secret(path: str) -> bool:
    """Say whether a file is withheld from models as a whole."""
    return matches(path, SECRETS)
