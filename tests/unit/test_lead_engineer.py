"""What does the Lead Engineer ask, and what is kept of a long talk?"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.domain.budget import Usage
from agents.domain.cycle import Knobs
from agents.domain.errors import AskAgain
from agents.domain.events import Reply, ToolCall
from agents.domain.moves import Check, Read
from agents.lead_engineer import KEPT, TALK_CHARS, Talk, moves_of, opening
from agents.prompt import text_of

KNOBS = Knobs(max_tokens=77, temperature=0.5)


def said(text: str = "", *calls: ToolCall) -> Reply:
    return Reply(text=text, tool_calls=calls, usage=Usage(), source="live", model="m")


@pytest.mark.parametrize("wire", ["text", "tools"])
def test_an_attempt_opens_with_the_rules_its_moves_and_the_briefing(wire) -> None:
    request = opening("the $briefing", wire, KNOBS, 1).request()
    assert [message.role for message in request.messages] == ["system", "user"]
    assert request.messages[0].content.startswith("You are the Lead Engineer")
    assert request.messages[0].content.endswith(text_of(f"moves_{wire}"))
    assert request.messages[1].content == "the $briefing"
    assert (request.tools, request.temperature, request.max_tokens) == (wire == "tools", 0.5, 77)


def test_the_same_talk_asks_the_same_again() -> None:
    def digest() -> str:
        return opening("b", "text", KNOBS, 1).heard(said("a")).told("o").request().digest()

    assert digest() == digest()


def test_what_was_said_and_seen_alternates() -> None:
    call = ToolCall(name="check", arguments="{}")
    talk = opening("b", "tools", KNOBS, 1).heard(said("x", call)).told("seen").heard(said()).told("again")
    assert [message.role for message in talk.messages[2:]] == ["assistant", "user", "assistant", "user"]
    assert [message.content for message in talk.messages[2:]] == [
        'x\n{"arguments":"{}","name":"check"}',
        "seen",
        "(nothing)",
        "again",
    ]


@settings(max_examples=50, derandomize=True, deadline=None)
@given(st.lists(st.integers(0, TALK_CHARS // 4), min_size=1, max_size=12))
def test_a_long_talk_loses_its_oldest_steps_and_never_its_opening(sizes: list[int]) -> None:
    talk = opening("b", "text", KNOBS, 1)
    told: list[str] = []
    for number, size in enumerate(sizes):
        told += [f"{number}" + "x" * size, f"{number}" + "y" * size]
        talk = talk.heard(said(told[-2])).told(told[-1])
    contents = [message.content for message in talk.messages]
    assert talk.messages[:2] == opening("b", "text", KNOBS, 1).messages
    assert contents[-KEPT:] == [*contents[:2], *told][-KEPT:]
    left_out = [content == "(left out: an earlier step)" for content in contents[2:]]
    assert left_out == sorted(left_out, reverse=True)
    assert [one for one, gone in zip(contents[2:], left_out, strict=True) if not gone] == told[sum(left_out) :]
    assert sum(map(len, contents)) <= TALK_CHARS or sum(left_out) == max(0, len(told) - KEPT)


def test_a_short_talk_is_kept_whole() -> None:
    talk: Talk = opening("b", "text", KNOBS, 1)
    for number in range(20):
        talk = talk.heard(said(f"a{number}")).told(f"o{number}")
    assert len(talk.messages) == 42
    assert not any("left out" in message.content for message in talk.messages)


def test_moves_are_called_or_written_and_calls_win() -> None:
    assert moves_of(said("READ: a")) == (Read(path="a"),)
    assert moves_of(said("READ: a", ToolCall(name="check", arguments="{}"))) == (Check(),)
    with pytest.raises(AskAgain, match="holds no move"):
        moves_of(said("I am done."))


def test_what_failed_before_makes_the_next_request_warmer_up_to_a_limit():
    first = opening("b", "text", KNOBS, 1)
    repeated = first.heard(said("a")).told("red").heard(said("a")).told("red")
    assert first.heard(said("a")).told("red").request().temperature == KNOBS.temperature
    assert repeated.request().temperature == opening("b", "text", KNOBS, 2).request().temperature == 0.7
    assert opening("b", "text", KNOBS, 40).request().temperature == 1.0
    assert opening("b", "text", KNOBS.model_copy(update={"temperature": 1.5}), 3).request().temperature == 1.5
