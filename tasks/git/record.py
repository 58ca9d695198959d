"""Do it, durably: the mission's record, one commit for one event, on a branch of the origin that only LRA writes."""

import json
from collections.abc import Mapping
from functools import cached_property
from shlex import quote
from typing import NamedTuple

from pydantic import ValidationError

from agents.domain.checklist import Checklist, Status
from agents.domain.cycle import CycleResult
from agents.domain.errors import BrokenRecord, Busy
from agents.domain.mission import Mission
from agents.domain.state import Standing, State
from agents.domain.value import canonical
from tasks.git.store import Moved, Store

SPEC, CHECKLIST, STANDING = "mission.json", "checklist.json", "standing.json"
DECISIONS, PROGRESS = "decisions.jsonl", "progress.md"
CYCLES_PER_FOLDER = 100


class Event(NamedTuple):
    """What a record commit says happened; `cycle` and `item` are named where there is one."""

    word: str
    text: str
    cycle: int | None = None
    item: str | None = None


class Record:
    """The record of one mission, as this run knows it: `head` is the commit of `state`.

    Every append goes on top of `head` and is pushed at once; when the origin's record moved meanwhile, another run owns
    the mission and Busy is raised: nothing of ours is written.
    """

    def __init__(self, store: Store, mission: str) -> None:
        self.store = store
        self.ref = f"refs/heads/{branch(mission)}"
        self.head: str | None = None
        self._branch = branch(mission)
        self._seen = f"refs/lra/seen/{mission}"
        self._state: State | None = None

    @property
    def state(self) -> State:
        """The mission as of `head`."""
        if self._state is None:
            raise BrokenRecord(f"{self._branch} does not exist in {self.store.origin}")
        return self._state

    @cached_property
    def root(self) -> str:
        """The first commit of the record: names this mission on every machine."""
        assert self.head is not None
        return self._git("rev-list", "--max-parents=0", self.head).strip()

    def load(self) -> bool:
        """Read what the origin has (as last fetched) and check it; False when the mission was never started."""
        head = self.store.head(self._branch)
        if head is None:
            self._refuse_if_deleted()
            return False
        self._check_chain(head)
        texts = {name: self.read(name, head) for name in (SPEC, CHECKLIST, STANDING)}
        state = parse_state(texts, f"{self._branch} of {self.store.origin}")
        if _trailer(self._git("show", "-s", "--format=%B", head), "LRA-State") != state.digest():
            raise BrokenRecord(self._tampered(head, "its files are not what its writer left"))
        self._check_evidence(state)
        self._accept(head, state)
        return True

    def start(self, mission: Mission, checklist: Checklist) -> None:
        """Write the first commit of a new mission; Busy when somebody started it at the same moment."""
        state = State(mission=mission, checklist=checklist, standing=Standing())
        self.append(Event("started", mission.title), state)

    def append(
        self,
        event: Event,
        state: State,
        files: Mapping[str, bytes] | None = None,
        also: Mapping[str, str] | None = None,
    ) -> str:
        """Make `state` the record by one commit, and push it in one atomic push together with the refs of `also`.

        Either all refs move or none. Moved is raised only when a ref of `also` is behind; Busy when the record is.
        """
        commit = self._commit(event, state, files or {})
        try:
            self.store.push({self.ref: commit, **(also or {})})
        except Moved:
            self.store.fetch()
            if self.store.head(self._branch) != self.head:
                raise Busy(self._taken_over()) from None
            raise
        self._accept(commit, state)
        return commit

    def read(self, path: str, commit: str | None = None) -> bytes | None:
        """Return a file of the record, or None when it does not have it."""
        at = commit or self.head
        assert at is not None
        entry = self.store.trees.entries(self.store.trees.tree_of(at)).get(path)
        return None if entry is None else self.store.trees.read(self.store.trees.tree_of(at), path)

    def cycle(self, number: int) -> CycleResult | None:
        """Return what a finished cycle did, or None while it is open."""
        text = self.read(cycle_path(number))
        return None if text is None else CycleResult.model_validate_json(text)

    def _git(self, *args: str) -> str:
        return self.store.trees.git.run(*args).decode("utf-8", "replace")

    def _last_seen(self) -> str | None:
        return self._git("for-each-ref", "--format=%(objectname)", self._seen).strip() or None

    def _commit(self, event: Event, state: State, files: Mapping[str, bytes]) -> str:
        trees = self.store.trees
        tree = trees.tree_of(self.head) if self.head else trees.from_files({})
        for path, content in {**state_files(state), **files}.items():
            tree = trees.write(tree, path, content)
        return trees.commit(tree, (self.head,) if self.head else (), _message(event, state))

    def _accept(self, head: str, state: State) -> None:
        self._git("update-ref", self._seen, head)
        self.head, self._state = head, state

    def _check_chain(self, head: str) -> None:
        seen = self._last_seen()
        if seen == head:
            return
        lines = self._git(
            "log",
            "--format=%H|%P|%(trailers:key=LRA-Event,valueonly,separator=%x2C)",
            *([f"{seen}..{head}"] if seen else [head]),
        ).splitlines()
        for line in lines:
            commit, parents, word = line.split("|", 2)
            if not word or " " in parents:
                raise BrokenRecord(self._tampered(commit, "LRA did not write it"))
        if seen and (not lines or lines[-1].split("|")[1] != seen):
            raise BrokenRecord(
                f"{self._branch} of {self.store.origin} was rewound or rewritten: {seen[:12]} is no longer in it. "
                f"To put it back: git -C {quote(str(self.store.path))} push origin +{seen}:{self.ref}"
            )

    def _refuse_if_deleted(self) -> None:
        if (seen := self._last_seen()) is not None:
            place = quote(str(self.store.path))
            raise BrokenRecord(
                f"{self._branch} was deleted from {self.store.origin}. To put it back: git -C {place} push origin "
                f"{seen}:{self.ref}. To start anew: git -C {place} update-ref -d {self._seen}"
            )

    def _check_evidence(self, state: State) -> None:
        for item in state.checklist.items:
            if item.status is not Status.DONE or item.evidence is None:
                continue
            commit = item.evidence.commit
            text = (self.store.trees.objects.read(commit, "commit") or b"").decode("utf-8", "replace")
            if (_trailer(text, "LRA-Item"), _trailer(text, "LRA-Verdict")) != (item.id, item.evidence.verdict):
                raise BrokenRecord(
                    f"the record says item {item.id} is done by commit {commit[:12]}, which does not say so. "
                    f"Look at `git log {self._branch}`; the last sound commit can be pushed back with --force."
                )

    def _tampered(self, commit: str, what: str) -> str:
        place = quote(str(self.store.path))
        return (
            f"{self._branch} of {self.store.origin} was changed by something else than LRA: commit {commit[:12]}: "
            f"{what}. Look at it with `git -C {place} show {commit[:12]}`; put the last sound commit back with "
            f"`git -C {place} push --force origin {commit[:12]}~1:{self.ref}`."
        )

    def _taken_over(self) -> str:
        text = self.read(STANDING, self.store.head(self._branch)) if self.store.head(self._branch) else None
        who = Standing.model_validate_json(text) if text else Standing()
        return f"another run has taken this mission over ({who.holder or 'unknown'}, epoch {who.epoch}); this one stops"


def branch(mission: str) -> str:
    """Return the branch that holds the record of a mission."""
    return f"lra/{mission}/record"


def cycle_path(number: int) -> str:
    """Return where the record tells of a cycle; folders of a hundred keep every tree object small."""
    return f"cycles/{number // CYCLES_PER_FOLDER:04d}/{number:06d}.json"


def parse_state(texts: Mapping[str, bytes | None], where: str) -> State:
    """Return the state that the record's files hold; BrokenRecord when they hold none, or one of a newer version."""
    try:
        return State(
            mission=Mission.model_validate_json(texts[SPEC] or b""),
            checklist=Checklist.model_validate_json(texts[CHECKLIST] or b""),
            standing=Standing.model_validate_json(texts[STANDING] or b""),
        )
    except ValidationError as error:
        first = error.errors()[0]
        what = f"{'.'.join(map(str, first['loc']))} {first['msg']}".strip()
        raise BrokenRecord(f"the record {where} cannot be read: {what}. Push its last sound commit back.") from None


def state_files(state: State) -> dict[str, bytes]:
    """Return the files that hold a state."""
    return {
        SPEC: _json(state.mission.model_dump(mode="json")),
        CHECKLIST: _json(state.checklist.model_dump(mode="json")),
        STANDING: _json(state.standing.model_dump(mode="json")),
        PROGRESS: progress(state).encode(),
    }


def progress(state: State) -> str:
    """Return the page that people read on the branch."""
    boxes = {Status.DONE: "x", Status.DROPPED: "-", Status.SPLIT: "-"}
    lines = [
        f"- [{boxes.get(item.status, ' ')}] {item.id}: {item.status}"
        + (f" ({item.reason[:200]})" if item.reason else "")
        for item in state.checklist.items
    ]
    return f"# {state.mission.title}\n\n" + "\n".join(lines) + f"\n\nCycles: {state.standing.cycles}\n"


def _json(data: object) -> bytes:
    return json.dumps(json.loads(canonical(data)), indent=1, sort_keys=True, ensure_ascii=False).encode() + b"\n"


def _message(event: Event, state: State) -> str:
    trailers = {"LRA-Event": event.word, "LRA-Cycle": event.cycle, "LRA-Item": event.item, "LRA-State": state.digest()}
    subject = " ".join(event.text.split())[:120] or event.word
    said = "\n".join(f"{key}: {value}" for key, value in trailers.items() if value is not None)
    return f"{event.word}: {subject}\n\n{said}\n"


def _trailer(message: str, key: str) -> str:
    lines = [line for line in message.splitlines() if line.startswith(f"{key}: ")]
    return lines[-1].removeprefix(f"{key}: ") if lines else ""
