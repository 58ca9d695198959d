"""Build the repository's wheel, without the network, with its backend in an environment that holds nothing else."""

import os
import stat
import sys
from pathlib import Path

from agents.domain.errors import Misconfigured
from agents.domain.reports import CheckReport
from tasks.checks import environment
from tasks.checks.plain import shortened, without_times
from tasks.checks.requirements import toml
from tasks.checks.wheel import inspect
from tasks.checks.workspace import Workspace

RUNNER = Path(__file__).parent / "inside" / "run_build.py"
SHOWN_LINES = 40
SHOWN_CHARACTERS = 4000


def run_build(workspace: Workspace, check: str, home: Path) -> CheckReport:
    """Pass when exactly one wheel comes out; a backend that cannot be had is trouble, never a pass.

    What is in the wheel is told too: a case for each module, a diagnostic for each fault. Nothing of it is installed.
    """
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
    # A backend may bring programs of its own, and looks for them where an activated environment has them.
    path = f"{python.parent}:{workspace.path}"
    ran = workspace.run(argv, programs=(python,), PYTHONPATH="", PATH=path)
    if ran.timed_out:
        return CheckReport(check=check, kind="build", trouble=workspace.late(), seconds=ran.seconds)
    said = shortened(without_times(workspace.plain(ran.output.strip())), SHOWN_LINES, SHOWN_CHARACTERS)
    try:
        found = inspect(_only_wheel(out, ran.exit), workspace.code)
    except ValueError as error:
        details = f"{said}\n{workspace.plain(str(error))}".strip()
        return CheckReport(check=check, kind="build", cases={check: "failed"}, details=details, seconds=ran.seconds)
    # Cases, for a module that the base's wheel has must stay; diagnostics, for a fault must not be new.
    told = {f"{found.name}::distribution", *(f"{name}::wheel" for name in found.modules)}
    return CheckReport(
        check=check,
        kind="build",
        cases={check: "passed", **dict.fromkeys(sorted(told), "passed")},
        diagnostics={f"wheel: {fault}": 1 for fault in found.faults},
        seconds=ran.seconds,
    )


def _only_wheel(out: Path, code: int | None) -> Path:
    """Return what was built, which must be one plain file where it belongs; ValueError when it is not."""
    wheels = [Path(entry.path) for entry in os.scandir(out)] if out.is_dir() and out.resolve() == out else []
    wheels = [file for file in wheels if file.name.endswith(".whl")]
    if code != 0 or len(wheels) != 1:
        raise ValueError(f"exit code {code}, {len(wheels)} wheels")
    if not stat.S_ISREG(wheels[0].lstat().st_mode):
        raise ValueError(f"{wheels[0].name} is no plain file")
    return wheels[0]


def _read(file: Path) -> bytes:
    return file.read_bytes() if file.is_file() else b""
