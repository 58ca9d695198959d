"""Why could a check not be carried out? The kinds of trouble, by the words with which LRA itself tells of it."""

TROUBLES = {
    "the result channel was tampered with": "tamper",
    "the test run was tampered with": "tamper",
    "timed out": "timeout",
    "crashed": "crash",
    "stopped": "crash",
    "interrupted": "crash",
    "pytest itself failed": "crash",
    "ruff could not check": "crash",
    "mypy could not check": "crash",
    "exit code": "garbage",
}
LIMITS = {"it held more than": "memory", "it wrote more than": "disk"}


def kind_of_trouble(text: str) -> str:
    """Return the kind of reason for a check that could not be carried out, by how its text begins; else `infra`."""
    kind = next((kind for words, kind in TROUBLES.items() if text.startswith(words)), "infra")
    limit = next((kind for words, kind in LIMITS.items() if f"stopped: {words}" in text), "")
    return limit if limit and kind == "crash" else kind
