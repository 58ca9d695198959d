"""What is measured once is kept: written whole or not at all, and read as nothing when it is broken."""

import os
import threading
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from agents.domain.value import Value

V = TypeVar("V", bound=Value)


def load(place: Path, kind: type[V]) -> V | None:
    """Read a kept value; None when there is none, or when what is there is no such value."""
    try:
        return kind.model_validate_json(place.read_bytes())
    except (OSError, ValidationError):
        return None


def keep(place: Path, text: str) -> None:
    """Write a text in one step: whoever reads finds all of it, or what was there before."""
    place.parent.mkdir(parents=True, exist_ok=True)
    temporary = place.with_suffix(f".{os.getpid()}.{threading.get_ident()}.tmp")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(place)
