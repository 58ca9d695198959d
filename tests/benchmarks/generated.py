"""A record of any age, written as git objects in seconds."""

import json
import subprocess

from agents.domain.checklist import Checklist, Evidence, Item
from agents.domain.cycle import CycleResult, Pin
from agents.domain.mission import Mission
from agents.domain.state import Standing, State
from tasks.git.record import Event, _message, cycle_path, state_files

MISSION = Mission(id="m", title="Old", brief="Long", target="main", checks=(), created_by="me", created_at="now")
VERDICT = "v" * 64


def git(where, *args, stdin=b""):
    who = ("-c", "user.name=A", "-c", "user.email=a@b")
    done = subprocess.run(["git", *who, *args], cwd=where, check=True, capture_output=True, input=stdin)
    return done.stdout.decode().strip()


def make_origin(place, cycles):
    """A repository with a mission of so many cycles; for every twenty of them one item is done by a merge."""
    place.mkdir()
    git(place, "init", "-q", "-b", "main")
    (place / "a.txt").write_text("a\n")
    git(place, "add", ".")
    git(place, "commit", "-q", "-m", "first")
    base, tree = git(place, "rev-parse", "main"), git(place, "rev-parse", "main^{tree}")
    said = f"merge\n\nLRA-Item: {{}}\nLRA-Verdict: {VERDICT}\n"
    items = max(1, cycles // 20)
    stream = [_commit("main", 1, said.format("item0"), {}, base)]
    stream += [_commit("main", n + 1, said.format(f"item{n}"), {}) for n in range(1, items)]
    git(place, "fast-import", "--quiet", "--force", stdin=b"".join(stream))
    merges = git(place, "rev-list", "--reverse", f"{base}..main").split()
    git(place, "fast-import", "--quiet", stdin=b"".join(_events(cycles, merges, base, tree)))
    return place


def _events(cycles, merges, base, tree):
    items = tuple(_done(number, commit) for number, commit in enumerate(merges))
    todo = Item(id="next", description="what is left", checks=("true",))
    state = State(mission=MISSION, checklist=Checklist(items=(*items, todo)), standing=Standing())
    yield _commit("lra/m/record", 1, _message(Event("started", "Old"), state), state_files(state))
    for number in range(1, cycles + 1):
        pin = _pin(number, f"item{number % len(merges)}", base, tree)
        state = state.model_copy(update={"standing": Standing(epoch=1, cycles=number)})
        result = CycleResult(pin=pin, ending="refused", summary="It did not work. " * 20, candidate_tree=tree)
        begun, ended = Event("cycle_begun", "attempt", number, pin.item), Event("cycle_ended", "no", number, pin.item)
        standing = {"standing.json": state_files_of_standing(state)}
        yield _commit("lra/m/record", 2 * number, _plain(begun), standing)
        last = number == cycles
        files = {**standing, cycle_path(number): result.model_dump_json(indent=1).encode()}
        message = _message(ended, state) if last else _plain(ended)
        yield _commit("lra/m/record", 2 * number + 1, message, {**files, **state_files(state)} if last else files)


def _done(number, commit):
    evidence = Evidence(cycle=number + 1, commit=commit, verdict=VERDICT)
    return Item(id=f"item{number}", description="mend it " * 10, status="done", attempts=1, evidence=evidence)


def _pin(number, item, base, tree):
    return Pin(
        cycle=number,
        item=item,
        attempt=1,
        base=base,
        base_tree=tree,
        variant="v",
        model="x",
        source="scripted",
        wire="text",
        epoch=1,
        begun_at="now",
    )


def state_files_of_standing(state):
    return json.dumps(state.standing.model_dump(mode="json")).encode()


def _plain(event):
    return f"{event.word}: {event.text}\n\nLRA-Event: {event.word}\nLRA-Cycle: {event.cycle}\n"


def _commit(branch, number, message, files, parent=""):
    text = message.encode()
    head = b"commit refs/heads/%s\ncommitter LRA <lra@localhost> %d +0000\n" % (branch.encode(), 1700000000 + number)
    whole = head + b"data %d\n%s\n" % (len(text), text) + (b"from %s\n" % parent.encode() if parent else b"")
    for path, content in files.items():
        whole += b"M 100644 inline %s\ndata %d\n%s\n" % (path.encode(), len(content), content)
    return whole + b"\n"
