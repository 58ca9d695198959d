"""Do it: run git as a program, bytes in and out, in an environment that no shell or configuration can bend."""

import os
import signal
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryFile
from threading import Timer
from typing import IO, NamedTuple

from agents.domain.errors import LraError, Misconfigured, TryLater
from tasks.git.origin import common_dir_of, shown

PLUMBING_SECONDS = 300.0

_NEUTRAL = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "LC_ALL": "C",
    # Git reads ~/.config/git/attributes even without a configuration, so its home is where nothing can be.
    "HOME": "/dev/null",
    "GIT_CONFIG_COUNT": "3",
    "GIT_CONFIG_KEY_0": "core.hooksPath",
    "GIT_CONFIG_VALUE_0": "/dev/null",
    "GIT_CONFIG_KEY_1": "core.quotePath",
    "GIT_CONFIG_VALUE_1": "false",
    "GIT_CONFIG_KEY_2": "core.fsmonitor",
    "GIT_CONFIG_VALUE_2": "false",
}
# What binds git to one repository: set by a surrounding git command (a hook, an alias), never meant for ours.
_BOUND = frozenset(
    {
        "GIT_DIR",
        "GIT_WORK_TREE",
        "GIT_COMMON_DIR",
        "GIT_INDEX_FILE",
        "GIT_OBJECT_DIRECTORY",
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_PREFIX",
        "GIT_NAMESPACE",
        "GIT_GRAFT_FILE",
        "GIT_SHALLOW_FILE",
        "GIT_REPLACE_REF_BASE",
        "GIT_IMPLICIT_WORK_TREE",
        "GIT_QUARANTINE_PATH",
        "GIT_CONFIG",
        "GIT_INTERNAL_SUPER_PREFIX",
        "GIT_LITERAL_PATHSPECS",
        "GIT_EXTERNAL_DIFF",
    }
)


class GitFailed(LraError):
    """Git ended with an error."""

    def __init__(self, outcome: "Outcome") -> None:
        said = outcome.err.strip() or "git said nothing"
        super().__init__(f"`{' '.join(outcome.argv)}` ended with exit {outcome.exit}: {said}")
        self.argv, self.exit, self.stderr = outcome.argv, outcome.exit, outcome.err


class TooSlow(TryLater):
    """Git did not finish in its time and was ended, with everything it had started."""


class Outcome(NamedTuple):
    """How one git process ended; `cut` says that it was ended early because it had written enough."""

    argv: tuple[str, ...]
    exit: int
    out: bytes
    err: str
    cut: bool = False

    def required(self) -> bytes:
        """Return what git wrote, or raise GitFailed unless it ended with exit 0."""
        if self.exit != 0:
            raise GitFailed(self)
        return self.out


class Git:
    """Git on one git directory; nothing outside that directory and the arguments can change what a command does."""

    def __init__(self, git_dir: Path) -> None:
        self.git_dir = git_dir.absolute()

    def environment(self) -> dict[str, str]:
        """Return the neutral environment, bound to this git directory."""
        kept = {name: os.environ[name] for name in ("PATH", "TMPDIR") if name in os.environ}
        return kept | _NEUTRAL | {"GIT_DIR": str(self.git_dir)}

    def run(
        self, *args: str, stdin: bytes = b"", env: Mapping[str, str] | None = None, cwd: Path | None = None
    ) -> bytes:
        """Return what git wrote to stdout; any other exit than 0 raises GitFailed."""
        return self.attempt(*args, stdin=stdin, env=env, cwd=cwd).required()

    def attempt(
        self, *args: str, stdin: bytes = b"", env: Mapping[str, str] | None = None, cwd: Path | None = None
    ) -> Outcome:
        """Run git to its end, whatever its exit; `env` is added to the neutral environment."""
        return _execute(("git", *args), self.environment() | dict(env or {}), stdin, cwd, PLUMBING_SECONDS)

    def bounded(self, *args: str, limit: int, seconds: float) -> Outcome:
        """Run git for at most `seconds` (else TooSlow) and read at most `limit` bytes, however much it would write."""
        argv = ("git", *args)
        with TemporaryFile() as err, _started(argv, self.environment(), subprocess.DEVNULL, err, None) as process:
            late = Timer(seconds, _end, [process])
            late.start()
            try:
                assert process.stdout is not None
                out = process.stdout.read(limit)
                cut = len(out) == limit and bool(process.stdout.read(1))
                if cut:
                    _end(process)
                process.wait()
            finally:
                in_time = late.is_alive() or cut
                late.cancel()
            if not in_time:
                raise TooSlow(f"`git {args[0]}` was ended after {seconds:g} seconds")
            err.seek(0)
            return Outcome(argv, process.returncode, out, err.read().decode(errors="replace"), cut)

    def blobs(self, names: Iterable[str]) -> Iterator[bytes | None]:
        """Yield the content of each blob (an oid, or `ref:path`), in order, None where there is none; one process."""
        asked = [os.fsencode(name) for name in names]
        if any(b"\n" in name or b"\0" in name for name in asked):
            raise ValueError("the name of a blob is one line")
        argv = ("git", "cat-file", "--batch", "--buffer")
        with TemporaryFile() as questions, TemporaryFile() as err:
            questions.write(b"".join(name + b"\n" for name in asked))
            questions.seek(0)
            with _started(argv, self.environment(), questions, err, None) as process:
                assert process.stdout is not None
                for _ in asked:
                    try:
                        yield _next_blob(process.stdout)
                    except EOFError:
                        err.seek(0)
                        ended = Outcome(argv, process.wait(), b"", err.read().decode(errors="replace"))
                        raise GitFailed(ended) from None


def as_user(
    *args: str,
    git_dir: Path | None = None,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    stdin: bytes = b"",
    seconds: float,
    held: tuple[int, ...] = (),
) -> Outcome:
    """Run git with the user's own configuration (credentials, insteadOf, filters), but none of their hooks.

    It can ask nothing (no terminal) and is bound to no repository but the one that is named here. The locks that are
    `held` stay so until git itself has ended, also when LRA is killed before it.
    """
    kept = {name: value for name, value in os.environ.items() if name not in _BOUND}
    kept |= {"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C", **(env or {})}
    bound = ("--git-dir", str(git_dir)) if git_dir else ()
    return _execute(("git", *bound, "-c", "core.hooksPath=/dev/null", *args), kept, stdin, cwd, seconds, held)


def borrowing(store: Path, origin: Path) -> dict[str, str]:
    """Return the environment in which git reads the objects of the origin too, and writes to the store alone."""
    quoted = str(common_dir_of(origin) / "objects").replace("\\", "\\\\").replace('"', '\\"')
    return {"GIT_OBJECT_DIRECTORY": str(store / "objects"), "GIT_ALTERNATE_OBJECT_DIRECTORIES": f'"{quoted}"'}


def _execute(
    argv: tuple[str, ...],
    env: Mapping[str, str],
    stdin: bytes,
    cwd: Path | None,
    seconds: float,
    held: tuple[int, ...] = (),
) -> Outcome:
    with _started(argv, env, subprocess.PIPE, subprocess.PIPE, cwd, held) as process:
        try:
            out, err = process.communicate(stdin, timeout=seconds)
        except subprocess.TimeoutExpired:
            raise TooSlow(f"`{shown(' '.join(argv))}` was ended after {seconds:g} seconds") from None
        return Outcome(argv, process.returncode, out, err.decode(errors="replace"))


@contextmanager
def _started(
    argv: tuple[str, ...],
    env: Mapping[str, str],
    stdin: int | IO[bytes],
    stderr: int | IO[bytes],
    cwd: Path | None,
    held: tuple[int, ...] = (),
) -> Iterator[subprocess.Popen[bytes]]:
    """Start git in a session of its own: it has no terminal to ask on, and afterwards it and its children are gone."""
    try:
        process = subprocess.Popen(
            argv,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=stderr,
            env=env,
            cwd=cwd,
            pass_fds=held,
            start_new_session=True,
        )
    except FileNotFoundError as missing:
        if cwd is not None and not cwd.is_dir():
            raise Misconfigured(f"{cwd} is not a folder") from missing
        raise Misconfigured("git was not found on PATH: install git 2.38 or newer") from missing
    with process:
        try:
            yield process
        finally:
            if process.poll() is None:
                _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _next_blob(stream: IO[bytes]) -> bytes | None:
    head = stream.readline()
    if not head:
        raise EOFError
    words = head.split()
    if len(words) != 3 or words[1] == b"missing" or head.endswith((b" missing\n", b" ambiguous\n")):
        return None
    data = stream.read(int(words[2]))
    stream.read(1)
    return data if words[1] == b"blob" else None
