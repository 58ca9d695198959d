"""Is every row in exactly once, whoever crashes, waits, reads or writes at the same time?"""

import random
import signal
import subprocess
import sys
import time

import duckdb
import pytest

from agents.domain.errors import Busy, Misconfigured
from agents.domain.events import Row
from analytics.warehouse import ingest, query
from tasks.journal import write_line

INGEST = [sys.executable, "-c", "import sys, pathlib, analytics.warehouse as w; w.ingest(pathlib.Path(sys.argv[1]))"]


def write(home, rows, cycle=1):
    path = home / "journals" / "clock-0a1b2c3d" / f"{cycle:06d}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    data = {"mission": "clock", "text": "words " * 60}
    row = Row(seq=0, phase="fact", kind="cycle", at=1.0, data=data)
    path.write_bytes(b"".join(write_line(row.model_copy(update={"seq": seq})) for seq in range(rows)))
    return path


def count(home):
    ingest(home)
    return query(home, "SELECT count(*) FROM events")[1][0][0]


def test_ingests_that_are_killed_anywhere_leave_every_row_in_exactly_once(tmp_path):
    for cycle in range(1, 21):
        write(tmp_path, 1000, cycle)
    started = time.perf_counter()
    subprocess.run([*INGEST, str(tmp_path)], check=True)
    whole = time.perf_counter() - started
    for round_ in range(1, 9):
        write(tmp_path, 1000 + 500 * round_, cycle=round_)
        write(tmp_path, 3000, cycle=20 + round_)
        with subprocess.Popen([*INGEST, str(tmp_path)]) as ingesting:
            time.sleep(random.uniform(0.2, 1.0) * whole)
            ingesting.send_signal(signal.SIGKILL)
    expected = sum(1000 + 500 * n for n in range(1, 9)) + 12 * 1000 + 8 * 3000
    assert count(tmp_path) == expected
    repeated = "SELECT event FROM events GROUP BY ALL HAVING count(*) > 1"
    assert query(tmp_path, repeated)[1] == []
    assert {p.name for p in (tmp_path / "metrics").iterdir()} <= {"warehouse.duckdb", "snapshot.duckdb", "ingest.lock"}


def test_two_ingests_at_once_take_turns(tmp_path):
    for cycle in range(1, 11):
        write(tmp_path, 1000, cycle)
    both = [subprocess.Popen([*INGEST, str(tmp_path)]) for _ in range(2)]
    assert [process.wait() for process in both] == [0, 0]
    assert count(tmp_path) == 10_000


def test_a_notebook_in_another_process_stops_nothing_and_keeps_what_it_sees(tmp_path):
    write(tmp_path, 1)
    ingest(tmp_path)
    code = (
        "import duckdb, sys; db = duckdb.connect(sys.argv[1], read_only=True);"
        "count = lambda: print(db.execute('SELECT count(*) FROM events').fetchone()[0], flush=True);"
        "count(); sys.stdin.readline(); count()"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "metrics" / "snapshot.duckdb")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as notebook:
        assert notebook.stdout.readline() == "1\n"
        write(tmp_path, 3)
        assert count(tmp_path) == 3
        assert notebook.communicate("\n")[0] == "1\n"


@pytest.mark.parametrize("damage", [b"", b"this is no database", None])
def test_a_warehouse_that_is_gone_or_damaged_is_rebuilt(tmp_path, damage):
    write(tmp_path, 3)
    ingest(tmp_path)
    file = tmp_path / "metrics" / "warehouse.duckdb"
    if damage is None:
        file.unlink()
    else:
        file.write_bytes(damage)
    assert ingest(tmp_path).rows_new == 3
    assert query(tmp_path, "SELECT count(*) FROM events")[1] == [(3,)]


def test_a_flipped_byte_in_what_a_killed_ingest_left_is_rebuilt(tmp_path):
    write(tmp_path, 50)
    die = "import os, sys, pathlib, analytics.warehouse as w; w._publish = lambda *_: os._exit(9);"
    subprocess.run([sys.executable, "-c", die + "w.ingest(pathlib.Path(sys.argv[1]))", str(tmp_path)])
    log = tmp_path / "metrics" / "warehouse.duckdb.wal"
    content = bytearray(log.read_bytes())
    content[len(content) // 2] ^= 0x40
    log.write_bytes(content)
    assert ingest(tmp_path).rows_new == 50


def test_a_warehouse_of_another_version_is_rebuilt(tmp_path):
    write(tmp_path, 1)
    ingest(tmp_path)
    with duckdb.connect(str(tmp_path / "metrics" / "warehouse.duckdb")) as db:
        db.execute("UPDATE schema_version SET version = 0")
    assert ingest(tmp_path).rows_new == 1


def test_a_snapshot_that_is_gone_or_damaged_is_published_again(tmp_path):
    write(tmp_path, 1)
    ingest(tmp_path)
    (tmp_path / "metrics" / "snapshot.duckdb").write_bytes(b"no database")
    with pytest.raises(Misconfigured, match="lra metrics ingest"):
        query(tmp_path, "SELECT 1")
    assert count(tmp_path) == 1


def test_a_second_ingest_waits_and_then_says_who_is_busy(tmp_path):
    holding = (
        "import sys, filelock; lock = filelock.FileLock(sys.argv[1]); lock.acquire(); print(1, flush=True); input()"
    )
    command = [sys.executable, "-c", holding, str(tmp_path / "metrics" / "ingest.lock")]
    (tmp_path / "metrics").mkdir()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        other.stdout.readline()
        with pytest.raises(Busy, match=r"ingest\.lock"):
            ingest(tmp_path, wait_s=0.1)
        other.communicate("\n")
    assert ingest(tmp_path, wait_s=0.1).files == 0


def test_a_warehouse_that_somebody_opened_is_left_alone(tmp_path):
    ingest(tmp_path)
    holding = "import sys, duckdb; db = duckdb.connect(sys.argv[1]); print(1, flush=True); input()"
    command = [sys.executable, "-c", holding, str(tmp_path / "metrics" / "warehouse.duckdb")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        other.stdout.readline()
        with pytest.raises(Busy, match="snapshot"):
            ingest(tmp_path)
        other.communicate("\n")


def test_a_folder_that_cannot_be_written_is_told_to_the_operator(tmp_path):
    (tmp_path / "metrics").write_text("a file stands where the folder belongs")
    with pytest.raises(Misconfigured, match="cannot be written"):
        ingest(tmp_path)


def test_a_hundred_thousand_rows_take_seconds(tmp_path):
    for cycle in range(1, 51):
        write(tmp_path, 2000, cycle)
    started = time.process_time()
    done = ingest(tmp_path)
    seconds = time.process_time() - started
    assert done.rows_new == 100_000
    assert done.rows_new / seconds > 15_000, "rows in a second of processor time, which other programs do not use up"
