"""How long does LRA itself take, and does it stay as quick when a mission is old? Numbers are printed; see `-s`."""

import resource
import statistics
import subprocess
import sys
import time

import pytest
from generated import git, make_origin

from agents.briefing import Material, brief
from agents.domain.cycle import Knobs
from agents.domain.events import Key
from agents.domain.moves import Edit, Hunk
from agents.domain.schedule import next_step
from agents.models.scripted import Scripted
from tasks.act import act
from tasks.cycle import Cycle, Means, begin
from tasks.git.record import Record
from tasks.git.store import Store
from tasks.hold import holding
from tasks.journal import Journal, step

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(3600)]
AGES = (1, 1_000, 10_000)
WINDOW = 50
LRA = [sys.executable, "-c", "import sys; from flows.cli.main import main; sys.exit(main())"]


def windows(do):
    """Do something 10,000 times; tell the median milliseconds around each age, by the wall clock and of processor."""
    wall, cpu = [], []
    for number in range(AGES[-1]):
        started, busy = time.perf_counter(), time.thread_time()
        do(number)
        wall.append((time.perf_counter() - started) * 1000)
        cpu.append((time.thread_time() - busy) * 1000)
    return [
        [round(statistics.median(times[max(0, age - WINDOW) : max(age, WINDOW)]), 2) for age in AGES]
        for times in (wall, cpu)
    ]


def seconds(do, times=3):
    taken = []
    for _ in range(times):
        started = time.perf_counter()
        do()
        taken.append(time.perf_counter() - started)
    return round(min(taken), 3)


def processor(*args):
    """Return the least processor seconds of a command in three runs: other work on the machine does not count."""
    taken = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([*LRA, *args], check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return round(min(taken), 3)


def test_a_journal_step(tmp_path):
    journal = Journal(tmp_path / "j" / "000001.jsonl", {"pin": {}})
    spent = windows(lambda n: step(journal, Key("act", f"engineer/act/{n}", "x"), lambda: {"seconds": 0.0, "n": n}))
    journal.close()
    reopen = seconds(lambda: Journal(journal.path, {"pin": {}}).close())
    print(f"\njournal step, ms of wall and processor at {AGES}: {spent}; reopening 10,000 steps: {reopen} s")
    wall, cpu = spent
    assert cpu[2] < 2 * cpu[0] + 1
    assert wall[2] < 3 * wall[0] + 5


def test_an_edit(tmp_path):
    origin = tmp_path / "origin"
    make_origin(origin, 1)
    for number in range(300):
        place = origin / f"src/part{number % 20}"
        place.mkdir(parents=True, exist_ok=True)
        (place / f"m{number}.py").write_text("".join(f"line {n}\n" for n in range(200)) + "value = 0\n")
    git(origin, "add", ".")
    git(origin, "commit", "-q", "-m", "many files")
    script = tmp_path / "script.jsonl"
    script.write_text("")
    means = Means(Scripted(script), "v", Knobs(), "text", 60)
    with holding(tmp_path / "home", str(origin), "m", lambda store: pytest.fail("it was started")) as held:
        cycle = Cycle(held, means, begin(held, "next", means))
        tree = cycle.pin.base_tree

        def edit(number):
            nonlocal tree
            path, was, new = f"src/part{number % 20}/m{number % 20}.py", number // 20, number // 20 + 1
            hunk = Hunk(search=f"value = {was}\n", replace=f"value = {new}\n")
            done = act(cycle, tree, Edit(path=path, hunks=(hunk,)), f"engineer/act/{number}")
            assert done.observation.ok
            tree = done.tree

        spent = windows(edit)
        cycle.journal.close()
        held.store.trees.close()
    print(f"\nedit, ms of wall and processor at {AGES}: {spent}")
    wall, cpu = spent
    assert cpu[2] < 2 * cpu[0] + 2
    assert wall[2] < 3 * wall[0] + 10


def test_looking_at_a_mission_and_orienting_do_not_grow_with_its_age(tmp_path):
    told = {}
    for cycles in (10, 10_000):
        origin = make_origin(tmp_path / f"origin{cycles}", cycles)
        git(origin, "gc", "-q")
        store = Store.open(str(origin), tmp_path / f"home{cycles}")
        store.fetch()
        fresh = seconds(lambda: Record(store, "m").load(), 1)  # noqa: B023 - called at once
        record = Record(store, "m")
        texts = []

        def orient():
            store.fetch()  # noqa: B023
            record.load()  # noqa: B023
            item = record.state.checklist[next_step(record.state).item]  # noqa: B023
            previous = record.cycle(record.state.standing.cycles)  # noqa: B023
            texts.append(brief(record.state.mission, item, Material(listing=("a",), texts={}), previous, Knobs()))  # noqa: B023

        told[cycles] = {
            "version": processor("version"),
            "status": processor("status", "m", "--repo", str(origin)),
            "first load": fresh,
            "orient": seconds(orient),
            "briefing": len(texts[-1]),
        }
        store.trees.close()
        print(f"\n{cycles} cycles: {told[cycles]}")
    young, old = told[10], told[10_000]
    assert old["briefing"] < 1.1 * young["briefing"] + 100
    assert old["status"] < 1.5 * young["status"] + 0.1
    assert old["orient"] < 2 * young["orient"] + 1
