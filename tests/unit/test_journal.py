"""Is a step written down before anyone sees its result, and never done twice?"""

import json
import resource
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.domain.budget import Usage
from agents.domain.errors import BrokenRecord, Misconfigured
from agents.domain.events import Key, Reply
from tasks.journal import Journal, read, step, tally

PIN = {"mission": "m", "root": "r", "pin": {"cycle": 1}}
ONE, TWO = Key("act", "engineer/act/0.0", "aa"), Key("act", "engineer/act/0.1", "bb")
ASK = Key("think", "engineer/lead_engineer/0", "cc")
DONE = {"tree": "t", "seconds": 2.0}
INTENT = {"role": "lead_engineer", "source": "live", "worst_prompt": 50, "worst_completion": 7, "worst_micros": 9}
ANSWER = Reply(text="hi", usage=Usage(prompt=5, completion=1), micros=3, source="live", model="x")
REPLY = ANSWER.model_dump(mode="json")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "journals" / "m" / "000001.jsonl"


@contextmanager
def opened(path):
    journal = Journal(path, PIN)
    try:
        yield journal
    finally:
        journal.close()


def write(path, *keys):
    with opened(path) as journal:
        for key in keys:
            step(journal, key, lambda: DONE)


@contextmanager
def room_for(size):
    """Let no file grow beyond `size` bytes meanwhile, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_finished_step_is_not_run_again_by_the_same_run_or_the_next(path):
    ran = []
    for _ in range(3):
        with opened(path) as journal:
            for _ in range(2):
                assert step(journal, ONE, lambda: ran.append(1) or {"seconds": len(ran)}) == {"seconds": 1}
    assert ran == [1]


def test_a_step_that_failed_is_run_again_and_has_two_intents_and_one_result(path):
    with opened(path) as journal, pytest.raises(ZeroDivisionError):
        step(journal, ONE, lambda: {"n": 1 // 0})
    write(path, ONE)
    phases = [row.phase for row in read(path)[0] if row.place == ONE.place]
    assert phases == ["intent", "intent", "result"]


def test_the_intent_is_on_the_disk_before_the_step_runs_and_the_result_before_it_is_seen(path):
    with opened(path) as journal:
        result = step(journal, ONE, lambda: {"seconds": 0, "rows": len(read(path)[0])})
        assert result["rows"] == 2
        assert read(path)[0][-1].data == result


@settings(max_examples=30, deadline=None)
@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda x: st.lists(x) | st.tuples(x, x)))
def test_the_first_run_sees_the_value_that_every_later_run_reads(tmp_path_factory, value):
    path = tmp_path_factory.mktemp("j") / "1.jsonl"
    with opened(path) as journal:
        first = step(journal, ONE, lambda: {"seconds": 0, "value": value})
    with opened(path) as journal:
        assert journal.find(ONE) == first


def test_text_that_no_utf8_file_can_hold_comes_back(path):
    with opened(path) as journal:
        step(journal, ONE, lambda: {"seconds": 0, "text": "a\udc80\u2028\r\x00b"})
    with opened(path) as journal:
        assert journal.find(ONE) == {"seconds": 0, "text": "a\udc80\u2028\r\x00b"}


@pytest.mark.parametrize("key", [ONE._replace(inputs="other"), ONE._replace(kind="verify")])
def test_a_step_with_other_inputs_than_recorded_is_refused_and_not_run(path, key):
    write(path, ONE)
    with opened(path) as journal, pytest.raises(BrokenRecord, match=r"row 2: step engineer/act/0.0 .*other inputs"):
        step(journal, key, lambda: pytest.fail("it ran"))


def test_a_line_torn_at_any_byte_is_left_out_and_the_rest_goes_on(path):
    write(path, ONE, TWO)
    whole = path.read_bytes()
    start = whole[:-1].rindex(b"\n") + 1
    for cut in range(start, len(whole)):
        path.write_bytes(whole[:cut])
        write(path, ONE, TWO)
        assert [row.place for row in read(path)[0] if row.phase == "result"] == [ONE.place, TWO.place]


@pytest.mark.parametrize("content", [b"", b'{"format":1,"se'])
def test_a_journal_that_died_at_its_birth_is_started_again(path, content):
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    write(path, ONE)
    assert [row.seq for row in read(path)[0]] == [0, 1, 2]


@pytest.mark.parametrize("line", range(5))
def test_a_flipped_bit_anywhere_but_in_a_torn_line_is_refused_by_file_and_line(path, line):
    write(path, ONE, TWO)
    lines = path.read_bytes().splitlines(keepends=True)
    for at in range(0, len(lines[line]) - 1, 7):
        damaged = bytearray(lines[line])
        damaged[at] ^= 1
        path.write_bytes(b"".join([*lines[:line], bytes(damaged), *lines[line + 1 :]]))
        with pytest.raises(BrokenRecord, match=rf"000001.jsonl, line {line + 1} "):
            Journal(path, PIN)


@pytest.mark.parametrize("keep", [(0, 2, 3, 4), (0, 1, 1, 2), (0, 2, 1)])
def test_a_line_that_is_missing_repeated_or_out_of_place_is_refused(path, keep):
    write(path, ONE, TWO)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[at] for at in keep))
    with pytest.raises(BrokenRecord, match="stands where"):
        Journal(path, PIN)


def test_the_journal_of_another_cycle_is_refused(path):
    write(path, ONE)
    with pytest.raises(BrokenRecord, match="belongs to another cycle"):
        Journal(path, {**PIN, "root": "other"})


def test_a_write_that_fails_leaves_no_trace_and_the_step_does_not_run(path):
    write(path, ONE)
    before = path.read_bytes()
    with opened(path) as journal, room_for(len(before) + 20), pytest.raises(Misconfigured, match="Make room"):
        step(journal, TWO, lambda: pytest.fail("it ran"))
    assert path.read_bytes() == before
    write(path, ONE, TWO)


def test_a_full_disk_after_a_torn_line_leaves_whole_lines_alone(path):
    write(path, ONE)
    before = path.read_bytes()
    path.write_bytes(before + b'{"torn":' * 9)
    with opened(path) as journal, room_for(len(before) + 20), pytest.raises(Misconfigured):
        step(journal, TWO, lambda: DONE)
    assert path.read_bytes() == before


def test_an_end_is_written_once(path):
    for _ in range(2):
        with opened(path) as journal:
            journal.end({"result": {}})
    assert [row.kind for row in read(path)[0]] == ["cycle", "end"]


def test_an_answered_call_counts_as_the_provider_counted_it(path):
    with opened(path) as journal:
        step(journal, ASK, lambda: REPLY, lambda: INTENT)
        spend = journal.tally.spend
    assert (spend.usage.total, spend.micros, spend.live, spend.possibly_billed) == (6, 3, 1, 0)
    assert tally(path).spend == spend


def test_a_call_in_flight_at_a_crash_counts_at_its_worst_before_another_is_made(path):
    with opened(path) as journal:
        journal.intend(ASK, INTENT)
        assert journal.tally.spend.possibly_billed == 0
    with opened(path) as journal:
        assert (journal.tally.spend.usage.total, journal.tally.spend.micros) == (57, 9)
        assert journal.tally.spend.possibly_billed == 1


def test_calls_lost_by_several_crashes_count_once_each_for_every_reader(path):
    for _ in range(2):
        with opened(path) as journal:
            journal.intend(ASK, INTENT)
    with opened(path) as journal:
        step(journal, ASK, lambda: REPLY, lambda: INTENT)
        spend = journal.tally.spend
    assert (spend.possibly_billed, spend.live, spend.usage.total) == (2, 1, 2 * 57 + 6)
    with opened(path) as journal:
        assert tally(path).spend == spend == journal.tally.spend


@pytest.mark.parametrize("source", ["recorded", "scripted"])
def test_a_reply_nobody_bills_is_no_loss_and_costs_nothing(path, source):
    with opened(path) as journal:
        journal.intend(ASK, {**INTENT, "source": source})
    with opened(path) as journal:
        step(journal, ASK, lambda: {**REPLY, "source": source}, lambda: {**INTENT, "source": source})
        spend = journal.tally.spend
    assert (spend.micros, spend.possibly_billed, spend.live, getattr(spend, source)) == (0, 0, 0, 1)


def test_the_time_of_acts_and_calls_is_time_worked(path):
    with opened(path) as journal:
        step(journal, ASK, lambda: {**REPLY, "seconds": 3.5}, lambda: INTENT)
        step(journal, ONE, lambda: DONE)
        assert journal.tally.spend.seconds == 5.5


def test_a_tally_names_steps_roles_models_and_the_latest_row(path):
    with opened(path) as journal:
        step(journal, ASK, lambda: REPLY, lambda: INTENT)
        step(journal, ONE, lambda: DONE)
    seen = tally(path)
    assert (seen.steps, seen.calls, seen.models, seen.sources) == (2, {"lead_engineer": 1}, ("x",), ("live",))
    assert (seen.doing, seen.at) == (ONE.place, read(path)[0][-1].at)


def test_every_line_is_json_with_a_checksum_that_people_can_read(path):
    write(path, ONE)
    rows = [json.loads(line) for line in Path(path).read_text().splitlines()]
    assert all(len(row["sum"]) == 16 for row in rows)
