"""Which backend is in force? The first that this machine's kernel proves, by denying what a policy forbids."""

import contextlib
import functools
import os
import shutil
import socket
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from agents.domain.errors import Misconfigured
from tasks.alive import is_alive
from tasks.checks.sandbox import backends
from tasks.checks.sandbox.backends import Backend
from tasks.checks.sandbox.policy import Command, Policy, Ran
from tasks.checks.sandbox.running import run_with

PROOF = str(Path(__file__).parent.parent / "inside" / "prove.py")
PROOF_S = 60.0
PROVEN = "proven\n"
PREFIX = "lra-proof-"
PRIVATE = (Path("/etc/shadow"), Path("/etc/gshadow"))


def run(command: Command) -> Ran:
    """Run to the end or to a limit; then nothing of the command runs any more, as far as the sandbox word promises.

    With a policy, under the best backend of this machine; without one, in namespaces alone. Returns when the command
    itself has ended, even if something it left behind still holds its output. It dies with LRA, also when LRA is killed
    or this thread is interrupted. Misconfigured when it could not be started at all.
    """
    return run_with(for_tools() if command.policy is None else in_force(), command)


def describe() -> str:
    """Name the isolation that checks get on this machine and what was proven of it, as it stands in every verdict."""
    return in_force().word


@functools.cache
def in_force() -> Backend:
    """Return the first backend that keeps a command to its policy, else the best of the others."""
    return next((backend for backend in backends.fenced() if _proves(backend, fenced=True)), None) or for_tools()


@functools.cache
def for_tools() -> Backend:
    """Return the first backend that gives namespaces, else the one that gives a process group alone."""
    proven = (backend for backend in backends.unfenced() if _proves(backend, fenced=False))
    return next(proven, None) or backends.alone()


def _proves(backend: Backend, fenced: bool) -> bool:
    """Run the proof in a small copy of LRA's home, with a secret beside the workspace and a listener on the host."""
    prefix = f"{PREFIX}{os.getpid()}-"
    _sweep(Path(tempfile.gettempdir()))
    with tempfile.TemporaryDirectory(prefix=prefix) as made, socket.create_server(("127.0.0.1", 0)) as host:
        home = Path(made).resolve()
        secret, tree = home / "record" / "secret", home / "workspaces" / "one" / "tree"
        secret.parent.mkdir()
        tree.mkdir(parents=True)
        secret.write_text("kept", encoding="ascii")
        for path in (secret, secret.parent, home):
            path.chmod(0o777)  # so that only the sandbox can be what denies it
        secrets = (secret, *PRIVATE, *_of_the_user()) if fenced else ()
        calls = "calls" if backend.filtered else "-"
        words = (str(host.getsockname()[1]), str(tree), calls, *map(str, secrets))
        proof = (sys.executable, "-I", "-S", PROOF, *words)
        policy = Policy(writable=(tree,)) if fenced else None
        try:
            ran = run_with(backend, Command(argv=proof, cwd=tree, env={}, seconds=PROOF_S, policy=policy))
        except Misconfigured:
            return False
        unharmed = secret.read_text(encoding="ascii") == "kept" and list(secret.parent.iterdir()) == [secret]
        return ran.exit == 0 and ran.output == PROVEN and unharmed and (tree / "written").exists()


def _sweep(folder: Path) -> None:
    """Remove what proofs of processes that were killed left; a normal user removes their own alone."""
    for place in folder.glob(f"{PREFIX}*-*"):
        pid = place.name.removeprefix(PREFIX).partition("-")[0]
        if pid.isdigit() and not is_alive(int(pid)):
            shutil.rmtree(place, ignore_errors=True)


def _of_the_user() -> Iterable[Path]:
    """Name a file of the user's own, if there is one that everybody may read."""
    with contextlib.suppress(OSError):
        files = (Path(entry.path) for entry in os.scandir(Path.home()) if entry.is_file(follow_symlinks=False))
        yield from list(files)[:1]
