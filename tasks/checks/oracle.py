"""Run tests that the candidate cannot see: they ask for its answers from another process, and compare them there."""

import json
import re
import socket
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from agents.domain.reports import CheckReport
from agents.domain.trouble import kind_of_trouble
from tasks.checks import sandbox
from tasks.checks.environment import Environment
from tasks.checks.pytest import run_pytest
from tasks.checks.sandbox import Ran
from tasks.checks.workspace import Workspace, laid_out

INSIDE = Path(__file__).parent / "inside"
ANSWERS = INSIDE / "answer.py"
TEST = "test_held_out.py"
GIVEN, LOST = "given.json", "lost"
SETTINGS = "[pytest]\naddopts = --disable-plugin-autoload -p no:cacheprovider\n"
FENCED = tuple(word.partition(" (")[0] for word in (sandbox.BUBBLEWRAP, sandbox.LANDLOCK))
NOT_FENCED = (
    "no sandbox of this machine keeps files from a check, so nothing can be held out; lra doctor names the reason"
)
GARBAGE = "the result channel was tampered with: what the candidate's process said is no answer"


class Files(NamedTuple):
    """Files that can be laid out on disk, by name; they are no tree of git's."""

    contents: dict[str, bytes]

    def lay_out(self, tree: str, folder: Path) -> None:
        """Write them into the empty `folder`."""
        for name, content in self.contents.items():
            (folder / name).write_bytes(content)


def run_held_out(workspace: Workspace, name: str, content: str, seed: int, home: Path) -> CheckReport:
    """Run a held-out test file on the candidate in `workspace`, which never sees the file, nor who runs it.

    Two processes, each in a sandbox of its own: in one LRA's pytest with the file, in the other the repository's Python
    with the candidate's code, and values between them. `seed` is what each test's `random` begins with. A run in which
    the candidate's process ended, hung, or said what is no answer is trouble. Trouble names nothing of the file.
    """
    if not sandbox.describe().startswith(FENCED):
        return CheckReport(check=name, kind="pytest", trouble=NOT_FENCED)
    asking, answering = socket.socketpair()
    given = {"descriptor": asking.fileno(), "modules": sorted(own_modules(workspace)), "seed": seed}
    with asking, answering, laid_out(_judges_files(content, given), "", home) as root, ThreadPoolExecutor(1) as pool:
        candidate = pool.submit(_answer, workspace, answering)
        judge = Workspace(root=root, environment=_judges_environment(), seconds=workspace.seconds)
        try:
            report = run_pytest(judge, name, (TEST,), fds=(asking.fileno(),))
        finally:
            asking.close()  # with it the other process ends
        ran = candidate.result()
        lost = (root / LOST).read_text(encoding="utf-8") if (root / LOST).is_file() else ""
    trouble = _trouble(workspace, report, ran, lost)
    return report.model_copy(update={"trouble": trouble}) if trouble else report


def own_modules(workspace: Workspace) -> frozenset[str]:
    """Name the modules and packages that the repository's own code is imported by."""
    return frozenset(name for folder in workspace.code for name in _modules(folder))


def _modules(folder: Path) -> Iterator[str]:
    for entry in folder.iterdir() if folder.is_dir() else ():
        if entry.suffix == ".py" and entry.is_file():
            yield entry.stem
        elif re.fullmatch(r"[^\W\d]\w*", entry.name) and entry.is_dir() and next(entry.rglob("*.py"), None):
            yield entry.name


def _answer(workspace: Workspace, end: socket.socket) -> Ran:
    """Let the candidate's process answer; when it ends, whatever way, the other end learns of it."""
    argv = (str(workspace.environment.python), str(ANSWERS), str(end.fileno()), *map(str, workspace.code))
    try:
        return workspace.run(argv, fds=(end.fileno(),), PYTHONPATH="")
    finally:
        end.close()


def _judges_files(content: str, given: dict[str, object]) -> Files:
    return Files(
        {
            TEST: content.encode(),
            "conftest.py": (INSIDE / "ask.py").read_bytes(),
            "crossing.py": (INSIDE / "crossing.py").read_bytes(),
            "pytest.ini": SETTINGS.encode(),
            GIVEN: json.dumps(given).encode(),
        }
    )


def _judges_environment() -> Environment:
    return Environment(python=Path(sys.executable), digest="", kind="plain", tools=Path(sys.prefix))


def _trouble(workspace: Workspace, report: CheckReport, ran: Ran, lost: str) -> str:
    late = workspace.late()
    if lost == "garbage":
        return GARBAGE
    if ran.timed_out or (report.trouble or "").startswith(late):
        return late
    if lost or ran.exit != 0:
        return f"crashed: the candidate's process ended with exit code {ran.exit} before the tests did"
    if report.trouble and kind_of_trouble(report.trouble) == "tamper":
        return "the test run was tampered with"
    if report.trouble:
        return "interrupted: not every test of the file ended"
    return "" if report.cases else "the file holds no test"
