"""What is a value here? Frozen, closed to unknown fields, with one canonical JSON form and digest."""

import hashlib
import json
from typing import Any

from pydantic import BaseModel, ConfigDict


class Value(BaseModel):
    """An immutable value: a change is a new value, and a field nobody declared is refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True, allow_inf_nan=False)

    def digest(self) -> str:
        """Name this value by the sha256 of its canonical JSON: equal values, equal names, on every machine."""
        return digest_of(self.model_dump(mode="json"))


def canonical(data: Any) -> str:
    """Write plain data as the one JSON text that stands for it: sorted keys, no spaces, UTF-8 kept."""
    return json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def digest_of(data: Any) -> str:
    """Return the sha256 (hex) of the canonical JSON of plain data."""
    return hashlib.sha256(canonical(data).encode("utf-8", "surrogatepass")).hexdigest()
