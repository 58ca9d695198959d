"""Can every move be called as a tool, and is a call that is no move refused?"""

from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from agents.domain.errors import AskAgain
from agents.domain.events import ToolCall
from agents.domain.moves import Check, Delete, Edit, GiveUp, Hunk, List, Move, Read, Run, Search, Submit, Write
from agents.moves_tools import KINDS, parse, schemas

TEXT = st.text(max_size=20)
LINE = st.one_of(st.none(), st.integers(1, 999))
MOVES = st.one_of(
    st.builds(Read, path=TEXT, first=LINE, last=LINE),
    st.builds(List, path=TEXT),
    st.builds(Search, pattern=TEXT),
    st.builds(Edit, path=TEXT, hunks=st.lists(st.builds(Hunk, search=TEXT, replace=TEXT), max_size=3).map(tuple)),
    st.builds(Write, path=TEXT, text=TEXT),
    st.builds(Delete, path=TEXT),
    st.builds(Run, command=TEXT),
    st.just(Check()),
    st.builds(Submit, summary=TEXT),
    st.builds(GiveUp, reason=TEXT),
)
PARAMETERS = {one["function"]["name"]: one["function"]["parameters"] for one in schemas()}


def test_every_kind_of_move_has_one_tool() -> None:
    kinds = [kind.model_fields["kind"].default for kind in get_args(get_args(Move)[0])]
    assert [one["function"]["name"] for one in schemas()] == kinds
    assert len(set(kinds)) == len(KINDS)


@pytest.mark.parametrize("tool", schemas(), ids=lambda tool: tool["function"]["name"])
def test_a_tool_is_described_by_a_closed_and_valid_schema(tool) -> None:
    Draft202012Validator.check_schema(tool["function"]["parameters"])
    assert tool["type"] == "function"
    assert tool["function"]["description"]
    assert tool["function"]["parameters"]["type"] == "object"
    assert tool["function"]["parameters"]["additionalProperties"] is False
    assert "kind" not in tool["function"]["parameters"]["properties"]


@settings(max_examples=150, derandomize=True, deadline=None)
@given(MOVES)
def test_a_move_survives_the_wire_and_fits_its_schema(move: Move) -> None:
    call = ToolCall(name=move.kind, arguments=move.model_dump_json(exclude={"kind"}))
    assert parse((call,)) == (move,)
    Draft202012Validator(PARAMETERS[move.kind]).validate(move.model_dump(mode="json", exclude={"kind"}))


def test_calls_come_in_their_order_and_need_no_arguments_where_there_are_none() -> None:
    calls = (ToolCall(name="list", arguments="{}"), ToolCall(name="check", arguments=""))
    assert parse(calls) == (List(), Check())


@pytest.mark.parametrize(
    ("name", "arguments", "why"),
    [
        ("explode", "{}", "explode"),
        ("read", "{}", "Field required"),
        ("read", '{"path": "a", "mode": "x"}', "Extra inputs are not permitted"),
        ("read", '{"path": 1}', "valid string"),
        ("edit", '{"path": "a", "hunks": [{"search": "x"}]}', "Field required"),
        ("write", '{"path": "a", "text": "x"', "delimiter"),
        ("write", "null", "mapping"),
        ("write", '["a"]', "mapping"),
        ("write", "[" * 100_000, "recursion"),
        ("", "{}", "does not match any of the expected tags"),
    ],
)
def test_a_call_that_is_no_move_is_refused_with_the_reason(name: str, arguments: str, why: str) -> None:
    with pytest.raises(AskAgain, match=why) as refused:
        parse((ToolCall(name="check", arguments="{}"), ToolCall(name=name, arguments=arguments)))
    assert f"the call {name}(" in str(refused.value)
    assert len(str(refused.value)) < 600


def test_the_name_of_a_call_cannot_be_changed_by_its_arguments() -> None:
    with pytest.raises(AskAgain):
        parse((ToolCall(name="read", arguments='{"kind": "write", "path": "a", "text": "x"}'),))
