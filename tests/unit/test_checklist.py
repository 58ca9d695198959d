"""Can an item become done without evidence, or a checklist hold what makes no sense?"""

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from agents.domain.checklist import Checklist, Evidence, Item, Priority, Status
from agents.domain.cycle import CycleResult, Pin
from agents.domain.errors import Misconfigured
from agents.domain.mission import Mission
from agents.domain.state import Standing, State

PROOF = Evidence(cycle=1, commit="c" * 40, verdict="v" * 64)
NAMES = ("one", "two", "three")


def item(name: str = "one", **fields: object) -> Item:
    return Item.model_validate({"id": name, "description": "do it", **fields})


def pin(name: str, cycle: int) -> Pin:
    return Pin(
        cycle=cycle,
        item=name,
        attempt=1,
        base="b" * 40,
        base_tree="t" * 40,
        variant="default",
        model="m",
        source="scripted",
        wire="text",
        epoch=1,
        begun_at="now",
    )


def state(checklist: Checklist) -> State:
    mission = Mission(id="m", title="M", brief="", target="main", checks=(), created_by="me", created_at="now")
    return State(mission=mission, checklist=checklist, standing=Standing())


CALLS = st.dictionaries(st.sampled_from(["lead_engineer", "planner"]), st.integers(0, 9), max_size=2)
ITEM_STEPS = st.one_of(
    st.tuples(st.just("begun"), st.integers(1, 9)),
    st.tuples(st.just("finished"), st.just(PROOF), CALLS),
    st.tuples(st.just("failed"), st.text(max_size=5), CALLS, st.integers(0, 3)),
    st.tuples(st.just("blocked"), st.text(max_size=5), st.text(max_size=5), CALLS),
)
FINISHES = ("begun", "finished")


@settings(max_examples=100, derandomize=True, deadline=None)
@given(st.lists(ITEM_STEPS, max_size=12))
def test_no_order_of_transitions_makes_an_item_done_without_evidence(steps: list[tuple[object, ...]]) -> None:
    at = item()
    for name, *arguments in steps:
        before = at
        with suppress(ValueError):
            at = getattr(at, str(name))(*arguments)
        assert (at.status is Status.DONE) == (at.evidence is not None)
        if at.status is Status.DONE and before.status is not Status.DONE:
            assert (before.status, name) == (Status.IN_PROGRESS, "finished")
        if before.status is Status.DONE:
            assert at == before


WAYS = ("begun", "merged", "bare merged", "refused", "unverified", "held_by")
STATE_STEPS = st.lists(
    st.tuples(
        st.sampled_from(["begun", "merged", "bare merged", "refused", "unverified", "held_by"]),
        st.sampled_from(NAMES),
        st.integers(0, 4),
    ),
    max_size=12,
)


def step(at: State, name: str, target: str, cycle: int) -> State:
    if name == "begun":
        return at.begun(pin(target, cycle))
    if name == "held_by":
        return at.held_by(target)
    what = at.standing.open or pin(target, cycle)
    proof = {"commit": PROOF.commit, "verdict": PROOF.verdict} if name == "merged" else {}
    return at.ended(CycleResult.model_validate({"pin": what, "ending": name.removeprefix("bare "), **proof}))


@settings(max_examples=100, derandomize=True, deadline=None)
@given(STATE_STEPS)
def test_no_order_of_cycles_makes_an_item_done_that_was_not_worked_on(steps: list[tuple[str, str, int]]) -> None:
    at = state(Checklist(items=tuple(item(name) for name in NAMES)))
    for name, target, cycle in steps:
        before, at = at, at
        with suppress(ValueError):
            at = step(before, name, target, cycle)
        done = {one.id for one in at.checklist.items if one.status is Status.DONE}
        fresh = done - {one.id for one in before.checklist.items if one.status is Status.DONE}
        assert all(at.checklist[one].evidence for one in done)
        assert not fresh or (before.standing.open is not None and fresh == {before.standing.open.item})
        assert (at.standing.open is None) == (not at.checklist.by_status()["in_progress"])
        assert at.standing.cycles >= before.standing.cycles


@pytest.mark.parametrize("fields", [{"status": "done"}, {"evidence": PROOF}, {"status": "todo", "evidence": PROOF}])
def test_done_and_evidence_go_together(fields: dict[str, object]) -> None:
    with pytest.raises(ValidationError, match="done needs evidence"):
        item(**fields)


def test_a_value_cannot_be_changed_in_place() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        item().status = Status.DONE


def test_an_attempt_counts_and_adds_up_its_calls() -> None:
    failed = item().begun(4).failed("red", {"lead_engineer": 3}, 2)
    again = failed.begun(7).failed("red again", {"lead_engineer": 2, "planner": 1}, 2)
    assert (failed.status, failed.reason, failed.attempts, failed.last_cycle) == (Status.TODO, "red", 1, 4)
    assert (again.status, again.blocked_by, again.attempts, again.last_cycle) == (Status.BLOCKED, "attempts", 2, 7)
    assert again.calls == {"lead_engineer": 5, "planner": 1}


def test_a_finished_item_forgets_why_it_failed_before() -> None:
    done = item().begun(1).failed("red", {}, 2).begun(2).finished(PROOF, {"lead_engineer": 1})
    assert (done.status, done.evidence, done.reason, done.blocked_by) == (Status.DONE, PROOF, "", "")


@pytest.mark.parametrize("status", [Status.SPLIT, Status.DROPPED])
def test_a_closed_item_cannot_be_worked_on_or_blocked(status: Status) -> None:
    closed = item(status=status)
    for change in (
        lambda: closed.begun(1),
        lambda: closed.finished(PROOF, {}),
        lambda: closed.failed("x", {}, 3),
        lambda: closed.blocked("needs", "x"),
    ):
        with pytest.raises(ValueError, match="item one"):
            change()


@pytest.mark.parametrize("name", ["", "-a", ".a", "a b", "a/b", "a\n", "é", "a" * 65])
def test_an_id_is_a_plain_word(name: str) -> None:
    with pytest.raises(ValidationError, match="must be at most 64 letters"):
        item(name)


def test_a_cycle_of_needs_is_refused_and_named() -> None:
    with pytest.raises(ValidationError, match=r"needs form a cycle: (one -> two -> three -> one|two|three)"):
        Checklist(items=(item("one", needs=["two"]), item("two", needs=["three"]), item("three", needs=["one"])))


@settings(max_examples=100, derandomize=True, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=12))
def test_a_checklist_is_accepted_exactly_when_its_needs_have_an_order(edges: list[tuple[int, int]]) -> None:
    needs = {name: {of for who, of in edges if who == name} for name in range(6)}
    placed: set[int] = set()
    while fresh := {name for name in needs if name not in placed and needs[name] <= placed}:
        placed |= fresh
    items = tuple(item(f"i{name}", needs=[f"i{of}" for of in sorted(needs[name])]) for name in needs)
    if len(placed) == len(needs):
        assert len(Checklist(items=items).items) == 6
    else:
        with pytest.raises(ValidationError, match="needs form a cycle: i"):
            Checklist(items=items)


def test_a_need_that_is_no_item_is_refused_and_named() -> None:
    with pytest.raises(ValidationError, match="item one needs ghost"):
        Checklist(items=(item("one", needs=["ghost"]),))


def test_an_id_is_there_once() -> None:
    with pytest.raises(ValidationError, match="one is there more than once"):
        Checklist(items=(item("one"), item("one")))


def test_an_unknown_item_is_the_operators_mistake_and_the_known_ones_are_named() -> None:
    with pytest.raises(Misconfigured, match="there is no item 'three'; the items are one, two"):
        Checklist(items=(item("one"), item("two"))).with_item(item("three"))


def test_ready_items_come_by_priority_then_as_written() -> None:
    ranks = (("a", Priority.LOW), ("b", Priority.NORMAL), ("c", Priority.HIGH), ("d", Priority.NORMAL))
    checklist = Checklist(items=tuple(item(name, priority=rank) for name, rank in ranks))
    assert [one.id for one in checklist.ready()] == ["c", "b", "d", "a"]


@pytest.mark.parametrize("status", list(Status))
def test_a_need_is_met_by_a_closed_item_only(status: Status) -> None:
    first = item("one", status=status, evidence=PROOF if status is Status.DONE else None)
    ready = [one.id for one in Checklist(items=(first, item("two", needs=["one"]))).ready()]
    assert ("two" in ready) == (status in (Status.DONE, Status.SPLIT, Status.DROPPED))


def test_a_second_cycle_cannot_open_and_none_is_skipped() -> None:
    begun = state(Checklist(items=(item("one"), item("two")))).begun(pin("one", 1))
    with pytest.raises(ValueError, match="cycle 1 is still open"):
        begun.begun(pin("two", 2))
    with pytest.raises(ValueError, match="the next cycle is 1, not 2"):
        state(begun.checklist.with_item(item("one"))).begun(pin("two", 2))


def test_only_the_open_cycle_can_end() -> None:
    begun = state(Checklist(items=(item("one"),))).begun(pin("one", 1))
    other = CycleResult(pin=pin("one", 1).model_copy(update={"base": "x"}), ending="refused")
    with pytest.raises(ValueError, match="is not the open one"):
        begun.ended(other)


def test_a_merge_without_commit_or_verdict_is_none() -> None:
    begun = state(Checklist(items=(item("one"),))).begun(pin("one", 1))
    with pytest.raises(ValueError, match="names no commit or no verdict"):
        begun.ended(CycleResult(pin=pin("one", 1), ending="merged", commit="c" * 40))


def test_an_open_cycle_and_its_item_in_progress_belong_together() -> None:
    checklist = Checklist(items=(item("one", status="in_progress"),))
    with pytest.raises(ValidationError, match="items in progress are"):
        state(checklist)


def test_an_attempt_that_could_not_begin_is_not_counted() -> None:
    begun = state(Checklist(items=(item(),))).begun(pin("one", 1))
    after = begun.ended(CycleResult(pin=pin("one", 1), ending="postponed", summary="no test starts"))
    (left,) = after.checklist.items
    assert (left.status, left.attempts, left.last_cycle, left.reason) == (Status.TODO, 0, None, "no test starts")
    assert after.standing.cycles == 1
