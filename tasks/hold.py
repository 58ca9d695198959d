"""Do it, durably: one mission has one runner. Order at start: lock, record, epoch; Prefect comes after."""

import hashlib
import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from agents.domain.checklist import Checklist
from agents.domain.errors import Busy, Misconfigured
from agents.domain.mission import Mission
from agents.domain.state import State
from tasks.git.record import Event, Record
from tasks.git.store import Store


class Held:
    """A mission that this process, and no other with the same home, works on."""

    def __init__(self, home: Path, store: Store, record: Record) -> None:
        self.home = home
        self.store = store
        self.record = record
        self.key = f"{record.state.mission.id}-{record.root[:8]}"

    @property
    def state(self) -> State:
        """The mission as the record has it now."""
        return self.record.state

    @property
    def journals(self) -> Path:
        """The folder of this mission's journals."""
        return self.home / "journals" / self.key


@contextmanager
def holding(home: Path, origin: str, mission: str, draft: tuple[Mission, Checklist] | None = None) -> Iterator[Held]:
    """Hold the mission, starting it from `draft` when the origin has no record of it yet; Busy when another run has it.

    The lock dies with the process. The epoch in the record fences runs with another home: the last to start wins, and
    the one before it is refused at its next append.
    """
    with _locked(home, origin, mission):
        store = Store.open(origin, home)
        store.fetch()
        record = Record(store, mission)
        if not record.load():
            if draft is None:
                raise Misconfigured(
                    f"{origin} has no mission {mission!r}; give the path of a mission file to start one"
                )
            record.start(*draft)
        state = record.state.held_by(f"{platform.node()}, process {os.getpid()}")
        record.append(Event("epoch", f"run {state.standing.epoch} takes the mission"), state)
        yield Held(home, store, record)


def assert_free(home: Path, origin: str, mission: str) -> None:
    """Raise Busy when a run with this home holds the mission now; takes nothing."""
    with _locked(home, origin, mission):
        pass


@contextmanager
def _locked(home: Path, origin: str, mission: str) -> Iterator[None]:
    name = f"{mission}-{hashlib.sha256(origin.encode()).hexdigest()[:8]}"
    lock = FileLock(home / "locks" / f"{name}.lock")
    lock_path = Path(lock.lock_file)
    lock_path.parent.mkdir(parents=True, exist_ok=True)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise Busy(f"another run on this machine works on mission {mission}: `lra watch {mission}` shows it") from None
    try:
        yield
    finally:
        lock.release()
