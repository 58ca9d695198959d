"""Do it, durably: secrets that stand in the repository reach no model, journal or record."""

import re

from agents.domain.protect import SECRETS, matches
from tasks.git.trees import Trees

ASSIGNMENT = re.compile(r"^\s*(?:export\s+)?[A-Za-z_][A-Za-z0-9_.]*\s*[:=]\s*[\"']?([^\s\"']{6,})", re.MULTILINE)
MASK = "[redacted]"


class Redactor:
    """Masks the values that the secret files of a tree hold (`.env`, keys, …), wherever they turn up in a text."""

    def __init__(self, trees: Trees, tree: str) -> None:
        texts = [
            trees.read(tree, path).decode("utf-8", "replace") for path in trees.entries(tree) if matches(path, SECRETS)
        ]
        self._values = sorted({value for text in texts for value in ASSIGNMENT.findall(text)}, key=len, reverse=True)

    def __call__(self, text: str) -> str:
        """Return the text without any of the values."""
        for value in self._values:
            text = text.replace(value, MASK)
        return text


def is_secret(path: str) -> bool:
    """Say whether a file is withheld from models as a whole."""
    return matches(path, SECRETS)
