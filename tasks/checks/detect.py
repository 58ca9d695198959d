"""See which checks a repository configures, from its files alone."""

import json
import re
from collections.abc import Callable, Iterable
from pathlib import PurePosixPath

from tasks.checks.mypy import settings_of
from tasks.checks.requirements import toml

TEST_FILE = re.compile(r"test_.*\.py|.*_test\.py")
NO_TEST = "no test specified"


def detect(paths: Iterable[str], read: Callable[[str], bytes]) -> tuple[str, ...]:
    """Name the checks that hold for this repository when its mission names none; may be empty.

    "build" is named only when the build needs nothing from the network: a gate must not depend on it unasked. Any other
    project may name it in its mission, and its backend is then fetched once.
    """
    known = frozenset(paths)
    project = toml(read("pyproject.toml")) if "pyproject.toml" in known else {}
    tools = project.get("tool", {})
    found = {
        "tests": _has_tests(known, read, tools),
        "lint": "ruff" in tools or not known.isdisjoint(("ruff.toml", ".ruff.toml")),
        "types": settings_of(lambda name: read(name) if name in known else None) is not None,
        "build": project.get("build-system", {}).get("requires") == [],
        "npm test": "package.json" in known and _has_npm_test(read("package.json")),
    }
    return tuple(name for name, holds in found.items() if holds)


def _has_tests(known: frozenset[str], read: Callable[[str], bytes], tools: dict[str, object]) -> bool:
    if any(TEST_FILE.fullmatch(PurePosixPath(path).name) for path in known):
        return True
    sections = {"tox.ini": b"[pytest]", "setup.cfg": b"[tool:pytest]"}
    configured = (
        "pytest" in tools
        or not known.isdisjoint(("pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml"))
        or any(section in read(name) for name, section in sections.items() if name in known)
    )
    return configured and any(path.endswith(".py") for path in known)


def _has_npm_test(content: bytes) -> bool:
    try:
        script = json.loads(content)["scripts"]["test"]
    except (ValueError, KeyError, TypeError):
        return False
    return isinstance(script, str) and bool(script.strip()) and NO_TEST not in script
