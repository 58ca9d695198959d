"""Build the repository's wheel, without the network, with its backend in an environment that holds nothing else."""

import sys
from pathlib import Path

from agents.domain.errors import Misconfigured
from agents.domain.gate import CheckReport
from tasks.checks import environment
from tasks.checks.plain import shortened, without_times
from tasks.checks.requirements import toml
from tasks.checks.workspace import Workspace

RUNNER = Path(__file__).parent / "inside" / "run_build.py"
SHOWN_LINES = 40
SHOWN_CHARACTERS = 4000


def run_build(workspace: Workspace, check: str, home: Path) -> CheckReport:
    """Pass when exactly one wheel comes out; a backend that cannot be had is trouble, never a pass."""
    data = toml(_read(workspace.root / "pyproject.toml"))
    requires = tuple(data.get("build-system", {}).get("requires", ["setuptools"]))
    try:
        definition = environment.backend(requires, data.get("project", {}).get("requires-python", ""))
        python = environment.build(definition, workspace.root, home).python
    except Misconfigured as error:
        trouble = "the build backend cannot be had"
        return CheckReport(check=check, kind="build", trouble=trouble, details=workspace.plain(str(error)))
    out = workspace.scratch / "dist"
    argv = (sys.executable, "-I", str(RUNNER), str(workspace.root), str(python), str(out))
    ran = workspace.run(argv, programs=(python,), PYTHONPATH="")
    if ran.timed_out:
        return CheckReport(check=check, kind="build", trouble=workspace.late(), seconds=ran.seconds)
    built = ran.exit == 0 and len(list(out.glob("*.whl"))) == 1
    said = shortened(without_times(workspace.plain(ran.output.strip())), SHOWN_LINES, SHOWN_CHARACTERS)
    return CheckReport(
        check=check,
        kind="build",
        cases={check: "passed" if built else "failed"},
        details="" if built else said,
        seconds=ran.seconds,
    )


def _read(file: Path) -> bytes:
    return file.read_bytes() if file.is_file() else b""
