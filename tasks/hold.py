"""Do it, durably: one mission has one runner. Order at start: lock, record, epoch."""

import hashlib
import logging
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from agents.domain.checklist import Checklist
from agents.domain.cycle import Pin
from agents.domain.errors import BrokenRecord, Busy, NeedsHuman
from agents.domain.mission import Mission
from agents.domain.state import State
from tasks.git.record import Event, Record
from tasks.git.store import Store
from tasks.holder import new_holder
from tasks.journal import Journal, file_of, folder_of

log = logging.getLogger("lra")

Draft = Callable[[Store], tuple[Mission, Checklist]]


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

    def has_journal(self, pin: Pin) -> bool:
        """Say whether this home has the journal of a cycle."""
        return self._path(pin).exists()

    def journal(self, pin: Pin) -> Journal:
        """Open the journal of a cycle, starting it when this home has none."""
        first = {"mission": self.state.mission.id, "root": self.record.root, "pin": pin.model_dump(mode="json")}
        return Journal(self._path(pin), first)

    def _path(self, pin: Pin) -> Path:
        return file_of(folder_of(self.home, self.state.mission.id, self.record.root), pin.cycle)


@contextmanager
def holding(home: Path, origin: str, mission: str, draft: Draft) -> Iterator[Held]:
    """Hold the mission, starting it from `draft` when the origin has no record of it yet; Busy when another run has it.

    The lock dies with the process. The epoch in the record fences runs with another home: the last to start wins, and
    the one before it is refused at its next append. No two runs write equal epochs, which both would own.
    """
    with _locked(home, origin, mission) as ours, _marked(ours):
        store = Store.open(origin, home)
        store.fetch()
        record = Record(store, mission)
        if not record.load():
            spec, checklist = draft(store)
            _assert_clean(store, spec.target)
            record.start(spec, checklist)
        _assert_clean(store, record.state.mission.target)
        state = record.state.held_by(new_holder())
        held = Held(home, store, record)
        record.append(Event("epoch", f"run {state.standing.epoch} takes the mission{_loss(held)}"), state)
        _close_last_journal(held)
        yield held


def _loss(held: Held) -> str:
    """Say, for good and on the screen, that an open cycle has no journal here: another home had it, or it was lost."""
    pin = held.state.standing.open
    if pin is None or held.has_journal(pin):
        return ""
    loss = f"the journal of cycle {pin.cycle} is not on this machine: its calls are made and paid again"
    log.warning(loss)
    return f"; {loss}"


def at_rest(home: Path, origin: str, mission: str) -> State | None:
    """Return a mission by its checked record; Busy when another run has it.

    None when it was never started, or when its last run was killed: a new run then has to tidy up after it.
    """
    with _locked(home, origin, mission) as ours:
        store = Store.open(origin, home)
        store.fetch()
        record = Record(store, mission)
        return record.state if record.load() and not ours.exists() else None


def _close_last_journal(held: Held) -> None:
    """Write the last row of the latest finished cycle, if a crash came between the push and that row.

    A damaged journal is left as it is: its cycle is safe in the record, and nothing here needs it any more.
    """
    standing = held.state.standing
    result = held.record.cycle(standing.cycles - (standing.open is not None)) if standing.cycles else None
    if result is None or not held.has_journal(result.pin):
        return
    with suppress(BrokenRecord), closing(held.journal(result.pin)) as journal:
        journal.end({"result": result.model_dump(mode="json")})


def _assert_clean(store: Store, target: str) -> None:
    if (trouble := store.checkout_trouble(target)) is not None:
        raise NeedsHuman(f"{trouble}. Nothing was started; uncommitted work is never part of a mission.")


@contextmanager
def _locked(home: Path, origin: str, mission: str) -> Iterator[Path]:
    """Hold the lock of a mission; yields the place of the mark that a run leaves when it is killed."""
    folder = home / "locks"
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{mission}-{hashlib.sha256(origin.encode()).hexdigest()[:8]}"
    lock = FileLock(folder / f"{name}.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise Busy(f"another run on this machine works on mission {mission}: `lra watch {mission}` shows it") from None
    try:
        yield folder / f"{name}.running"
    finally:
        lock.release()


@contextmanager
def _marked(mark: Path) -> Iterator[None]:
    mark.touch()
    try:
        yield
    finally:
        mark.unlink()
