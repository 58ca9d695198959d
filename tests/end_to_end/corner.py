"""Where is the gate asked about code that behaves badly? In a corner whose every trace can be told from all others'."""

import contextlib
import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from place import IDENTITY, LRA, Place

from tasks.checks.sandbox import limits

USER = 1234
SYSTEM_PYTHON = "/usr/bin/python3"
AS_USER = ("setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", "--")
START = "import sys; from flows.cli.main import main; sys.exit(main())"
ROOT = Path(__file__).parents[2]
# What rough code calls its files, and how long its daemons sleep: nobody else uses this number.
DAEMON = f"71{secrets.randbelow(10**7):07}"
LONGEST_S = 600.0
GONE_S = 5.0


class Corner(Place):
    """A place for `lra verify` alone, with a temporary folder of its own; `plain` belongs to a normal user."""

    def __init__(self, folder: Path, environments: Path, plain: bool = False) -> None:
        environment = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "SHARED_ENVIRONMENTS": str(environments)}
        super().__init__(folder, environment)
        self.plain = plain
        self.temporary = folder / "temporary"
        self.temporary.mkdir()
        self.environment |= {"TMPDIR": str(self.temporary), "PYTHONPATH": str(ROOT)}
        self.repo.mkdir()
        if plain:
            self.environment["PYTHONPATH"] += f":{sysconfig.get_path('purelib')}"
            self.own()
        self.git("init", "-q", "-b", "main")

    def own(self) -> None:
        """Give everything to the user."""
        subprocess.run(["chown", "-R", f"{USER}:{USER}", self.folder], check=True)

    def git(self, *args: str, cwd: Path | None = None) -> str:
        """Run git as who the corner belongs to."""
        argv = [*(AS_USER if self.plain else ()), "git", *args]
        env = {**self.environment, **IDENTITY}
        return subprocess.run(argv, cwd=cwd or self.repo, env=env, capture_output=True, check=True).stdout.decode()

    def commit(self, files: Mapping[str, str], message: str = "more", cwd: Path | None = None) -> None:
        """Write files and commit everything."""
        for path, text in files.items():
            (self.repo / path).parent.mkdir(parents=True, exist_ok=True)
            (self.repo / path).write_text(text, encoding="utf-8")
        if self.plain:
            self.own()
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)

    def branch(self, name: str, files: Mapping[str, str]) -> None:
        """Commit files to a new branch of main."""
        self.git("checkout", "-q", "-B", name, "main")
        self.commit(files)
        self.git("checkout", "-q", "main")

    def ask(self, candidate: str, *args: str, seconds: int, **settings: str) -> subprocess.Popen[str]:
        """Start `lra verify`, the leader of a group of its own, and do not wait for it."""
        program = (*AS_USER, SYSTEM_PYTHON, "-c", START) if self.plain else (LRA,)
        asked = ("verify", "--repo", str(self.repo), "--base", "main", "--candidate", candidate, "--json", *args)
        return subprocess.Popen(
            [*program, *asked],
            env={**self.environment, "LRA_CHECK_SECONDS": str(seconds), **settings},
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def verify(self, candidate: str, *args: str, seconds: int, **settings: str) -> dict[str, Any]:
        """Ask the gate and wait for the answer, which is never a traceback."""
        process = self.ask(candidate, *args, seconds=seconds, **settings)
        try:
            out, err = process.communicate(timeout=LONGEST_S)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        assert "Traceback" not in err, err
        assert groups_of(process.pid) == []
        verdict = dict(json.loads(out))
        assert "decision" in verdict, verdict
        return verdict

    def traces(self) -> list[str]:
        """List what can be seen of this corner from outside: mounts, temporary files, and the repository."""
        mounts = [line for line in Path("/proc/self/mountinfo").read_text().splitlines() if str(self.folder) in line]
        shared = [Path(top, DAEMON) for top in ("/tmp", "/var/tmp", "/dev/shm")]
        repository = [self.git("for-each-ref"), self.git("worktree", "list"), self.git("status", "--porcelain")]
        kept = [*self.temporary.iterdir(), *self.home.glob("workspaces/*"), *self.home.rglob("*.tmp")]
        return [*mounts, *repository, *map(str, filter(os.path.lexists, (*kept, *shared)))]

    def assert_only(self, before: list[str]) -> None:
        """Assert that no more is there than was before, and that no process is left."""
        until = time.monotonic() + GONE_S
        while (left := self.processes()) and time.monotonic() < until:
            time.sleep(0.05)
        assert left == []
        assert self.traces() == before

    def processes(self) -> list[str]:
        """Return the command lines of the processes that know this corner, or that rough code started."""
        ours = (os.fsencode(self.folder), DAEMON.encode())
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):  # it ended meanwhile
                said = (process / "cmdline").read_bytes()
                words = said + (process / "environ").read_bytes() + os.fsencode((process / "cwd").readlink())
                if any(word in words for word in ours):
                    found.append(said.replace(b"\0", b" ").decode(errors="replace"))
        return found


def groups_of(pid: int) -> list[Path]:
    """Return the control groups that a process made."""
    return [group for place in limits._places() for group in place.folder.glob(f"lra-{pid}-*")]


def corner_of(folders: pytest.TempPathFactory, files: Mapping[str, str], who: str) -> Iterator[Corner]:
    """Make a corner with a repository; of a normal user where root can become one and that one has a Python."""
    if who != "plain":
        corner = Corner(folders.mktemp("corner"), folders.mktemp("environments"))
        corner.commit(files)
        yield corner
        return
    can = [*AS_USER, SYSTEM_PYTHON, "-c", "import sys, pydantic; print(sys.version_info[:2])"]
    env = {"PYTHONPATH": sysconfig.get_path("purelib"), "PATH": os.environ["PATH"]}
    found = subprocess.run(can, env=env, capture_output=True, text=True, check=False) if os.geteuid() == 0 else None
    if found is None or found.stdout.strip() != str(sys.version_info[:2]):
        pytest.skip("no normal user can run this here")
    folder = Path(tempfile.mkdtemp(prefix="lra-corner-"))  # not below a folder that only root may enter
    folder.chmod(0o755)
    (folder / "environments").mkdir()
    (folder / "environments").chmod(0o777)
    try:
        corner = Corner(folder / "corner", folder / "environments", plain=True)
        corner.commit(files)
        yield corner
    finally:
        shutil.rmtree(folder)
