"""Is a call paid once, tried again within bounds, and read back as it was?"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from agents.domain import budget, checklist, cycle, decisions, events, gate, mission, moves, protect, schedule, state
from agents.domain.budget import Usage
from agents.domain.errors import BrokenRecord, Misconfigured, TryLater
from agents.domain.events import Message, Reply, Request, Row
from agents.domain.value import Value
from agents.models.model import Call
from tasks.journal import Journal, read, read_line, tally, write_line
from tasks.policies import THINK_LONGEST_WAIT_S, THINK_TRIES
from tasks.think import think

CALL = Call("lead_engineer", "one", 4)
ASKED = Request(messages=tuple(Message(role="user", content=text) for text in ("a" * 30, "b" * 60)), max_tokens=50)


class Fickle:
    """A model that raises what it was given, one after the other, and then answers; `asked` counts the calls."""

    name, source = "openai/m", "live"

    def __init__(self, *errors: BaseException) -> None:
        self.errors = list(errors)
        self.asked = 0

    def reply(self, request: Request, call: Call) -> Reply:
        self.asked += 1
        if self.errors:
            raise self.errors.pop(0)
        usage = Usage(prompt=30, completion=5)
        return Reply(text=f"answer {self.asked}", usage=usage, micros=7, source="live", model=self.name, seconds=0.5)

    def price(self, usage: Usage) -> int | None:
        return usage.prompt + 1000 * usage.completion

    def calls_tools(self) -> bool:
        return False


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    waited: list[float] = []
    monkeypatch.setattr("tenacity.nap.time.sleep", waited.append)
    return waited


@pytest.fixture
def reopen(tmp_path: Path) -> Iterator[Callable[[], Journal]]:
    opened: list[Journal] = []

    def journal() -> Journal:
        for one in opened:
            one.close()
        opened.append(Journal(tmp_path / "1.jsonl", {"pin": 1}))
        return opened[-1]

    yield journal
    for one in opened:
        one.close()


def rows(journal: Journal) -> tuple[Row, ...]:
    return read(journal.path)[0][1:]


def ask(journal: Journal, model: Fickle, request: Request = ASKED, place: str = "engineer/0") -> Reply:
    return think(journal, model, request, CALL, place)


def test_an_answer_is_asked_for_once_also_by_another_process(reopen) -> None:
    model = Fickle()
    first = ask(reopen(), model)
    assert [ask(reopen(), model), ask(reopen(), model)] == [first, first]
    assert model.asked == 1
    assert first.text == "answer 1"


def test_every_place_is_a_call_of_its_own(reopen) -> None:
    model, journal = Fickle(), reopen()
    assert [ask(journal, model, place=place).text for place in ("a", "b", "a")] == ["answer 1", "answer 2", "answer 1"]


def test_another_request_at_the_same_place_stops_and_asks_nobody(reopen) -> None:
    model, journal = Fickle(), reopen()
    ask(journal, model)
    with pytest.raises(BrokenRecord, match="recorded with other inputs"):
        ask(journal, model, ASKED.model_copy(update={"temperature": 1.0}))
    assert model.asked == 1


def test_the_intent_stands_before_the_call_with_the_worst_that_it_can_cost(reopen) -> None:
    journal = reopen()
    with pytest.raises(Misconfigured):
        ask(journal, Fickle(Misconfigured("no key")))
    intent, refused = rows(journal)
    assert (refused.phase, refused.data) == ("fact", {"error": "no key"})
    assert (intent.phase, intent.kind, intent.place, intent.inputs) == ("intent", "think", "engineer/0", ASKED.digest())
    told = {key: value for key, value in intent.data.items() if key != "messages"}
    assert told == {
        "role": "lead_engineer",
        "item": "one",
        "ordinal": 4,
        "model": "openai/m",
        "source": "live",
        "worst_prompt": 30,
        "worst_completion": 50,
        "worst_micros": 30 + 50_000,
    }


def test_a_call_in_flight_at_a_crash_counts_at_its_worst_and_the_answer_then_too(reopen) -> None:
    journal = reopen()
    with pytest.raises(KeyboardInterrupt):
        ask(journal, Fickle(KeyboardInterrupt()))
    ask(reopen(), Fickle())
    spend = tally(journal.path).spend
    assert (spend.possibly_billed, spend.live) == (1, 1)
    assert spend.micros == 50_030 + 7
    assert spend.usage == Usage(prompt=60, completion=55)


def test_a_message_is_written_once(reopen) -> None:
    journal, model = reopen(), Fickle()
    talk = ASKED
    for number in range(3):
        reply = ask(journal, model, talk, f"engineer/{number}")
        more = (Message(role="assistant", content=reply.text), Message(role="user", content=f"seen {number}"))
        talk = talk.model_copy(update={"messages": (*talk.messages, *more)})
    written = [message["content"] for row in rows(journal) if row.phase == "intent" for message in row.data["messages"]]
    assert written == ["a" * 30, "b" * 60, "seen 0", "seen 1"]
    assert journal.path.read_text().count("answer 1") == 1


def test_a_busy_provider_is_asked_again_after_the_time_it_names(reopen, waits: list[float]) -> None:
    model = Fickle(TryLater("busy", retry_after_s=7), TryLater("busy", retry_after_s=0), TryLater("busy"))
    assert ask(reopen(), model).text == "answer 4"
    assert waits[:2] == [7, 0]
    assert 4 <= waits[2] <= 6


def test_the_wait_doubles_with_jitter_and_the_tries_are_bounded(reopen, waits: list[float]) -> None:
    model, journal = Fickle(*(TryLater(f"busy {n}") for n in range(99))), reopen()
    with pytest.raises(TryLater, match=f"busy {THINK_TRIES - 1}"):
        ask(journal, model)
    assert model.asked == THINK_TRIES
    assert [2**n <= wait <= 1.5 * 2**n for n, wait in enumerate(waits)] == [True] * (THINK_TRIES - 1)
    assert [row.phase for row in rows(journal)] == ["intent", "fact"] * THINK_TRIES


def test_no_wait_is_longer_than_the_longest(reopen, waits: list[float]) -> None:
    ask(reopen(), Fickle(TryLater("come back tomorrow", retry_after_s=86_400)))
    assert waits == [THINK_LONGEST_WAIT_S]


def test_a_refusal_for_good_is_not_tried_again(reopen, waits: list[float]) -> None:
    model = Fickle(Misconfigured("no key"))
    with pytest.raises(Misconfigured, match="no key"):
        ask(reopen(), model)
    assert (model.asked, waits) == (1, [])


def test_a_request_that_was_refused_is_not_billed_and_one_that_was_lost_may_be(reopen, waits: list[float]) -> None:
    journal = reopen()
    ask(journal, Fickle(TryLater("busy"), TryLater("cut off", in_flight=True)))
    assert [row.phase for row in rows(journal)] == ["intent", "fact", "intent", "intent", "result"]
    assert (journal.tally.spend.possibly_billed, journal.tally.spend.live) == (1, 1)


def test_a_key_that_is_refused_costs_nothing_however_often_it_is_tried(reopen) -> None:
    for _ in range(3):
        with pytest.raises(Misconfigured):
            ask(reopen(), Fickle(Misconfigured("no key")))
    assert reopen().tally.spend.usage == Usage()


MODULES = (budget, checklist, cycle, decisions, events, gate, mission, moves, protect, schedule, state)
VALUES = sorted(
    {
        kind
        for module in MODULES
        for kind in vars(module).values()
        if isinstance(kind, type) and issubclass(kind, Value) and kind is not Value
    },
    key=lambda kind: f"{kind.__module__}.{kind.__name__}",
)
NAMES = st.from_regex(r"[a-z][a-z0-9]{0,4}", fullmatch=True)
PLAIN = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text()),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(st.text(), inner, max_size=2)),
    max_leaves=4,
)
OPEN_ITEM = {"status": st.sampled_from(["todo", "blocked", "split", "dropped"]), "evidence": st.none()}
PARTS: dict[type[Any], dict[str, st.SearchStrategy[Any]]] = {
    checklist.Item: {"id": NAMES, "needs": st.just(()), **OPEN_ITEM},
    mission.Mission: {"checks": st.just(("tests", "größe\n"))},
    events.Row: {"data": st.dictionaries(st.text(), PLAIN, max_size=2)},
    state.Standing: {"open": st.none()},
}


def values(kind: Any) -> st.SearchStrategy[Any]:
    """Draw any value of a type, down to its fields; floats as a clock or a setting gives them."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        if kind is checklist.Checklist:
            items = st.lists(values(checklist.Item), max_size=3, unique_by=lambda one: one.id)
            return st.builds(kind, items=items.map(tuple))
        own = PARTS.get(kind, {})
        fields = {name: own.get(name, values(field.annotation)) for name, field in kind.model_fields.items()}
        return st.builds(kind, **fields)
    if kind is float:
        return st.floats(allow_nan=False, allow_infinity=False)
    arguments = getattr(kind, "__args__", ())
    origin = getattr(kind, "__origin__", None)
    if origin is tuple:
        return st.lists(values(arguments[0]), max_size=2).map(tuple)
    if origin is dict:
        return st.dictionaries(values(arguments[0]), values(arguments[1]), max_size=2)
    if arguments and not str(kind).startswith("typing.Literal"):
        return st.one_of(*map(values, arguments))
    return st.from_type(kind)


@pytest.mark.parametrize("kind", VALUES, ids=lambda kind: kind.__name__)
def test_every_value_comes_back_from_the_journal_as_it_was(kind: type[Value]) -> None:
    @settings(max_examples=15, derandomize=True, deadline=None)
    @given(values(kind))
    def comes_back(value: Value) -> None:
        data = value.model_dump(mode="json")
        row = read_line(write_line(Row(seq=0, phase="result", kind="act", at=0.0, data=data)))
        again = kind.model_validate(row.data)
        assert again == value
        assert again.digest() == value.digest()
        assert kind.model_validate_json(value.model_dump_json()) == value

    comes_back()
