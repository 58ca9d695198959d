"""A mission in a world of its own: an origin, a home, a provider, and `lra` as a process that can be killed."""

import json
import os
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import NamedTuple

from tasks.journal import read

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
ITEMS = ("one", "two", "three")
STEPS = 27
CALLS = 9
MISSION = """---
target: main
checks: []
---
# {title}

- [ ] one: one.txt ends right
  - check: test "$(tail -n 1 one.txt)" = right
- [ ] two: two.txt ends right
  - check: test "$(tail -n 1 two.txt)" = right
- [ ] three: three.txt ends right
  - check: test "$(tail -n 1 three.txt)" = right
"""


class Ran(NamedTuple):
    """How a run of `lra` ended: its exit code (-9: killed), its JSON answer, and what it said on stderr."""

    exit: int
    answer: dict
    said: str


class World:
    """One origin with one mission, one home, one provider."""

    def __init__(self, folder, provider, api, title="Kill me"):
        self.folder, self.provider, self.title = folder, provider, title
        self.origin, self.home = folder / "origin", folder / "home"
        self.deaths = folder / "deaths"
        folder.mkdir(exist_ok=True)
        self.environment = {
            **os.environ,
            "LRA_HOME": str(self.home),
            "LRA_API_KEY": "caller",
            "DEATHS": str(self.deaths),
            "PREFECT_API_URL": api,
            "PREFECT_HOME": str(folder / "prefect"),
            "PYTHONPATH": str(ROOT),
            "HOME": str(folder),
        }
        self.api = api
        self.deaths.write_text("")
        self.origin.mkdir(parents=True)
        self.git("init", "-q", "-b", "main")
        for item in ITEMS:
            (self.origin / f"{item}.txt").write_text("start\nend\n")
        (self.origin / "MISSION.md").write_text(MISSION.format(title=title))
        self.git("add", ".")
        self.git("commit", "-q", "-m", "start")

    @property
    def mission(self):
        return self.title.lower().replace(" ", "-")

    @property
    def record(self):
        return f"lra/{self.mission}/record"

    def git(self, *args):
        who = ("-c", "user.name=Somebody", "-c", "user.email=somebody@example.org")
        done = subprocess.run(["git", "-C", self.origin, *who, *args], capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def start(self, *more, **environment):
        """Start `lra run`; the caller waits for it."""
        argv = ("run", "MISSION.md", "--repo", str(self.origin), "--model", "openai/test", "--json", *more)
        process = subprocess.Popen(
            [sys.executable, str(HERE / "victim.py"), *argv, "--api-base", self.provider.url],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.folder,
            env={**self.environment, **environment},
        )
        self.provider.victim = process.pid
        return process

    def run(self, *more, **environment):
        """Run `lra run` to its end, which may be its death."""
        return ended(self.start(*more, **environment))

    def die_at(self, *points):
        """Have the next runs die once at each of these points; `*` means everywhere."""
        self.deaths.write_text("\n".join(points))

    def died_at(self):
        done = self.deaths.with_suffix(".done")
        return done.read_text().split() if done.exists() else []

    def journals(self):
        return sorted(self.home.glob("journals/*/*.jsonl"))

    def rows_of(self, journal):
        return read(journal)[0]

    def rows(self):
        return [row for path in self.journals() for row in read(path)[0]]

    def runs(self, *states):
        """The flow runs of this world, mission runs and their cycles, that Prefect has in these states."""
        missions = [run for run in self._asked({}) if run["parameters"].get("repo") == str(self.origin)]
        below = {"parent_flow_run_id": {"any_": [run["id"] for run in missions]}}
        return [run for run in (*missions, *self._asked(below)) if run["state_type"] in states]

    def _asked(self, which):
        found = []
        while True:
            wanted = {"flow_runs": which, "limit": 200, "offset": len(found)}
            asked = urllib.request.Request(
                f"{self.api}/flow_runs/filter", json.dumps(wanted).encode(), {"content-type": "application/json"}
            )
            with urllib.request.urlopen(asked, timeout=30) as answer:
                page = json.load(answer)
            found += page
            if len(page) < 200:
                return found

    def alive(self):
        """The names of the flow runs of this world that Prefect takes for alive."""
        return [run["name"] for run in self.runs("RUNNING", "PENDING")]

    def tree(self):
        return self.git("rev-parse", "main^{tree}")

    def merges(self):
        """The items of the merge commits on the target, oldest first."""
        form = "--format=%(trailers:key=LRA-Item,valueonly,separator=)"
        return self.git("log", "--merges", "--first-parent", "--reverse", form, "main").split()


def ended(process):
    """Wait for a run and return how it ended."""
    out, err = process.communicate(timeout=240)
    lines = out.strip().splitlines()
    return Ran(process.returncode, json.loads(lines[-1]) if lines else {}, err)


def killed(ran):
    """Say whether a run died by SIGKILL."""
    return ran.exit == -signal.SIGKILL
