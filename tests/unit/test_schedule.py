"""What comes next, in every state a mission can be in?"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.domain.budget import Budget, Spend, Usage
from agents.domain.checklist import Checklist, Evidence, Item, Priority, Status
from agents.domain.cycle import Pin
from agents.domain.mission import Mission
from agents.domain.schedule import Exhausted, Finished, Work, next_step
from agents.domain.state import Standing, State

PROOF = Evidence(cycle=1, commit="c", verdict="v")
LIMITS = st.one_of(st.none(), st.floats(0, 1e12))


def pin(item: str) -> Pin:
    return Pin(
        cycle=1,
        item=item,
        attempt=1,
        base="b",
        base_tree="t",
        variant="default",
        model="m",
        source="live",
        wire="text",
        epoch=1,
        begun_at="now",
    )


def state(*items: Item, working: str | None = None, budget: Budget | None = None, spend: Spend | None = None) -> State:
    return State(
        mission=Mission(
            id="m",
            title="M",
            brief="",
            target="main",
            checks=(),
            budget=budget or Budget(),
            created_by="me",
            created_at="now",
        ),
        checklist=Checklist(items=items),
        standing=Standing(open=pin(working) if working else None, spend=spend or Spend()),
    )


def item(name: str, status: Status = Status.TODO, needs: tuple[str, ...] = (), **more: object) -> Item:
    evidence = PROOF if status is Status.DONE else None
    fields = {"id": name, "description": "", "status": status, "needs": needs, "evidence": evidence, **more}
    return Item.model_validate(fields)


@st.composite
def states(draw: st.DrawFn) -> State:
    items: list[Item] = []
    open_item = draw(st.one_of(st.none(), st.integers(0, 5)))
    for number in range(draw(st.integers(0, 6))):
        needs = draw(st.lists(st.sampled_from([one.id for one in items]), unique=True)) if items else []
        resting = draw(st.sampled_from([status for status in Status if status is not Status.IN_PROGRESS]))
        status = Status.IN_PROGRESS if number == open_item else resting
        by = draw(st.sampled_from(["attempts", "unverified", "needs"])) if status is Status.BLOCKED else ""
        rank = draw(st.sampled_from(Priority))
        items.append(item(f"i{number}", status, tuple(needs), blocked_by=by, priority=rank))
    working = next((one.id for one in items if one.status is Status.IN_PROGRESS), None)
    shuffled = draw(st.permutations(items))
    budget = Budget(usd=draw(LIMITS), tokens=draw(st.one_of(st.none(), st.integers(0, 10**9))), hours=draw(LIMITS))
    usage = Usage(prompt=draw(st.integers(0, 10**9)))
    spend = Spend(micros=draw(st.integers(0, 10**12)), usage=usage, seconds=draw(st.floats(0, 1e9)))
    return state(*shuffled, working=working, budget=budget, spend=spend)


@settings(max_examples=150, derandomize=True, deadline=None)
@given(states())
def test_every_state_has_exactly_one_next_step(at: State) -> None:
    step = next_step(at)
    assert step == next_step(State.model_validate_json(at.model_dump_json()))
    left = [one for one in at.checklist.items if one.status in (Status.TODO, Status.BLOCKED)]
    match step:
        case Work(item=name) if at.standing.open is not None:
            assert name == at.standing.open.item
        case Work(item=name):
            assert name == at.checklist.ready()[0].id
            assert at.mission.budget.exhausted_by(at.standing.spend) is None
        case Exhausted(limit=limit):
            assert at.standing.open is None
            assert limit == at.mission.budget.exhausted_by(at.standing.spend)
            assert at.checklist.ready()
        case Finished(outcome="verified"):
            assert at.standing.open is None
            assert not left
        case Finished(outcome=outcome):
            assert at.standing.open is None
            assert left
            assert not at.checklist.ready()
            blocked = {one.blocked_by for one in left if one.status is Status.BLOCKED}
            assert (outcome == "unverified") == (blocked == {"unverified"})


def test_an_open_cycle_comes_before_the_budget_and_before_any_other_item() -> None:
    spent = Spend(micros=10**9)
    working = item("two", Status.IN_PROGRESS, priority="low")
    at = state(item("one", priority="high"), working, working="two", budget=Budget(usd=1), spend=spent)
    assert next_step(at) == Work(item="two")


def test_the_budget_comes_before_the_next_item() -> None:
    step = next_step(state(item("one"), budget=Budget(tokens=10), spend=Spend(usage=Usage(prompt=10))))
    assert step == Exhausted(limit="tokens: 10 of 10 used")


def test_a_finished_mission_is_finished_also_when_its_money_is_spent() -> None:
    spent = Spend(micros=10**9)
    assert next_step(state(item("one", Status.DONE), budget=Budget(usd=1), spend=spent)) == Finished(outcome="verified")


@pytest.mark.parametrize(
    ("by", "outcome"), [("unverified", "unverified"), ("attempts", "incomplete"), ("needs", "incomplete")]
)
def test_what_waits_for_a_blocked_item_ends_the_run(by: str, outcome: str) -> None:
    at = state(item("one", Status.BLOCKED, blocked_by=by), item("two", needs=("one",)))
    assert next_step(at) == Finished(outcome=outcome)


def test_an_empty_checklist_is_finished() -> None:
    assert next_step(state()) == Finished(outcome="verified")
