"""Run LRA's mypy on a workspace, against the repository's own environment, and count its diagnostics."""

import configparser
import json
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agents.domain.reports import CheckReport
from tasks.checks.environment import code_of
from tasks.checks.plain import shortened, without_times
from tasks.checks.requirements import toml
from tasks.checks.ruff import SHOWN_CHARACTERS, SHOWN_LINES, key
from tasks.checks.workspace import Workspace

LIMIT = 64_000_000
TARGETS = ("files", "packages", "modules")
NOT_CODE = ("tests", "test", "docs", "doc", "examples", "build", "dist", "node_modules")
NOT_MODULES = ("setup.py", "conftest.py", "noxfile.py")


def run_mypy(workspace: Workspace, check: str) -> CheckReport:
    """Check what the repository's configuration names, else its packages and modules outside of tests."""
    settings = settings_of(lambda name: _read(workspace.root / name)) or {}
    named = any(name in settings for name in TARGETS)
    targets = () if named else _packages(workspace.root)
    if not targets and not named:
        return CheckReport(check=check, kind="mypy", trouble="mypy found nothing to check: set `files` for it")
    places = code_of(workspace.root, workspace.environment)
    sources = "" if "mypy_path" in settings else ":".join(str(place) for place in places if place != workspace.root)
    ran = workspace.run(_argv(workspace, targets), limit=LIMIT, MYPYPATH=sources, PYTHONPATH="")
    if ran.timed_out:
        return CheckReport(check=check, kind="mypy", trouble=workspace.late(), seconds=ran.seconds)
    found = _found(ran.output)
    if ran.exit not in (0, 1) and not found:
        said = shortened(without_times(workspace.plain(ran.output)), SHOWN_LINES, SHOWN_CHARACTERS)
        trouble = f"mypy could not check: it ended with exit code {ran.exit}"
        return CheckReport(check=check, kind="mypy", trouble=trouble, details=said, seconds=ran.seconds)
    counts = Counter(workspace.plain(key(each["code"] or "error", each["message"])) for each in found)
    lines = [f"{each['file']}:{each['line']}: {each['message']} [{each['code']}]" for each in found]
    return CheckReport(
        check=check,
        kind="mypy",
        diagnostics=dict(sorted(counts.items())),
        details=shortened(workspace.plain("\n".join(lines)), SHOWN_LINES, SHOWN_CHARACTERS),
        seconds=ran.seconds,
    )


def settings_of(read: Callable[[str], bytes | None]) -> dict[str, Any] | None:
    """Return the settings that mypy would read, from the first file that has them; None when it is not configured."""
    for name in ("mypy.ini", ".mypy.ini", "pyproject.toml", "setup.cfg"):
        content = read(name)
        if content is None:
            continue
        in_toml = name == "pyproject.toml"
        found = toml(content).get("tool", {}).get("mypy") if in_toml else _section(content)
        if found is not None:
            return dict(found)
    return None


def _argv(workspace: Workspace, targets: tuple[str, ...]) -> tuple[str, ...]:
    cache = ("--no-incremental", "--cache-dir", str(workspace.scratch / "mypy"))
    python = ("--python-executable", str(workspace.environment.python))
    return (sys.executable, "-I", "-m", "mypy", *cache, *python, "--output", "json", *targets)


def _found(output: str) -> list[dict[str, Any]]:
    rows = []
    for line in output.splitlines():
        if line.startswith("{"):
            try:
                rows.append(json.loads(line))
            except ValueError:
                continue
    return [row for row in rows if row.get("severity") == "error"]


def _read(file: Path) -> bytes | None:
    return file.read_bytes() if file.is_file() else None


def _section(content: bytes) -> dict[str, str] | None:
    parser = configparser.RawConfigParser()
    try:
        parser.read_string(content.decode("utf-8"))
    except (configparser.Error, UnicodeDecodeError):
        return None
    return dict(parser["mypy"]) if parser.has_section("mypy") else None


def _packages(root: Path) -> tuple[str, ...]:
    found = []
    for folder in (root / "src", root) if (root / "src").is_dir() else (root,):
        for path in sorted(folder.iterdir()):
            module = path.suffix == ".py" and path.name not in NOT_MODULES and not path.name.startswith("test_")
            package = path.name not in NOT_CODE and (path / "__init__.py").is_file()
            if module or package:
                found.append(str(path.relative_to(root)))
    return tuple(found)
