"""What did a human ask for? The spec of a mission: immutable once started."""

from pydantic import field_validator

from agents.domain.budget import Budget
from agents.domain.value import Value

PROTECTED = (
    "tests/**",
    "test/**",
    "**/conftest.py",
    "**/test_*.py",
    "**/*_test.py",
    "**/*.test.*",
    "**/*.spec.*",
    "**/__tests__/**",
    "pyproject.toml",
    "**/setup.cfg",
    "**/setup.py",
    "tox.ini",
    "noxfile.py",
    "**/pytest.ini",
    "**/.pytest.ini",
    "**/pytest.toml",
    "**/.pytest.toml",
    "**/ruff.toml",
    "**/.ruff.toml",
    "**/mypy.ini",
    "**/.mypy.ini",
    ".coveragerc",
    "uv.lock",
    "poetry.lock",
    "pdm.lock",
    "pylock.toml",
    "**/requirements*.txt",
    "requirements/**",
    "package.json",
    "package-lock.json",
    "Makefile",
    ".github/**",
    "lra.toml",
)


class Mission(Value):
    """What a human asked for, on one repository.

    `checks` are suite names (tests, lint, types, build) or commands; `protect` are globs that no item may change
    without a grant; `attempts` is how often one item is tried before it is blocked.
    """

    id: str
    title: str
    brief: str
    target: str
    checks: tuple[str, ...]
    protect: tuple[str, ...] = PROTECTED
    budget: Budget = Budget()
    attempts: int = 3
    created_by: str
    created_at: str

    @field_validator("checks")
    @classmethod
    def _checks_are_not_empty(cls, checks: tuple[str, ...]) -> tuple[str, ...]:
        if any(not check.strip() for check in checks):
            raise ValueError("a check must not be empty")
        return checks
