"""Do the tables say what the journals say, and nothing twice?"""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from agents.domain.errors import Misconfigured
from agents.domain.events import Row
from analytics import warehouse
from analytics.warehouse import ingest, query
from tasks.journal import write_line

PLACE = "engineer/lead_engineer/1"


def pin(source="live", item="parser", variant="plain"):
    inputs = {"cycle": 1, "item": item, "attempt": 1, "base": "b" * 40, "variant": variant, "model": "m"}
    return "fact", "cycle", "", {"mission": "clock", "root": "c" * 40, "pin": {**inputs, "source": source}}


def ask(place=PLACE, source="live", micros=900, role="lead_engineer"):
    worst = {"worst_prompt": 100, "worst_completion": 4096, "worst_micros": micros}
    return "intent", "think", place, {"item": "parser", "role": role, "model": "m", "source": source, **worst}


def reply(place=PLACE, source="live", micros=40, text="SUBMIT: done"):
    usage = {"prompt": 10, "cached": 4, "completion": 5, "reasoning": 2}
    said = {"text": text, "usage": usage, "micros": micros, "source": source, "model": "m-2", "seconds": 1.5}
    return "result", "think", place, said


def end(ending="merged"):
    return "result", "end", "end", {"result": {"ending": ending, "commit": "d" * 40, "steps": 2, "verdict": "e" * 64}}


def lines(*rows):
    return [
        write_line(Row(seq=seq, phase=phase, kind=kind, place=place, at=1000.0 + seq, data=data))
        for seq, (phase, kind, place, data) in enumerate(rows)
    ]


def write(home, *rows, cycle=1, folder="clock-0a1b2c3d"):
    path = home / "journals" / folder / f"{cycle:06d}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(lines(*rows)))
    return path


def ask_for(home, sql):
    ingest(home)
    columns, rows = query(home, sql)
    return [dict(zip(columns, row, strict=True)) for row in rows]


def one(home, sql):
    (row,) = ask_for(home, sql)
    return row


def test_what_is_in_stays_in_once_when_it_is_ingested_twice(tmp_path):
    write(tmp_path, pin(), ask(), reply())
    assert ingest(tmp_path) == warehouse.Ingested(files=1, rows_read=3, rows_new=3)
    assert ingest(tmp_path) == warehouse.Ingested(files=1, rows_read=0, rows_new=0)
    assert query(tmp_path, "SELECT event FROM events ORDER BY seq")[1] == [(f"clock-0a1b2c3d/1/{n}",) for n in range(3)]


def test_nothing_to_ingest_makes_empty_tables(tmp_path):
    write(tmp_path, pin()).rename(tmp_path / "journals" / "clock-0a1b2c3d" / "000001-moved-away.jsonl")
    assert ingest(tmp_path).files == 0
    assert query(tmp_path, "SELECT * FROM cost_per_verified_item")[1] == []


def test_a_torn_last_line_is_read_when_it_is_whole(tmp_path):
    path = write(tmp_path, pin(), ask(), reply())
    whole = path.read_bytes()
    for cut in (1, 20, 200):
        path.write_bytes(whole[:-cut])
        assert ingest(tmp_path).broken == ()
        assert one(tmp_path, "SELECT count(*) AS n FROM events")["n"] == 2
    path.write_bytes(whole)
    assert ingest(tmp_path).rows_new == 1


def test_a_flipped_byte_is_reported_with_file_and_line_and_what_stands_before_it_is_in(tmp_path):
    path = write(tmp_path, pin(), ask(), reply(), end())
    other = write(tmp_path, pin(), cycle=2)
    text = path.read_bytes()
    path.write_bytes(text.replace(b"SUBMIT", b"SUBMIS"))
    done = ingest(tmp_path)
    assert [(b.file, b.line) for b in done.broken] == [(str(path), 3)]
    assert "checksum" in done.broken[0].reason
    assert done.rows_new == 2 + len(other.read_bytes().splitlines())
    path.write_bytes(text)
    assert ingest(tmp_path).rows_new == 2


def test_a_row_that_does_not_belong_where_it_stands_is_damage(tmp_path):
    path = write(tmp_path, pin(), ask())
    path.write_bytes(path.read_bytes() * 2)
    assert ingest(tmp_path).broken[0].reason == "row 0 stands where row 2 belongs"


@pytest.mark.parametrize(("change", "reason"), [({"format": 2}, "format 2"), ({"kind": "gossip"}, "not a row")])
def test_a_sealed_line_that_this_lra_does_not_know_is_reported(tmp_path, change, reason):
    path = write(tmp_path, pin())
    row = Row.model_construct(**{**Row(seq=1, phase="fact", kind="end", at=1.0).model_dump(), **change})
    path.write_bytes(path.read_bytes() + write_line(row))
    assert reason in ingest(tmp_path).broken[0].reason


def test_text_that_databases_dislike_comes_through(tmp_path):
    write(tmp_path, pin(), ask(), reply(text="quote ' \" \\ nul \0 line\n\u2028 é 🙂 half \ud800 NaN Infinity"))
    text = json.loads(one(tmp_path, "SELECT data FROM events WHERE seq = 2")["data"])["text"]
    assert text.startswith("quote ' \" \\ nul \0 line\n\u2028 é 🙂 half ")


def test_a_number_that_json_does_not_know_is_damage_and_stops_nothing_else(tmp_path):
    path = write(tmp_path, pin(), reply(micros=7))
    body = path.read_bytes().splitlines()[1].replace(b'"micros":7', b'"micros":NaN').rpartition(b',"sum"')[0] + b"}"
    seal = hashlib.sha256(body).hexdigest()[:16].encode()
    path.write_bytes(lines(pin())[0] + body[:-1] + b',"sum":"' + seal + b'"}\n')
    write(tmp_path, pin(), cycle=2)
    done = ingest(tmp_path)
    assert (done.rows_new, [(b.line, b.reason[:3]) for b in done.broken]) == (2, [(2, "NaN")])


def test_a_home_with_an_awkward_name_works(tmp_path):
    home = tmp_path / "it's a [h]ome* é"
    write(home, pin())
    assert one(home, "SELECT mission FROM cycles") == {"mission": "clock"}


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_a_replaced_journal_replaces_its_rows(tmp_path, rows):
    write(tmp_path, pin(item="old"), ask(), reply())
    ingest(tmp_path)
    write(tmp_path, *[pin(item="new"), ask(), reply()][:rows])
    assert one(tmp_path, "SELECT item FROM cycles") == {"item": "new"}
    assert one(tmp_path, "SELECT count(*) AS n FROM events") == {"n": rows}


def test_a_call_in_flight_at_a_crash_is_possibly_billed_at_its_worst_and_its_repeat_is_counted_once(tmp_path):
    write(tmp_path, pin(), ask(), ask(), reply())
    calls = ask_for(tmp_path, "SELECT * FROM model_calls ORDER BY happened_at")
    assert [(c["possibly_billed"], c["micros"], c["worst_micros"], c["worst_tokens"]) for c in calls] == [
        (True, None, 900, 4196),
        (False, 40, None, None),
    ]
    assert [(c["item"], c["role"], c["place"]) for c in calls] == [("parser", "lead_engineer", PLACE)] * 2
    paid = one(tmp_path, "SELECT sum(micros) AS paid, sum(possibly_billed_micros) AS perhaps FROM spend")
    assert paid == {"paid": 40, "perhaps": 900}


def test_a_call_that_nothing_follows_is_possibly_billed(tmp_path):
    write(tmp_path, pin(), ask(), reply(), ask(place="engineer/lead_engineer/2", micros=None))
    last = ask_for(tmp_path, "SELECT * FROM model_calls ORDER BY happened_at")[-1]
    assert (last["possibly_billed"], last["worst_micros"], last["worst_tokens"]) == (True, None, 4196)


@pytest.mark.parametrize("source", ["recorded", "scripted"])
def test_replies_that_no_model_gave_are_never_money(tmp_path, source):
    write(tmp_path, pin(source), ask(source=source), reply(source=source), ask(PLACE + "0", source), end())
    spent = one(tmp_path, "SELECT * FROM spend WHERE model_calls > 0")
    assert (spent["source"], spent["micros"], spent["prompt_tokens"], spent["unpriced_calls"]) == (source, 0, 10, 0)
    assert one(tmp_path, "SELECT count(*) AS n FROM model_calls WHERE possibly_billed") == {"n": 0}
    cost = one(tmp_path, "SELECT * FROM cost_per_verified_item")
    assert (cost["verified_items"], cost["source"], cost["micros_per_verified_item"]) == (1, source, None)


def test_a_call_without_a_price_is_unpriced_and_never_zero(tmp_path):
    write(tmp_path, pin(), ask(), reply(micros=None), end())
    row = one(tmp_path, "SELECT micros, unpriced_calls FROM spend")
    assert row == one(tmp_path, "SELECT micros, unpriced_calls FROM cycles") == {"micros": None, "unpriced_calls": 1}
    assert one(tmp_path, "SELECT micros_per_verified_item AS m FROM cost_per_verified_item") == {"m": None}


def test_failed_attempts_are_part_of_what_a_verified_item_costs(tmp_path):
    write(tmp_path, pin(), ask(), reply(micros=100), end("refused"), cycle=1)
    write(tmp_path, pin(), ask(), reply(micros=50), end("merged"), cycle=2)
    cost = one(tmp_path, "SELECT * FROM cost_per_verified_item")
    assert (cost["cycles"], cost["verified_items"], cost["micros_per_verified_item"]) == (2, 1, 150)
    item = one(tmp_path, "SELECT * FROM items")
    assert (item["verified"], item["cycles"], item["last_ending"], item["tokens"]) == (True, 2, "merged", 30)


def test_an_open_cycle_has_no_ending_and_no_verified_item(tmp_path):
    write(tmp_path, pin())
    cycle = one(tmp_path, "SELECT * FROM cycles")
    assert (cycle["ending"], cycle["commit"], cycle["micros"], cycle["model_calls"]) == (None, None, 0, 0)
    assert one(tmp_path, "SELECT verified FROM items") == {"verified": False}


def test_acts_and_verdicts_are_tables(tmp_path):
    act = {"move": {"kind": "write", "path": "a.py"}, "tree": "f" * 40, "observation": {"text": "done", "ok": True}}
    reasons = [{"kind": "acceptance", "message": "red", "path": ""}]
    verdict = {"decision": "fail", "candidate_tree": "f" * 40, "reasons": reasons, "fail_to_pass": ["t"]}
    write(
        tmp_path,
        pin(),
        ("result", "act", PLACE, {**act, "seconds": 0.5}),
        ("result", "verify", "verify", {"verdict": verdict}),
    )
    done = one(tmp_path, "SELECT move, path, ok, seconds, source, item FROM acts")
    assert list(done.values()) == ["write", "a.py", True, 0.5, "live", "parser"]
    said = one(tmp_path, "SELECT decision, reasons, fail_to_pass, seconds, source FROM verdicts")
    assert list(said.values()) == ["fail", ["acceptance"], 1, None, "live"]


def test_every_table_and_view_is_described_and_has_its_source(tmp_path):
    ingest(tmp_path)
    for kind in ("table", "view", "column"):
        mute = f"SELECT {kind}_name FROM duckdb_{kind}s() WHERE NOT internal AND comment IS NULL AND "
        mute += "(table_name = 'events' OR column_name IN ('source', 'micros'))" if kind == "column" else "true"
        assert query(tmp_path, mute)[1] == []
    views = {row[0] for row in query(tmp_path, "SELECT view_name FROM duckdb_views() WHERE NOT internal")[1]}
    sourced = query(tmp_path, "SELECT table_name FROM duckdb_columns() WHERE column_name = 'source'")[1]
    assert views
    assert views == {row[0] for row in sourced}


def test_a_snapshot_open_in_this_process_does_not_make_a_query_stale(tmp_path):
    path = write(tmp_path, pin())
    ingest(tmp_path)
    with duckdb.connect(str(tmp_path / "metrics" / "snapshot.duckdb"), read_only=True):
        path.write_bytes(b"".join(lines(pin(), ask())))
        assert one(tmp_path, "SELECT count(*) AS n FROM events") == {"n": 2}


def test_a_query_before_the_first_ingest_says_what_to_run(tmp_path):
    with pytest.raises(Misconfigured, match="run lra metrics ingest"):
        query(tmp_path, "SELECT 1")


@pytest.mark.parametrize(
    "sql",
    [
        "SELEC 1",
        "",
        "SELECT * FROM nowhere",
        "DELETE FROM events",
        "COPY events TO 'out.csv'",
        "SELECT * FROM read_text('/etc/hostname')",
        "SET enable_external_access = true",
        "INSTALL httpfs",
        "SELECT * FROM 'https://localhost:9/a.parquet'",
    ],
)
def test_a_query_that_is_wrong_or_more_than_reading_is_refused(tmp_path, sql):
    ingest(tmp_path)
    with pytest.raises(Misconfigured, match="SQL"):
        query(tmp_path, sql)


def test_no_extension_is_ever_fetched(tmp_path):
    ingest(tmp_path)
    settings = "SELECT value FROM duckdb_settings() WHERE name LIKE 'auto%_known_extensions'"
    assert query(tmp_path, settings)[1] == [("false",), ("false",)]


def test_the_verb_answers_people_and_programs(tmp_path):
    write(tmp_path, pin(), ask(), reply())
    lra = [str(Path(sys.executable).with_name("lra")), "metrics"]
    ran = {"env": {**os.environ, "LRA_HOME": str(tmp_path)}, "text": True, "cwd": tmp_path}
    assert subprocess.check_output([*lra, "ingest"], **ran) == "1 journals: 3 rows read, 3 new\n"
    said = subprocess.check_output([*lra, "sql", "SELECT role, micros, 0.5 AS half FROM spend", "--json"], **ran)
    assert json.loads(said) == {"columns": ["role", "micros", "half"], "rows": [["lead_engineer", 40, 0.5]]}
    assert "lead_engineer" in subprocess.check_output([*lra, "sql", "SELECT role FROM spend"], **ran)
