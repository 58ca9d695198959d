"""Is the record what LRA wrote, all of it, and written by one run alone?"""

import json
import time

import pytest
from repositories import fetched, git, make_checkout

from agents.domain.checklist import Checklist, Evidence, Item
from agents.domain.cycle import CycleResult, Pin
from agents.domain.errors import BrokenRecord, Busy
from agents.domain.mission import Mission
from tasks.git.record import Event, Record, cycle_path, progress
from tasks.git.store import Moved

MISSION = Mission(id="m", title="Mend it", brief="", target="main", checks=(), created_by="me", created_at="now")
CHECKLIST = Checklist(items=(Item(id="one", description="1"), Item(id="two", description="2")))
BRANCH = "lra/m/record"


@pytest.fixture
def origin(tmp_path):
    return make_checkout(tmp_path / "origin")


@pytest.fixture
def machine(origin, tmp_path):
    """Open the store of another machine by its name; all are closed afterwards."""
    stores = []

    def open_store(name):
        stores.append(fetched(str(origin), tmp_path / name))
        return stores[-1]

    yield open_store
    for store in stores:
        store.trees.close()


@pytest.fixture
def store(machine):
    return machine("home")


@pytest.fixture
def record(store):
    record = Record(store, "m")
    record.start(MISSION, CHECKLIST)
    return record


def hold(record, who="me"):
    return record.append(Event("epoch", "taken"), record.state.held_by(who))


def loaded(store):
    store.fetch()
    record = Record(store, "m")
    assert record.load()
    return record


def pin_of(record, base):
    item = record.state.checklist.ready()[0]
    return Pin(
        cycle=record.state.standing.cycles + 1,
        item=item.id,
        attempt=1,
        base=base,
        base_tree=record.store.trees.tree_of(base),
        variant="v",
        model="x",
        source="scripted",
        wire="text",
        epoch=record.state.standing.epoch,
        begun_at="now",
    )


def begin(record, base):
    pin = pin_of(record, base)
    record.append(Event("cycle_begun", "begun", pin.cycle, pin.item), record.state.begun(pin))
    return pin


def merge(record, pin, verdict="v" * 64, says=None):
    """End a cycle by a merge; the merge commit says what `says` says, else the truth."""
    trees = record.store.trees
    said = says or f"LRA-Item: {pin.item}\nLRA-Verdict: {verdict}"
    commit = trees.commit(trees.write(pin.base_tree, f"{pin.item}.txt", b"x"), (pin.base,), f"merge\n\n{said}\n")
    result = CycleResult(pin=pin, ending="merged", verdict=verdict, commit=commit)
    files = {cycle_path(pin.cycle): result.model_dump_json().encode()}
    event = Event("cycle_ended", "merged", pin.cycle, pin.item)
    record.append(event, record.state.ended(result), files, {"refs/heads/main": commit})
    return result


def tamper(origin, files, message):
    """Commit files on top of the record by hand, in a worktree of the origin."""
    place = origin.parent / "hand"
    git(origin, "worktree", "add", "-q", str(place), BRANCH)
    for name, text in files.items():
        (place / name).write_text(text)
    git(place, "add", "-A")
    git(place, "commit", "-q", "--allow-empty", "-m", message)
    git(origin, "worktree", "remove", str(place))


def test_a_mission_that_was_never_started_has_no_record(store):
    assert not Record(store, "m").load()


def test_what_was_started_and_appended_is_what_another_machine_loads(record, machine):
    hold(record)
    other = loaded(machine("other"))
    assert (other.state, other.head, other.root) == (record.state, record.head, record.root)
    assert other.state.standing.epoch == 1


def test_a_cycle_is_told_once_it_is_finished_and_target_and_record_moved_together(record, store, origin):
    pin = begin(record, store.head("main"))
    assert record.cycle(1) is None
    result = merge(record, pin)
    assert loaded(store).cycle(1) == result
    assert git(origin, "rev-parse", "main") == result.commit


def test_the_epoch_of_a_later_run_fences_the_run_before_it(record, origin, machine):
    other = loaded(machine("other"))
    hold(other, "the other one")
    with pytest.raises(Busy, match="the other one, epoch 1"):
        hold(record)
    assert git(origin, "rev-parse", BRANCH) == other.head


def test_a_target_that_moved_is_told_apart_from_a_record_that_moved(record, store, origin):
    pin = begin(record, store.head("main"))
    before = record.head
    git(origin, "commit", "-q", "--allow-empty", "-m", "meanwhile")
    with pytest.raises(Moved):
        merge(record, pin)
    assert (record.head, git(origin, "rev-parse", BRANCH)) == (before, before)


def test_two_starts_at_once_leave_one_mission(record, machine):
    late = Record(machine("other"), "m")
    with pytest.raises(Busy):
        late.start(MISSION.model_copy(update={"created_by": "you"}), CHECKLIST)


def test_a_commit_by_hand_is_refused_with_what_to_do(record, store, origin):
    tamper(origin, {"note.txt": "hello"}, "a note")
    with pytest.raises(BrokenRecord, match=rf"LRA did not write it.*git push --force .*{BRANCH}"):
        loaded(store)


@pytest.mark.parametrize("state", ["", "LRA-State: 0000"])
def test_a_commit_that_imitates_the_trailers_is_refused(record, store, origin, state):
    listed = json.loads(git(origin, "show", f"{BRANCH}:checklist.json"))
    listed["items"][0]["description"] = "much less"
    tamper(origin, {"checklist.json": json.dumps(listed)}, f"epoch: x\n\nLRA-Event: epoch\n{state}")
    with pytest.raises(BrokenRecord, match="not what its writer left"):
        loaded(store)


def test_an_item_that_is_done_by_hand_needs_a_merge_that_says_so(record, store, origin):
    listed = record.state.checklist
    evidence = Evidence(cycle=1, commit=store.head("main"), verdict="v" * 64)
    done = listed.with_item(listed["one"].begun(1).finished(evidence, {}))
    forged = record.state.model_copy(update={"checklist": done})
    text = json.dumps(done.model_dump(mode="json"))
    tamper(origin, {"checklist.json": text}, f"epoch: x\n\nLRA-Event: epoch\nLRA-State: {forged.digest()}")
    with pytest.raises(BrokenRecord, match=r"item one is done by commit .* does not say so"):
        loaded(store)


def test_a_merge_that_speaks_of_another_item_is_no_evidence(record, store):
    merge(record, begin(record, store.head("main")), says=f"LRA-Item: two\nLRA-Verdict: {'v' * 64}")
    with pytest.raises(BrokenRecord, match="item one"):
        loaded(store)


def test_a_merge_commit_is_no_part_of_a_record(record, store, origin):
    tree = git(origin, "rev-parse", f"{BRANCH}^{{tree}}")
    parents = ("-p", BRANCH, "-p", "main")
    commit = git(origin, "commit-tree", tree, *parents, "-m", "x\n\nLRA-Event: epoch")
    git(origin, "update-ref", f"refs/heads/{BRANCH}", commit)
    with pytest.raises(BrokenRecord, match="LRA did not write it"):
        loaded(store)


@pytest.mark.parametrize("then", [(), ("commit",)])
def test_a_record_that_was_rewound_is_refused_and_the_printed_command_puts_it_back(record, store, origin, then):
    hold(record)
    git(origin, "update-ref", f"refs/heads/{BRANCH}", f"{BRANCH}~1")
    if then:
        tamper(origin, {}, "epoch: again\n\nLRA-Event: epoch")
    with pytest.raises(BrokenRecord, match="rewound or rewritten") as refused:
        loaded(store)
    git(store.path, *str(refused.value).split("git -C ")[1].split()[1:])
    assert loaded(store).head == record.head


def test_a_record_that_was_deleted_is_refused_and_the_printed_command_puts_it_back(record, store, origin):
    git(origin, "update-ref", "-d", f"refs/heads/{BRANCH}")
    store.fetch()
    with pytest.raises(BrokenRecord, match="was deleted") as refused:
        Record(store, "m").load()
    git(store.path, *str(refused.value).split("git -C ")[1].split(". To start")[0].split()[1:])
    assert loaded(store).head == record.head


def test_a_file_of_the_record_that_cannot_be_read_is_named(record, store, origin):
    tamper(origin, {"standing.json": "{}}"}, "epoch: x\n\nLRA-Event: epoch")
    with pytest.raises(BrokenRecord, match="cannot be read"):
        loaded(store)


@pytest.mark.parametrize("many", [30, pytest.param(300, marks=pytest.mark.nightly)])
def test_many_appends_stay_quick_and_sound(record, store, many):
    times = []
    for number in range(many):
        started = time.perf_counter()
        hold(record, f"run {number}")
        times.append(time.perf_counter() - started)
    assert loaded(store).state.standing.epoch == many
    assert sum(times[-10:]) < 4 * sum(times[:10])


def test_the_page_for_people_tells_every_item(record, store, origin):
    state = record.state
    blocked = state.checklist.with_item(state.checklist["two"].blocked("attempts", "too hard " * 99))
    page = progress(state.model_copy(update={"checklist": blocked}))
    assert "- [ ] one: todo" in page
    assert "- [ ] two: blocked (too hard" in page
    assert len(page) < 500
    merge(record, begin(record, store.head("main")))
    assert "- [x] one: done" in git(origin, "show", f"{BRANCH}:progress.md")


def test_cycles_lie_in_folders_of_a_hundred():
    assert [cycle_path(number) for number in (1, 99, 100, 12345)] == [
        "cycles/0000/000001.json",
        "cycles/0000/000099.json",
        "cycles/0001/000100.json",
        "cycles/0123/012345.json",
    ]
