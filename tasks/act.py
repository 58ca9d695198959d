"""Do it, durably: one move, from tree to tree; repeated after a crash it starts from the same tree again."""

import time
from typing import NamedTuple

from agents.briefing import cut
from agents.domain.edits import apply_hunks, text_to_bytes
from agents.domain.errors import AskAgain, BrokenRecord
from agents.domain.events import Key, Observation
from agents.domain.moves import Change, Check, Delete, Edit, List, Move, Read, Run, Search, Write
from agents.domain.protect import strays, violations
from agents.domain.reports import CheckReport
from agents.domain.value import digest_of
from tasks.checks.command import run_in
from tasks.checks.measure import environment_of, measure
from tasks.cycle import Cycle
from tasks.gate.looking import installs
from tasks.journal import Data, step
from tasks.redact import is_secret

MATCHES = 60
LISTED = 400


class Acted(NamedTuple):
    """The tree after a move, and what the move showed."""

    tree: str
    observation: Observation


def act(cycle: Cycle, tree: str, move: Move, place: str) -> Acted:
    """Carry out `move` on `tree`; a move that cannot be done leaves the tree as it is and says why.

    A result whose tree the store has lost is made again from the input tree and must come out the same.
    """
    key = Key("act", place, digest_of([tree, move.model_dump(mode="json")]))
    done = step(cycle.journal, key, lambda: _carry_out(cycle, tree, move))
    if not cycle.trees.has(done["tree"]):
        again = _carry_out(cycle, tree, move)
        if again["tree"] != done["tree"]:
            raise BrokenRecord(
                f"{cycle.journal.path}: the tree of step {place} is gone from the store, and doing it again gave "
                f"{again['tree'][:12]}, not {done['tree'][:12]}. Move the journal away to do this cycle again."
            )
    return Acted(done["tree"], Observation.model_validate(done["observation"]))


def _carry_out(cycle: Cycle, tree: str, move: Move) -> Data:
    started = time.perf_counter()
    try:
        after, observation = _do(cycle, tree, move)
    except AskAgain as error:
        after, observation = tree, Observation(text=str(error), ok=False)
    shown = cut(cycle.redact(observation.text), cycle.pin.knobs.observation_chars)
    return {
        "move": _named(move),
        "tree": after,
        "observation": {"text": shown, "ok": observation.ok},
        "seconds": round(time.perf_counter() - started, 3),
    }


def _do(cycle: Cycle, tree: str, move: Move) -> Acted:
    trees = cycle.trees
    match move:
        case Read():
            return Acted(tree, _read(cycle, tree, move))
        case List():
            names = trees.listing(tree, move.path)
            more = f"\nand {len(names) - LISTED} more" if len(names) > LISTED else ""
            return Acted(tree, Observation(text="\n".join(names[:LISTED]) + more or "(nothing)"))
        case Search():
            found = [m for m in trees.search(tree, move.pattern, MATCHES) if not is_secret(m.path)]
            return Acted(
                tree, Observation(text="\n".join(f"{m.path}:{m.line}: {m.text}" for m in found) or "(no match)")
            )
        case Edit() | Write() | Delete():
            return _change(cycle, tree, move)
        case Run():
            return _run(cycle, tree, move)
        case Check():
            return Acted(tree, _check(cycle, tree))
        case _:
            raise AssertionError(f"{move.kind} is a claim, not an act")


def _change(cycle: Cycle, tree: str, move: Change) -> Acted:
    trees = cycle.trees
    old = trees.read(tree, move.path) if move.path in trees.entries(tree) else None
    match move:
        case Edit():
            content = apply_hunks(trees.read(tree, move.path), move.hunks, move.path)
            after = trees.write(tree, move.path, content)
        case Write():
            after = trees.write(tree, move.path, text_to_bytes(move.text, old))
        case Delete():
            after = trees.delete(tree, move.path)
    item, base = cycle.item, cycle.pin.base_tree
    changes = tuple(change for change in trees.diff(base, after) if change.path == move.path)
    if stray := strays(changes, item.files, item.may_edit):
        raise AskAgain(f"{stray[0].message}. You may change: {', '.join(item.files)}. Nothing was changed.")
    refused = violations(changes, cycle.mission.protect, item.may_edit)
    if refused:
        raise AskAgain(f"{refused[0].message}. Leave it as it is and change the code instead.")
    return Acted(
        after, Observation(text="done" if after != tree else "nothing changed: the file was like that already")
    )


def _read(cycle: Cycle, tree: str, move: Read) -> Observation:
    if is_secret(move.path):
        raise AskAgain(f"{move.path} holds secrets and is not shown")
    lines = cycle.trees.read(tree, move.path).decode("utf-8", "replace").splitlines(keepends=True)
    first, last = move.first or 1, move.last or len(lines)
    return Observation(text="".join(lines[first - 1 : last]) or "(empty)")


def _run(cycle: Cycle, tree: str, move: Run) -> Acted:
    home = cycle.held.home
    _assert_installs_nothing(cycle, tree)
    made = environment_of(cycle.trees, tree, home, cycle.pin.base_tree)
    ran, after = run_in(cycle.trees, tree, move.command, made, home, cycle.plan.seconds)
    ended = "stopped at its time limit" if ran.timed_out else f"exit {ran.exit}"
    return Acted(after, Observation(text=f"{ended}\n{ran.output}", ok=ran.exit == 0))


def _check(cycle: Cycle, tree: str) -> Observation:
    _assert_installs_nothing(cycle, tree)
    plan = cycle.plan.model_copy(update={"suites": ()})
    report = measure(cycle.trees, tree, plan, cycle.held.home, cycle.pin.base_tree)
    told = "\n".join(_told(check) for check in report.acceptance)
    return Observation(text=told or "the item has no checks", ok=bool(told) and all(c.green for c in report.acceptance))


def _assert_installs_nothing(cycle: Cycle, tree: str) -> None:
    """Make no environment that the model alone asks for: what it installs would run outside of every sandbox."""
    base = cycle.pin.base_tree
    changes = cycle.trees.diff(base, tree)
    if reason := next(installs(cycle.trees, base, tree, changes, cycle.item.may_edit), None):
        raise AskAgain(f"{reason.message}. Nothing was run.")


def _told(check: CheckReport) -> str:
    if check.green:
        return f"{check.check}: green"
    why = check.trouble or ("nothing ran" if not check.cases and not check.diagnostics else "red")
    return f"{check.check}: {why}\n{check.details}".rstrip()


def _named(move: Move) -> Data:
    """Name a move without the text it carries: that stands in the reply already."""
    return move.model_dump(mode="json", exclude={"text", "hunks"})
