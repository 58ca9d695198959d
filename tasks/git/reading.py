"""Do it: look at the missions of an origin without holding them, and fast enough to be asked all the time."""

from pathlib import Path
from typing import NamedTuple

from agents.domain.cycle import CycleResult
from agents.domain.errors import Misconfigured
from agents.domain.state import State
from tasks.git.origin import Origin
from tasks.git.plumbing import Git
from tasks.git.record import CHECKLIST, SPEC, STANDING, branch, cycle_path, parse_state
from tasks.git.store import Store

LOG_FORMAT = "%H%x1f%cI%x1f%(trailers:key=LRA-Cycle,valueonly,separator=%x2C)%x1f%s%x1e"


class Told(NamedTuple):
    """One event of a record: its commit, when (ISO 8601), the cycle it belongs to or "", and its line."""

    commit: str
    at: str
    cycle: str
    text: str


class Shelf:
    """Where the records of an origin can be read: the origin itself when it is a path, else our store of it."""

    def __init__(self, origin: str, home: Path) -> None:
        known = Origin.parse(origin)
        self.origin = known.shown
        if known.git_dir is not None:
            self.git, self._prefix = Git(known.git_dir), "refs/heads/"
        else:
            store = Store.open(origin, home)
            store.fetch()
            self.git, self._prefix = store.trees.git, "refs/remotes/origin/"

    def missions(self) -> tuple[str, ...]:
        """Return the ids of all missions that were started here."""
        pattern = f"{self._prefix}lra/*/record"
        refs = self.git.run("for-each-ref", "--format=%(refname)", pattern).decode().split()
        return tuple(ref.removeprefix(f"{self._prefix}lra/").removesuffix("/record") for ref in refs)

    def state(self, mission: str) -> State:
        """Return a mission as its record has it now; Misconfigured, naming those there are, when there is none."""
        names = (SPEC, CHECKLIST, STANDING)
        texts = dict(zip(names, self.git.blobs(f"{self._ref(mission)}:{name}" for name in names), strict=True))
        if texts[SPEC] is None:
            known = ", ".join(self.missions()) or "none"
            raise Misconfigured(f"{self.origin} has no mission {mission!r}; its missions: {known}")
        return parse_state(texts, f"{branch(mission)} of {self.origin}")

    def cycle(self, mission: str, number: int) -> CycleResult | None:
        """Return what a finished cycle did, or None when there is none of this number."""
        text = next(self.git.blobs([f"{self._ref(mission)}:{cycle_path(number)}"]))
        return None if text is None else CycleResult.model_validate_json(text)

    def history(self, mission: str, limit: int) -> tuple[Told, ...]:
        """Return the latest events of a record, newest first."""
        out = self.git.run("log", f"--max-count={limit}", f"--format={LOG_FORMAT}", self._ref(mission), "--").decode()
        return tuple(Told(*row.strip().split("\x1f")) for row in out.split("\x1e") if row.strip())

    def root(self, mission: str) -> str:
        """Return the first commit of a record."""
        return self.git.run("rev-list", "--max-parents=0", self._ref(mission)).decode().strip()

    def _ref(self, mission: str) -> str:
        return f"{self._prefix}{branch(mission)}"
