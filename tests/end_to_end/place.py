"""What does an end-to-end test work with? The real command, on a repository with a mission and a script."""

import json
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

LRA = str(Path(sys.executable).parent / "lra")
LONGEST_S = 240.0
IDENTITY = {
    f"GIT_{role}_{key}": value
    for role in ("AUTHOR", "COMMITTER")
    for key, value in (("NAME", "Pat User"), ("EMAIL", "pat@example.invalid"))
}


class Ran(NamedTuple):
    """How one `lra` ended."""

    exit: int
    out: str
    err: str

    @property
    def data(self) -> dict[str, Any]:
        """The object that `--json` puts on stdout, where it must be alone."""
        (line,) = self.out.splitlines()
        return dict(json.loads(line))

    @property
    def complaint(self) -> str:
        """What it said last, when it could not do what was asked: one line, and no traceback anywhere."""
        assert "Traceback" not in self.err
        lines = [line for line in self.err.splitlines() if line.startswith("lra: ")]
        assert len(lines) == 1, self.err
        return lines[0]


class Place:
    """A user's corner of the machine: a home, an LRA_HOME of its own, and a repository to work on."""

    def __init__(self, folder: Path, environment: Mapping[str, str], repo: str = "repo") -> None:
        self.folder = folder
        self.repo = folder / repo
        self.home = folder / "lra home"
        self.environment = {**environment, "HOME": str(folder / "user"), "LRA_HOME": str(self.home)}
        for made in (folder / "user", self.home):
            made.mkdir(parents=True, exist_ok=True)
        (self.home / "environments").symlink_to(environment["SHARED_ENVIRONMENTS"])

    def lra(self, *args: str, **settings: str) -> Ran:
        """Run `lra`; `settings` are more variables of its environment."""
        with self.start(*args, **settings) as process:
            return ended(process)

    def start(self, *args: str, **settings: str) -> subprocess.Popen[str]:
        """Start `lra` and do not wait for it."""
        return subprocess.Popen(
            [LRA, *args],
            env={**self.environment, **settings},
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def command(self, *more: str, origin: str | None = None) -> tuple[str, ...]:
        """Return the arguments of `lra run` for the mission and the script that were written here."""
        where = ("--repo", origin or str(self.repo), "--model", f"scripted:{self.folder / 'script.jsonl'}")
        return ("run", str(self.folder / "MISSION.md"), *where, "--json", *more)

    def run(self, *more: str, origin: str | None = None, **settings: str) -> Ran:
        """Run the mission that was written here, with the script that was written here."""
        return self.lra(*self.command(*more, origin=origin), **settings)

    def write(self, mission: str, *replies: dict[str, Any]) -> None:
        """Write the mission file and the script, both outside of the repository."""
        (self.folder / "MISSION.md").write_text(mission, encoding="utf-8")
        lines = "".join(json.dumps({"role": "lead_engineer", **reply}) + "\n" for reply in replies)
        (self.folder / "script.jsonl").write_text(lines, encoding="utf-8")

    def git(self, *args: str, cwd: Path | None = None) -> str:
        """Run git as the user, in the repository unless told otherwise."""
        env = {**self.environment, **IDENTITY}
        done = subprocess.run(["git", *args], cwd=cwd or self.repo, env=env, capture_output=True, check=True)
        return done.stdout.decode("utf-8", "surrogateescape")

    def commit(self, files: Mapping[str, str], message: str = "more", cwd: Path | None = None) -> None:
        """Write files and commit everything."""
        for path, text in files.items():
            place = (cwd or self.repo) / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")
        self.git("add", "-A", cwd=cwd)
        self.git("commit", "-q", "-m", message, cwd=cwd)

    def branches(self) -> set[str]:
        """Name the branches of the repository."""
        return set(self.git("for-each-ref", "--format=%(refname:short)", "refs/heads").split())

    def cycle(self, mission: str, number: int) -> dict[str, Any]:
        """Return what the record tells of a finished cycle."""
        return dict(json.loads(self.git("show", f"lra/{mission}/record:cycles/0000/{number:06d}.json")))

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows of all journals, in order."""
        journals = sorted(self.home.glob("journals/*/*.jsonl"))
        return [json.loads(line) for path in journals for line in path.read_text(encoding="utf-8").splitlines()]

    def thoughts(self) -> list[dict[str, Any]]:
        """Return the model calls that were begun, with what was asked."""
        return [row["data"] for row in self.rows() if (row["kind"], row["phase"]) == ("think", "intent")]

    def until_asked(self, calls: int = 1) -> None:
        """Wait until a run has begun so many model calls."""
        limit = time.monotonic() + LONGEST_S
        while len(self.thoughts()) < calls:
            assert time.monotonic() < limit, "no model call was begun"
            time.sleep(0.05)


def ended(process: subprocess.Popen[str]) -> Ran:
    """Wait for a started `lra`."""
    try:
        out, err = process.communicate(timeout=LONGEST_S)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    return Ran(process.returncode, out, err)


def reply(item: str, text: str, prompt: int = 10, completion: int = 5, **more: Any) -> dict[str, Any]:
    """Write one reply of a script."""
    return {"item": item, "text": text, "usage": {"prompt": prompt, "completion": completion}, **more}


def whole(path: str, text: str) -> str:
    """Write the move that makes or replaces a file."""
    return f"FILE: {path}\n```\n{text}```\n"


def edit(path: str, old: str, new: str) -> str:
    """Write the move that replaces one place of a file."""
    return f"EDIT: {path}\n<<<<<<< SEARCH\n{old}=======\n{new}>>>>>>> REPLACE\n"


FILES = {"notes.txt": "first\nsecond\nthird\n", "README.md": "# notes\n"}
ONE = """---
checks: []
attempts: 2
---
# Say hello

- [ ] hello: hello.txt says hello
  - check: grep -q hello hello.txt
"""
HELLO = whole("hello.txt", "hello\n")
