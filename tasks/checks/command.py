"""Run a command in a workspace: as a check, or as a move that makes a new tree."""

import re
import shlex
import shutil
from pathlib import Path
from typing import Protocol

from agents.domain.errors import AskAgain
from agents.domain.gate import CheckReport
from tasks.checks.environment import Environment
from tasks.checks.plain import shortened, without_times
from tasks.checks.sandbox import Ran
from tasks.checks.workspace import LaysOut, Workspace, laid_out

SHELL = re.compile(r"[|&;<>()$`*?~{}\[\]#\n]|^\s*\w+=")
LONGEST_COMMAND = 100_000
SHOWN_LINES = 80
SHOWN_CHARACTERS = 6000


class Snapshots(LaysOut, Protocol):
    """Trees that can be laid out on disk and taken back from there."""

    def snapshot(self, tree: str, folder: Path) -> str:
        """Return the tree of the files below `folder`, which was laid out from `tree`."""


def run_command(workspace: Workspace, check: str) -> CheckReport:
    """Pass when the command ends with 0. A program that is not on this machine is trouble, any other end a failure."""
    argv = argv_of(check)
    if "/" not in argv[0] and shutil.which(argv[0], path=workspace.path) is None:
        trouble = f"there is no program {argv[0]} on this machine (PATH of a check: environment, {workspace.path})"
        return CheckReport(check=check, kind="command", trouble=workspace.plain(trouble))
    ran = workspace.run(argv)
    if ran.timed_out:
        return CheckReport(
            check=check, kind="command", trouble=workspace.late(), details=_said(workspace, ran), seconds=ran.seconds
        )
    passed = ran.exit == 0
    return CheckReport(
        check=check,
        kind="command",
        cases={check: "passed" if passed else "failed"},
        details="" if passed else f"exit code {ran.exit}\n{_said(workspace, ran)}".strip(),
        seconds=ran.seconds,
    )


def run_in(
    trees: Snapshots, tree: str, command: str, environment: Environment, home: Path, seconds: int
) -> tuple[Ran, str]:
    """Run a command on `tree` and return how it ended, in plain text, with the tree that it left behind.

    Nothing of the run is left on disk, whatever it did; a command that was stopped at its limit changes nothing.
    """
    _assert_runnable(command)
    with laid_out(trees, tree, home) as root:
        workspace = Workspace(root=root, environment=environment, seconds=seconds)
        ran = workspace.run(argv_of(command))
        if root.is_symlink() or not root.is_dir():
            raise AskAgain("the command removed or replaced the folder it ran in. Nothing was changed")
        after = tree if ran.timed_out else trees.snapshot(tree, root)
        return ran.model_copy(update={"output": _said(workspace, ran)}), after


def _assert_runnable(command: str) -> None:
    """Refuse what no process can be started with, before it would stop the mission and every resume of it."""
    raw = command.encode("utf-8", "replace")
    if "\0" in command or raw.decode() != command or len(raw) > LONGEST_COMMAND:
        raise AskAgain(f"RUN takes plain text of at most {LONGEST_COMMAND} bytes, without NUL characters")


def argv_of(command: str) -> tuple[str, ...]:
    """Split a command as a shell would, and leave to `sh` what only a shell can do."""
    try:
        words = tuple(shlex.split(command))
    except ValueError:
        words = ()
    return ("sh", "-c", command) if not words or SHELL.search(command) else words


def _said(workspace: Workspace, ran: Ran) -> str:
    return shortened(without_times(workspace.plain(ran.output.strip())), SHOWN_LINES, SHOWN_CHARACTERS)
