"""Do scripted and recorded replies come in order, under their own label, and never go beyond what was written?"""

import json
from pathlib import Path
from typing import Any

import pytest

from agents.domain.budget import Usage
from agents.domain.errors import BrokenRecord, Misconfigured, TryLater
from agents.domain.events import Key, Message, Reply, Request
from agents.models.model import Call, Model
from agents.models.recorded import Recorded
from agents.models.scripted import Scripted
from tasks.journal import Journal, step

ROLE = "lead_engineer"


def asked(text: str = "hello") -> Request:
    return Request(messages=(Message(role="user", content=text),))


def call(ordinal: int, item: str = "one", role: str = ROLE) -> Call:
    return Call(role, item, ordinal)


def entry(text: str = "", item: str = "one", role: str = ROLE, **more: Any) -> dict[str, Any]:
    return {"role": role, "item": item, "text": text, **more}


def script(folder: Path, *entries: dict[str, Any]) -> Scripted:
    path = folder / "script.jsonl"
    path.write_text("\n\n".join(json.dumps(one, ensure_ascii=False) for one in entries) + "\n", encoding="utf-8")
    return Scripted(path)


def test_a_script_is_read_in_order_for_each_role_and_item(tmp_path: Path) -> None:
    model = script(tmp_path, entry("a"), entry("x", "two"), entry("b"), entry("p", role="planner"))
    assert [model.reply(asked(), call(n)).text for n in (0, 1)] == ["a", "b"]
    assert model.reply(asked(), call(0, "two")).text == "x"
    assert model.reply(asked(), call(0, role="planner")).text == "p"


def test_a_resumed_run_goes_on_where_the_interrupted_one_was(tmp_path: Path) -> None:
    script(tmp_path, entry("a"), entry("b"), entry("c"))
    assert Scripted(tmp_path / "script.jsonl").reply(asked(), call(2)).text == "c"


def test_a_scripted_reply_is_labelled_and_has_no_price(tmp_path: Path) -> None:
    model: Model = script(tmp_path, entry("a", usage={"prompt": 5, "completion": 2}, delay_s=0.01))
    reply = model.reply(asked(), call(0))
    assert (reply.source, reply.model, reply.micros) == ("scripted", "scripted:script.jsonl", None)
    assert (reply.usage, reply.seconds) == (Usage(prompt=5, completion=2), 0.01)
    assert (model.source, model.price(Usage(prompt=10)), model.calls_tools()) == ("scripted", None, False)


@pytest.mark.parametrize("item", ["one", "two"])
def test_a_script_that_is_used_up_names_role_and_item(tmp_path: Path, item: str) -> None:
    model = script(tmp_path, entry("a"))
    with pytest.raises(Misconfigured, match=f"call 2 of role '{ROLE}' for item '{item}' needs another line"):
        model.reply(asked(), call(1, item))


def test_scripted_errors_come_once_each_before_their_answer(tmp_path: Path) -> None:
    model = script(
        tmp_path,
        entry("a"),
        entry(error={"status": 429, "retry_after": 2}),
        entry(error={"status": 503}),
        entry("b"),
    )
    assert model.reply(asked(), call(0)).text == "a"
    for status, wait in ((429, 2.0), (503, None)):
        with pytest.raises(TryLater, match=f"scripted error {status}") as later:
            model.reply(asked(), call(1))
        assert later.value.retry_after_s == wait
    assert [model.reply(asked(), call(n)).text for n in (1, 0, 1)] == ["b", "a", "b"]


def test_an_error_at_the_end_of_a_script_is_played_too(tmp_path: Path) -> None:
    model = script(tmp_path, entry(error={"status": 500}))
    with pytest.raises(TryLater, match="500"):
        model.reply(asked(), call(0))
    with pytest.raises(Misconfigured, match="and it has 0"):
        model.reply(asked(), call(0))


@pytest.mark.parametrize("line", ["not json", "[]", '{"role": "x"}', '{"role": "x", "item": "y", "txt": "z"}'])
def test_a_bad_line_is_named_by_file_and_number(tmp_path: Path, line: str) -> None:
    path = tmp_path / "script.jsonl"
    path.write_text(f"{json.dumps(entry('a'))}\n\n{line}\n")
    with pytest.raises(Misconfigured, match=r"script\.jsonl, line 3: "):
        Scripted(path)


@pytest.mark.parametrize("content", [None, b"\xff\xfe"])
def test_a_script_that_cannot_be_read_is_the_operators(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "script.jsonl"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(Misconfigured, match=r"cannot read the script .*script\.jsonl"):
        Scripted(path)


@pytest.mark.parametrize("odd", ["a\u2028b", "a\x85b", "a\x0cb"])
def test_a_script_may_hold_any_letter(tmp_path: Path, odd: str) -> None:
    assert script(tmp_path, entry(odd)).reply(asked(), call(0)).text == odd


def record(path: Path, *pairs: tuple[str, str], item: str = "one") -> None:
    """Write a journal as a run does: for each pair what was asked and what was answered."""
    journal = Journal(path, {"pin": path.name})
    for number, (question, said) in enumerate(pairs):
        reply = Reply(text=said, usage=Usage(prompt=3), micros=9, source="live", model="openai/m", seconds=1.5)
        key = Key("think", f"engineer/{ROLE}/{number}", asked(question).digest())
        step(journal, key, lambda reply=reply: reply.model_dump(mode="json"), lambda: {"role": ROLE, "item": item})
        step(journal, Key("act", f"engineer/act/{number}", "x"), dict)
    journal.close()


def test_a_recording_replays_its_journals_in_order(tmp_path: Path) -> None:
    record(tmp_path / "000001.jsonl", ("q1", "a1"), ("q2", "a2"))
    record(tmp_path / "000002.jsonl", ("q1", "b1"), item="two")
    record(tmp_path / "000003.jsonl", ("q3", "a3"))
    model = Recorded(tmp_path)
    assert [model.reply(asked(f"q{n + 1}"), call(n)).text for n in range(3)] == ["a1", "a2", "a3"]
    assert model.reply(asked("q1"), call(0, "two")).text == "b1"


def test_a_replayed_reply_is_labelled_as_recorded_and_otherwise_as_it_was(tmp_path: Path) -> None:
    record(tmp_path / "1.jsonl", ("q", "a"))
    model: Model = Recorded(tmp_path)
    reply = model.reply(asked("q"), call(0))
    assert (reply.source, reply.model, reply.usage, reply.seconds) == ("recorded", "openai/m", Usage(prompt=3), 1.5)
    assert (model.name, model.source, model.price(Usage(prompt=9)), model.calls_tools()) == (
        "openai/m",
        "recorded",
        None,
        False,
    )


def test_what_a_person_wrote_stays_scripted_in_a_replay(tmp_path: Path) -> None:
    record(tmp_path / "1.jsonl", ("q", "a"))
    (tmp_path / "1.jsonl").write_text((tmp_path / "1.jsonl").read_text().replace('"live"', '"scripted"'))
    model = Recorded(tmp_path)
    assert (model.source, model.reply(asked("q"), call(0)).source) == ("scripted", "scripted")


def test_another_question_than_was_recorded_is_drift(tmp_path: Path) -> None:
    record(tmp_path / "1.jsonl", ("q", "a"))
    with pytest.raises(BrokenRecord, match=f"call 1 of {ROLE} for item 'one' asks something else now"):
        Recorded(tmp_path).reply(asked("Q"), call(0))


@pytest.mark.parametrize(("ordinal", "item"), [(1, "one"), (0, "two")])
def test_a_call_that_was_never_recorded_is_drift(tmp_path: Path, ordinal: int, item: str) -> None:
    record(tmp_path / "1.jsonl", ("q", "a"))
    with pytest.raises(BrokenRecord, match=f"call {ordinal + 1} of {ROLE} for item '{item}' was never made"):
        Recorded(tmp_path).reply(asked("q"), call(ordinal, item))


def test_a_call_in_flight_when_the_recording_broke_off_is_no_reply(tmp_path: Path) -> None:
    record(tmp_path / "1.jsonl", ("q1", "a1"))
    journal = Journal(tmp_path / "1.jsonl", {"pin": "1.jsonl"})
    journal.intend(Key("think", "engineer/lead_engineer/1", "x"), {"role": ROLE, "item": "one"})
    journal.close()
    with pytest.raises(BrokenRecord, match="was never made"):
        Recorded(tmp_path).reply(asked("q2"), call(1))


@pytest.mark.parametrize("odd", ["a\u2028b", "a\x85b", "\ud800", "\x00\x0c"])
def test_a_recording_may_hold_any_letter(tmp_path: Path, odd: str) -> None:
    record(tmp_path / "1.jsonl", ("q", odd))
    assert Recorded(tmp_path).reply(asked("q"), call(0)).text == odd


def test_a_folder_without_a_recording_is_the_operators(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="holds no"):
        Recorded(tmp_path)
    record(tmp_path / "1.jsonl")
    with pytest.raises(Misconfigured, match="no recorded model call"):
        Recorded(tmp_path)


@pytest.mark.parametrize("line", ["{", "[]", "{}", '{"kind":"think","phase":"result","place":"x","data":{}}'])
def test_a_damaged_recording_is_named_by_file_and_line(tmp_path: Path, line: str) -> None:
    record(tmp_path / "1.jsonl", ("q", "a"))
    whole = (tmp_path / "1.jsonl").read_text()
    (tmp_path / "1.jsonl").write_text(whole + line + "\n")
    with pytest.raises(BrokenRecord, match=rf"1\.jsonl, line {whole.count(chr(10)) + 1} is no row"):
        Recorded(tmp_path)
