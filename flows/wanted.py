"""When a user names a mission: where its repository is, and what it says."""

import getpass
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from agents.domain.checklist import Checklist
from agents.domain.errors import Misconfigured
from agents.domain.mission import PROTECTED, Mission
from agents.domain.state import State
from agents.mission_draft import MissionDraft
from agents.mission_file import parse
from flows.settings import Settings, read
from tasks.checks.detect import detect
from tasks.git.origin import Origin
from tasks.git.store import Store

FILES = (".md", ".json")


class Wanted(NamedTuple):
    """The mission that a user named, with the settings that hold for its repository; `draft` when a file was given."""

    id: str
    origin: str
    settings: Settings
    draft: MissionDraft | None

    def start(self, store: Store) -> tuple[Mission, Checklist]:
        """Return the mission that the draft becomes in this repository: what it leaves open is looked up there."""
        draft = self.draft
        if draft is None:
            raise Misconfigured(f"{self.origin} has no mission {self.id!r}; give a mission file to start one")
        target = draft.target or store.default_branch()
        head = store.head(target)
        if head is None:
            raise Misconfigured(f"{store.origin} has no branch {target!r} to merge into; name one with `target:`")
        trees, tree = store.trees, store.trees.tree_of(head)
        found = detect(trees.entries(tree), lambda path: trees.read(tree, path))
        mission = Mission(
            id=draft.id,
            title=draft.title,
            brief=draft.brief,
            target=target,
            checks=found if draft.checks is None else draft.checks,
            protect=PROTECTED if draft.protect is None else draft.protect,
            budget=draft.budget,
            attempts=draft.attempts or self.settings.attempts,
            created_by=_user(),
            created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        )
        return mission, draft.checklist

    def differs_from(self, state: State) -> tuple[str, ...]:
        """Name what the file tells otherwise than the mission that was started from it, which never changes."""
        if self.draft is None:
            return ()
        draft, mission = self.draft, state.mission
        fixed = {"id", "description", "needs", "priority", "files", "checks", "may_edit"}
        told, kept = ([item.model_dump(include=fixed) for item in c.items] for c in (draft.checklist, state.checklist))
        given = ("brief", "target", "checks", "protect", "budget", "attempts")
        differs = [n for n in given if getattr(draft, n) not in (None, getattr(mission, n))]
        return (*differs, *(("items",) if told != kept else ()))


def find_mission(repo: str, mission: str, flags: Mapping[str, Any] | None = None) -> Wanted:
    """Return the mission meant by a mission file (here, in the checkout, or on the default branch) or by its id."""
    origin = Origin.parse(repo)
    settings = read(origin.folder, flags)
    for path in (Path(mission), *((origin.folder / mission,) if origin.folder else ())):
        if _is_file(path):
            draft = parse(_text(path.read_bytes(), str(path)), str(path))
            return Wanted(draft.id, origin.address, settings, draft)
    if not mission.endswith(FILES):
        return Wanted(mission, origin.address, settings, None)
    store = Store.open(origin.address, settings.home)
    store.fetch()
    tree = store.trees.tree_of(store.head(store.default_branch()) or "HEAD")
    if mission not in store.trees.entries(tree):
        raise Misconfigured(f"there is no mission file {mission}, neither here nor in {origin.shown}")
    draft = parse(_text(store.trees.read(tree, mission), mission), mission)
    return Wanted(draft.id, origin.address, settings, draft)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # longer than a name may be
        return False


def _text(content: bytes, path: str) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        where = f"{error.reason} at byte {error.start}"
        raise Misconfigured(f"{path} is not UTF-8 text ({where}); save it as UTF-8") from None


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container may run under an id that no user has
        return "somebody without a name"
