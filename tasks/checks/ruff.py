"""Run LRA's ruff on a workspace and count its diagnostics, without lines and paths, so that two trees compare."""

import json
import re
import sysconfig
from collections import Counter
from pathlib import Path

from agents.domain.reports import CheckReport
from tasks.checks.plain import shortened, without_times
from tasks.checks.workspace import Workspace

RUFF = Path(sysconfig.get_path("scripts")) / "ruff"
SHOWN_LINES = 60
SHOWN_CHARACTERS = 6000
POSITION = re.compile(r"\b(lines?|column) \d+")


def run_ruff(workspace: Workspace, check: str) -> CheckReport:
    """Check all files under the repository's own configuration, with no cache and every exclusion in force."""
    out = workspace.scratch / "ruff.json"
    argv = ("check", "--no-cache", "--no-respect-gitignore", "--force-exclude", "--output-format", "json")
    ran = workspace.run((str(RUFF), *argv, "--output-file", str(out), "."))
    if ran.timed_out:
        return CheckReport(check=check, kind="ruff", trouble=workspace.late(), seconds=ran.seconds)
    try:
        found = json.loads(out.read_bytes())
    except (OSError, ValueError):
        found = None
    if ran.exit not in (0, 1) or found is None:
        said = shortened(without_times(workspace.plain(ran.output)), SHOWN_LINES, SHOWN_CHARACTERS)
        trouble = f"ruff could not check: it ended with exit code {ran.exit}"
        return CheckReport(check=check, kind="ruff", trouble=trouble, details=said, seconds=ran.seconds)
    counts: Counter[str] = Counter()
    lines = []
    for each in found:
        text = key(each["code"] or "invalid-syntax", each["message"])
        counts[workspace.plain(text)] += 1
        lines.append(workspace.plain(f"{each['filename']}:{each['location']['row']}: {each['code']} {each['message']}"))
    return CheckReport(
        check=check,
        kind="ruff",
        diagnostics=dict(sorted(counts.items())),
        details=shortened("\n".join(lines), SHOWN_LINES, SHOWN_CHARACTERS),
        seconds=ran.seconds,
    )


def key(code: str, message: str) -> str:
    """Name a diagnostic so that it stays the same when code above it moves."""
    return f"{code}: " + POSITION.sub(r"\1 N", message)
