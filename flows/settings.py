"""When may LRA do what? The one set of settings, and the only reader of the environment."""

import os
import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import ConfigDict, Field, SecretStr, ValidationError, field_validator

from agents.domain.errors import Misconfigured
from agents.domain.value import Value

OPERATOR_FILE = Path("~/.config/lra/config.toml")
REPOSITORY_FILE = "lra.toml"


def _data_home() -> Path:
    from platformdirs import user_data_path  # the slowest of the imports here, and often not needed

    return user_data_path("lra", appauthor=False)


class Settings(Value):
    """How LRA is set on this machine, for this repository, in this command."""

    model_config = ConfigDict(use_attribute_docstrings=True, str_strip_whitespace=True)

    home: Path = Field(default_factory=_data_home)
    """Folder for the store, journals, results, warehouse and environments."""

    model: str | None = Field(default=None, min_length=1)
    """A litellm model name, or `recorded:DIR`, or `scripted:FILE`."""

    api_base: str | None = None
    """Address of an OpenAI-compatible server; default: the provider's own."""

    api_key: SecretStr | None = None
    """Key for the provider; default: the provider's own variable, as litellm reads it."""

    input_usd_per_million: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """Declared price in dollars of a million tokens in; default: what litellm knows, else unpriced."""

    output_usd_per_million: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """Declared price in dollars of a million tokens out; default: what litellm knows, else unpriced."""

    max_tokens: int = Field(default=4096, ge=1)
    """Most tokens of one reply."""

    temperature: float = Field(default=0.0, ge=0, le=2, allow_inf_nan=False)
    """Sampling temperature of the model."""

    request_seconds: float = Field(default=600, gt=0, allow_inf_nan=False)
    """Longest wait for one reply, in seconds."""

    check_seconds: float = Field(default=600, gt=0, allow_inf_nan=False)
    """Longest run of one check, in seconds; then its processes are killed."""

    max_calls: int = Field(default=16, ge=1)
    """Most model calls of one attempt at an item."""

    show_work: bool = True
    """Show an attempt what the one before wrote, beside what was wrong with it; small models write it again then."""

    attempts: int = Field(default=3, ge=1)
    """How often one item is tried before it is blocked."""

    moves: Literal["auto", "text", "tools"] = "auto"
    """How a model writes its moves: as text, as tool calls, or `auto`, which asks what the model can do."""

    allow_unsandboxed: bool = False
    """Let work be merged that was checked without isolation, on a machine where none can be had."""

    prefect_api_url: str | None = None
    """Address of a Prefect server; default: the local one that LRA starts."""

    @field_validator("home")
    @classmethod
    def _home_is_absolute(cls, home: Path) -> Path:
        return home.expanduser().absolute()


FREE = frozenset({"moves", "show_work", "temperature"})
"""What a repository may set as it likes."""

LOWER = frozenset({"max_tokens", "request_seconds", "check_seconds", "max_calls", "attempts"})
"""What a repository may lower, never raise. All else is the operator's: money, keys, addresses, folders."""


class Told(NamedTuple):
    """A value that somebody gave, and where: a file, the name of a variable, or a flag."""

    value: Any
    source: str


def read(repository: Path | None = None, flags: Mapping[str, Any] | None = None) -> Settings:
    """Return the settings for a repository and the flags of a command; None as a flag means that it was not given.

    Defaults < operator's file < lra.toml of the repository < environment < flags. A key that does not exist, a value
    that does not fit, and a repository that asks for more than the operator allows are Misconfigured.
    """
    return _settings(told(repository, flags))


def told(repository: Path | None = None, flags: Mapping[str, Any] | None = None) -> dict[str, Told]:
    """Return every setting that is not a default, with its source."""
    operator = _of_file(OPERATOR_FILE.expanduser())
    environment = _of_environment(os.environ)
    given = {key: Told(value, flag(key)) for key, value in (flags or {}).items() if value is not None}
    asked = _of_file(root / REPOSITORY_FILE) if (root := repository_root(repository)) else {}
    _refuse_loosening(asked, operator, {**environment, **given})
    return {**operator, **asked, **environment, **given}


def repository_root(start: Path | None) -> Path | None:
    """Return the nearest folder at or above `start` that holds `.git`, or None: a bare repository has no files."""
    if start is None:
        return None
    here = start.expanduser().absolute()
    if not here.exists():  # a URL: its files are not on this machine
        return None
    return next((folder for folder in (here, *here.parents) if (folder / ".git").exists()), None)


def variable(key: str) -> str:
    """Name the environment variable of a setting."""
    return "PREFECT_API_URL" if key == "prefect_api_url" else f"LRA_{key.upper()}"


def flag(key: str) -> str:
    """Name the flag of a setting."""
    return "--" + key.replace("_", "-")


def login_shell() -> str:
    """Name the shell of this user, or "" when nothing says which it is."""
    return Path(os.environ.get("SHELL", "")).name


def _settings(values: Mapping[str, Told]) -> Settings:
    try:
        return Settings.model_validate({key: given.value for key, given in values.items()})
    except ValidationError as error:
        first = error.errors()[0]
        key = str(first["loc"][0])
        source = values[key].source if key in values else "default"
        shown = "" if key == "api_key" else f", not {first['input']!r}"
        raise Misconfigured(f"{key} ({source}): {first['msg'].removeprefix('Input ')}{shown}") from None


def _of_file(path: Path) -> dict[str, Told]:
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise Misconfigured(f"{path} cannot be read as settings: {error}") from None
    for key in values:
        if key not in Settings.model_fields:
            raise Misconfigured(f"{path}: there is no setting {key!r}{_nearest(key, Settings.model_fields)}")
    return {key: Told(value, str(path)) for key, value in values.items()}


def _of_environment(environment: Mapping[str, str]) -> dict[str, Told]:
    known = {variable(key): key for key in Settings.model_fields}
    for name in environment:
        if name.startswith("LRA_") and name not in known:
            raise Misconfigured(f"{name} is set, but there is no such setting{_nearest(name, known)}")
    return {key: Told(environment[name], name) for name, key in known.items() if environment.get(name)}


def _refuse_loosening(asked: Mapping[str, Told], *allowing: Mapping[str, Told]) -> None:
    operator, above = allowing
    for key, (value, source) in asked.items():
        if key in FREE or key in above:
            continue
        if key not in LOWER:
            raise Misconfigured(f"{source}: {key} belongs to the operator; set it with {_how(key)}")
        allowed = getattr(_settings({key: operator[key]} if key in operator else {}), key)
        if getattr(_settings({key: Told(value, source)}), key) > allowed:
            raise Misconfigured(
                f"{source}: {key} = {value} is more than the {allowed} allowed here; raise it with {_how(key)}"
            )


def _how(key: str) -> str:
    flags = f"{flag(key)}, " if key in ("model", "api_base") else ""
    return f"{flags}{variable(key)} or {OPERATOR_FILE}"


def _nearest(name: str, known: Mapping[str, Any]) -> str:
    close = get_close_matches(name, known, 1, 0.4)
    return f"; did you mean {close[0]!r}?" if close else ""
