"""Run a command in a workspace: as a check, or as a move that makes a new tree."""

import contextlib
import re
import shlex
import shutil
from pathlib import Path
from typing import NamedTuple, Protocol

from agents.domain.errors import AskAgain
from agents.domain.protect import TEST_FILES, matches
from agents.domain.reports import CheckReport
from tasks.checks.environment import Environment
from tasks.checks.junit import LARGEST, Results, read_results
from tasks.checks.plain import shortened, without_times
from tasks.checks.sandbox import Ran
from tasks.checks.workspace import LaysOut, Workspace, laid_out

SHELL = re.compile(r"[|&;<>()$`*?~{}\[\]#\n]|^\s*\w+=")
RESULTS = re.compile(r"(?P<command>.*\S)\s+=>\s+(?P<file>[^\s'\"]+\.xml)\s*", re.DOTALL)
NODE_HAS_JUNIT = ("node", "-e", "process.exit(require('node:test/reporters').junit ? 0 : 1)")
KINDS = "tests, lint, types, build, pytest with its arguments"
LONGEST_COMMAND = 100_000
SHOWN_LINES = 80
SHOWN_CHARACTERS = 6000


class Snapshots(LaysOut, Protocol):
    """Trees that can be laid out on disk and taken back from there."""

    def snapshot(self, tree: str, folder: Path) -> str:
        """Return the tree of the files below `folder`, which was laid out from `tree`."""


class Wish(NamedTuple):
    """What a check of a command asks for: what to run, and the file in which it leaves the results of each case."""

    argv: tuple[str, ...]
    results: Path | None


def run_command(workspace: Workspace, check: str) -> CheckReport:
    """Run `COMMAND`, one case that passes when it ends with 0, or `COMMAND => FILE.xml`, where each test is a case.

    FILE is the JUnit XML that this very run writes, at a path of the repository; `node --test` is asked for one unless
    the check chooses a reporter. A program that is not on this machine, and results that are not whole, are trouble.
    """
    wish = _wish(workspace, check)
    argv = wish.argv
    if "/" not in argv[0] and shutil.which(argv[0], path=workspace.path) is None:
        where = f"(PATH of a check: environment, {workspace.path})"
        trouble = f"there is no program {argv[0]} on this machine {where}; a check is {KINDS}, or a command"
        return CheckReport(check=check, kind="command", trouble=workspace.plain(trouble))
    if wish.results is not None:
        if absent := next((word for word in argv[1:] if _is_absent_test(workspace, word)), ""):
            return CheckReport(check=check, kind="command", details=f"the test file {absent} does not exist")
        if not _cleared(workspace, wish.results):
            trouble = f"its results cannot be written to {wish.results}: name a file in a folder of the repository"
            return CheckReport(check=check, kind="command", trouble=workspace.plain(trouble))
    ran = workspace.run(argv)
    if ran.timed_out:
        return CheckReport(
            check=check, kind="command", trouble=workspace.late(), details=_said(workspace, ran), seconds=ran.seconds
        )
    if wish.results is not None:
        return _by_results(workspace, check, ran, wish.results)
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
        before = {entry.name for entry in root.iterdir()}
        ran = workspace.run(argv_of(command))
        if root.is_symlink() or not root.is_dir():
            raise AskAgain("the command removed or replaced the folder it ran in. Nothing was changed")
        if before and not before & {entry.name for entry in root.iterdir()}:
            raise AskAgain("the command removed all that was there. Nothing was changed")
        after = tree if ran.timed_out else trees.snapshot(tree, root)
        return ran.model_copy(update={"output": _said(workspace, ran)}), after


def _wish(workspace: Workspace, check: str) -> Wish:
    if found := RESULTS.fullmatch(check):
        return Wish(argv_of(found["command"]), workspace.root / found["file"])
    argv = argv_of(check)
    if argv[0] != "node" or "--test" not in argv or any(word.startswith("--test-reporter") for word in argv):
        return Wish(argv, None)
    if shutil.which("node", path=workspace.path) is None or workspace.run(NODE_HAS_JUNIT).exit != 0:
        return Wish(argv, None)
    at, file = argv.index("--test") + 1, workspace.scratch / "junit.xml"
    told = ("--test-reporter=spec", "--test-reporter-destination=stdout")
    return Wish((*argv[:at], "--test-reporter=junit", f"--test-reporter-destination={file}", *told, *argv[at:]), file)


def _cleared(workspace: Workspace, file: Path) -> bool:
    """Make sure that no results lie where this run has to write its own, and that this is where they seem to lie."""
    if not _lies_within(workspace, file):
        return False
    with contextlib.suppress(OSError):
        file.unlink(missing_ok=True)
    return not file.exists() and not file.is_symlink()


def _lies_within(workspace: Workspace, file: Path) -> bool:
    folder = file.parent.resolve()
    return any(folder.is_relative_to(place.resolve()) for place in (workspace.root, workspace.scratch))


def _is_absent_test(workspace: Workspace, word: str) -> bool:
    """Say whether a word names a test file that is not there yet: the item is going to bring it."""
    is_name = not word.startswith("-") and not SHELL.search(word) and " " not in word
    return is_name and matches(word.removeprefix("./"), TEST_FILES) and not (workspace.root / word).exists()


def _by_results(workspace: Workspace, check: str, ran: Ran, file: Path) -> CheckReport:
    said = _said(workspace, ran)
    try:
        found = read_results(_content(workspace, file), workspace.plain, lambda name: _is_file(workspace.root / name))
    except (OSError, ValueError) as error:
        trouble = workspace.plain(f"exit code {ran.exit}, and its results in {file} cannot be used: {error}")
        return CheckReport(check=check, kind="command", trouble=trouble, details=said, seconds=ran.seconds)
    if ran.exit != 0 and not found.stories:
        # An error and not a failure: once the command is mended, this case is gone and nothing was dodged by it.
        found = Results({**found.cases, check: "error"}, {check: f"exit code {ran.exit}\n{said}"}, found.flaky)
    told = [
        f"{found.cases[case].upper()} {case}\n{without_times(text)}".strip() for case, text in found.stories.items()
    ]
    return CheckReport(
        check=check,
        kind="command",
        cases=found.cases,
        flaky=found.flaky,
        details=shortened("\n\n".join(told), SHOWN_LINES, SHOWN_CHARACTERS),
        seconds=ran.seconds,
    )


def _is_file(path: Path) -> bool:
    with contextlib.suppress(OSError):  # a name of a test may be longer than any name of a file
        return path.is_file()
    return False


def _content(workspace: Workspace, file: Path) -> bytes:
    """Read what the run wrote, and never through a link that it made."""
    if file.is_symlink() or not file.is_file() or not _lies_within(workspace, file):
        raise ValueError("it is not there, or it is no plain file")
    with file.open("rb") as opened:
        return opened.read(LARGEST + 1)


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
