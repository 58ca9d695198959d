"""What does the gate cost over the bare checks, and a sandbox over a bare command? Numbers are printed; see `-s`.

Limits hold for the least of several runs, for that is what the gate needs itself; medians are printed beside them.
"""

import os
import shutil
import statistics
import subprocess
import sys
import time
from importlib.resources import as_file, files
from pathlib import Path

import pytest

from agents.domain.mission import PROTECTED
from tasks.checks.measure import Plan, environment_of
from tasks.checks.sandbox import Command, Policy, choice, folders_of, run
from tasks.checks.workspace import Workspace, laid_out
from tasks.gate.contract import Contract
from tasks.gate.course import Course
from tasks.gate.decide import decide
from tasks.git.example import make_repository
from tasks.git.trees import Trees

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(1200)]
GATE_S, CACHED_MS, SANDBOX_MS = 15, 50, 20
PLAN = Plan(suites=("tests", "lint", "types"), acceptance=("pytest tests/test_bill.py",), seconds=300)
BILL = '''

def bill(prices: list[float]) -> float:
    """Return what all of them cost together."""
    return round(sum(prices), 2)
'''


def spent(do, times):
    """Do something so many times, and return the milliseconds of each."""
    taken = []
    for _ in range(times):
        started = time.perf_counter()
        do()
        taken.append((time.perf_counter() - started) * 1000)
    return taken


def told(name, taken):
    load = os.getloadavg()[0]
    print(f"\n{name}: min {min(taken):.1f} ms, median {statistics.median(taken):.1f} ms (load {load:.1f})", end="")


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """The demo's repository, the tree that it begins with, one that solves an item, and a home with its environment."""
    place = tmp_path_factory.mktemp("speed")
    with as_file(files("flows") / "demo" / "project") as folder:
        names = [path for path in folder.rglob("*") if path.is_file() and "cache" not in str(path)]
        content = {str(path.relative_to(folder)): path.read_bytes() for path in names}
    make_repository(place / "project", content, "A small project\n")
    trees = Trees(place / "project" / ".git")
    base = trees.tree_of(trees.git.run("rev-parse", "main").decode().strip())
    solved = trees.write(base, "larder/prices.py", content["larder/prices.py"] + BILL.encode())
    environment_of(trees, base, place / "home")
    yield trees, base, solved, place / "home"
    trees.close()


def judged(demo, anew):
    trees, base, solved, home = demo
    for kept in ("reports", "verdicts") if anew else ():
        shutil.rmtree(home / kept, ignore_errors=True)
    course = Course()
    verdict = decide(trees, base, solved, Contract(PLAN, PROTECTED, ()), home, course)
    assert (verdict.decision, course.cached) == ("pass", not anew), verdict.reasons
    return course


def bare(demo):
    """Run what the gate runs as a person would, once, without a sandbox."""
    trees, base, _, home = demo
    with laid_out(trees, base, home) as root:
        workspace = Workspace(root=root, environment=environment_of(trees, base, home), seconds=300)
        env, scripts = workspace.env(), Path(sys.executable).parent
        commands = {
            "pytest": [workspace.environment.python, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
            "ruff": [scripts / "ruff", "check", "--no-cache", "."],
            "mypy": [sys.executable, "-I", "-m", "mypy", "--cache-dir", os.devnull, "."],
        }
        return {
            name: spent(lambda argv=argv: subprocess.run(argv, cwd=root, env=env, capture_output=True, check=False), 1)[
                0
            ]
            for name, argv in commands.items()
        }


def test_a_gate_on_the_demo_project(demo):
    runs, courses = [], []
    for _ in range(3):
        runs += spent(lambda: courses.append(judged(demo, anew=True)), 1)
    told("a gate, all of it", runs)
    best = courses[runs.index(min(runs))].seconds
    whole = sum(best.values())
    print("\nshares of the quickest: " + ", ".join(f"{name} {part / whole:.0%}" for name, part in best.items()), end="")
    once = bare(demo)
    each = ", ".join(f"{name} {taken:.0f} ms" for name, taken in once.items())
    print(f"\nbare checks, once on one tree: {each}; the gate takes {min(runs) / sum(once.values()):.1f} times that")
    assert min(runs) < GATE_S * 1000


def test_a_verdict_that_was_given_before(demo):
    judged(demo, anew=True)
    taken = spent(lambda: judged(demo, anew=False), 30)
    told("a verdict that is kept", taken)
    assert min(taken) < CACHED_MS


def test_a_command_in_the_sandbox(tmp_path):
    (tree := tmp_path / "tree").mkdir()
    policy = Policy(writable=(tree,), readable=folders_of(Path(sys.executable)))
    command = Command(argv=("/usr/bin/true",), cwd=tree, env={}, seconds=60, policy=policy)
    run(command)
    alone, fenced = [], []
    for _ in range(50):  # in turns, so that both see the same noise
        alone += spent(lambda: subprocess.run(["/usr/bin/true"], cwd=tree, env={}, check=True, capture_output=True), 1)
        fenced += spent(lambda: run(command), 1)
    told("a bare command", alone)
    told(choice.describe(), fenced)
    assert min(fenced) - min(alone) < SANDBOX_MS
