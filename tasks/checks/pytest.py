"""Run pytest on a workspace and report each test's outcome, from its own channel and never from what it prints."""

import contextlib
import json
import secrets
import selectors
import shlex
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agents.domain.errors import Misconfigured
from agents.domain.manifest import promised
from agents.domain.reports import CheckReport, Outcome
from tasks.checks import canaries
from tasks.checks.plain import shortened, without_times
from tasks.checks.sandbox import Ran
from tasks.checks.sandbox.running import STOPPED
from tasks.checks.workspace import Workspace

RUNNER = Path(__file__).parent / "inside" / "run_pytest.py"
WRONG_USE = 4
CONFIGURATION = "pytest configuration"
NO_NODE = (CONFIGURATION, ".")
PER_TEST_LINES = 40
ALL_CHARACTERS = 6000
MOST = 256 << 20
Event = dict[str, Any]


def run_pytest(
    workspace: Workspace,
    check: str,
    arguments: tuple[str, ...] = (),
    *,
    seed: int | None = None,
    fds: tuple[int, ...] = (),
) -> CheckReport:
    """Run the tests that `arguments` name, or all. Only a run that told its end has outcomes; no test is not green.

    Tests whose outcome is known run among them and are no part of the report; where one was reported as what it is not,
    the report is in trouble. `seed` chooses another order of the tests and of Python's hashes; `fds` stay open.
    """
    if any(not (workspace.root / named).exists() for named in _files(arguments)):
        return CheckReport(check=check, kind="pytest", details="the file that the check names does not exist")
    started = time.monotonic()
    whole = {path: (workspace.root / path).read_bytes() for path in arguments if path.endswith(".py")}
    drawn = canaries.drawn()
    hashes = str((seed or 0) % (1 << 32))
    with _listening({**drawn, "seed": seed}) as (descriptor, listener):
        argv = _argv(workspace, descriptor, arguments)
        ran = workspace.run(argv, fds=(descriptor, *fds), PYTHONPATH="", PYTHONHASHSEED=hashes)
    planted = canaries.planted_in(listener.events)
    events = canaries.without(listener.events, planted)
    seconds = round(time.monotonic() - started, 3)
    trouble = _trouble(workspace, ran, events, listener.garbage)
    if not trouble and (lie := canaries.tampering(listener.events, drawn["truths"])):
        trouble = f"the test run was tampered with: {lie}"
    if trouble:
        output = canaries.unsaid(ran.output, planted)
        details = without_times(workspace.plain(shortened(output, PER_TEST_LINES, ALL_CHARACTERS)))
        return CheckReport(check=check, kind="pytest", trouble=trouble, details=details, seconds=seconds)
    cases, flaky, stories = _combined(events)
    code = events[-1]["code"]
    if code == WRONG_USE and not any(event["event"] == "start" for event in events):
        cases, stories = {CONFIGURATION: "error"}, {CONFIGURATION: without_times(ran.output)}
    elif code == WRONG_USE and not cases:
        stories = {" ".join(arguments): "pytest found no test of this name"}
    for case in _unkept(whole, events, cases):
        cases[case], stories[case] = "error", "the file has this test, and pytest found none of this name"
    return CheckReport(
        check=check,
        kind="pytest",
        cases=cases,
        flaky=flaky,
        details=_details(workspace, cases, stories),
        seconds=seconds,
    )


def arguments_of(check: str) -> tuple[str, ...]:
    """Return the arguments of a check that is written `pytest ...`; Misconfigured when a quote in it never ends."""
    try:
        return tuple(shlex.split(check))[1:]
    except ValueError as error:
        raise Misconfigured(f"the check {check!r} cannot be read: {error}; mend it in the mission file") from None


def _files(arguments: tuple[str, ...]) -> list[str]:
    words = [word for word in arguments if not word.startswith("-")]
    return [word.partition("::")[0] for word in words if "::" in word or word.endswith(".py")]


def _argv(workspace: Workspace, descriptor: int, arguments: tuple[str, ...]) -> tuple[str, ...]:
    code = tuple(map(str, workspace.code))
    # One broken file, or an `-x` of the repository's, must not hide how all the other tests end.
    own = ("--rootdir", str(workspace.root), "--continue-on-collection-errors", "--maxfail=0")
    return (str(workspace.environment.python), str(RUNNER), str(descriptor), *code, "--", *own, *arguments)


class Listener(threading.Thread):
    """Reads events while the tests run; `garbage` is set when a line is not the next event of this very run.

    After garbage, and after MOST bytes, nothing is read any more: who writes without end fills no memory of LRA's.
    """

    def __init__(self, end: socket.socket, word: str) -> None:
        super().__init__(daemon=True)
        self.events: list[Event] = []
        self.garbage = False
        self.over = threading.Event()
        self._end = end
        self._word = word
        self._taken = 0
        self._held = bytearray()

    def run(self) -> None:
        """Read to the end of the channel, or to its last byte once the run is over."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._end, selectors.EVENT_READ)
            while True:
                last = self.over.is_set()
                if not selector.select(0 if last else 0.05):
                    if last:
                        break
                    continue
                try:
                    chunk = self._end.recv(1 << 16)
                except ConnectionError:
                    break
                if not chunk:
                    break
                self._read(chunk)
                if self.garbage:  # nothing counts any more: who writes on finds nobody there
                    self._end.shutdown(socket.SHUT_RD)
                    break
        self.garbage = self.garbage or bool(self._held)

    def _read(self, chunk: bytes) -> None:
        self._taken += len(chunk)
        self.garbage = self.garbage or self._taken > MOST
        if self.garbage:
            return
        first, *rest = chunk.split(b"\n")
        self._held += first
        for line in rest:
            self._take(bytes(self._held))
            self._held = bytearray(line)

    def _take(self, line: bytes) -> None:
        try:
            event = json.loads(line)
            good = event.pop("word") == self._word and event.pop("seq") == len(self.events)
        except (ValueError, AttributeError, KeyError, TypeError):
            good = False
        if good and not self.garbage:
            self.events.append(event)
        else:
            self.garbage = True


@contextlib.contextmanager
def _listening(run: dict[str, Any]) -> Iterator[tuple[int, Listener]]:
    ours, theirs = socket.socketpair()
    word = secrets.token_hex(16)
    listener = Listener(ours, word)
    with ours, theirs:
        ours.sendall(json.dumps({**run, "word": word}).encode() + b"\n")
        listener.start()
        try:
            yield theirs.fileno(), listener
        finally:
            theirs.close()
            listener.over.set()
            listener.join()


def _trouble(workspace: Workspace, ran: Ran, events: list[Event], garbage: bool) -> str | None:
    begun = [event["id"] for event in events if event["event"] == "begin"]
    at = f" in {begun[-1]}" if begun else ""
    if ran.timed_out:
        return workspace.late() + (f"; it was{at}" if at else "")
    if garbage:
        return "the result channel was tampered with"
    last = events[-1]["event"] if events else ""
    if last == "absent":
        return f"pytest cannot be imported in the repository's environment: {events[-1]['text']}"
    if last != "finish":
        said = ran.output.rstrip().rpartition("\n")[2]
        why = f"; {said}" if said.startswith(STOPPED) else ""
        return f"crashed{at}: it ended with exit code {ran.exit} before it had reported its end{why}"
    code = events[-1]["code"]
    if unrun := _unrun(events):
        return f"stopped{at}: {len(unrun)} tests were collected and never ended, the first is {unrun[0]}"
    if code in (0, 1, 5, WRONG_USE):
        return None
    if code == 2 and any(event["event"] == "broken" for event in events):
        return None
    return f"interrupted{at}" if code == 2 else f"pytest itself failed with exit code {code}"


def _unrun(events: list[Event]) -> list[str]:
    ended = {event["id"] for event in events if event["event"] == "phase" and event["when"] == "teardown"}
    return [case for event in events if event["event"] == "collected" for case in event["ids"] if case not in ended]


def _unkept(whole: dict[str, bytes], events: list[Event], cases: dict[str, Outcome]) -> list[str]:
    """Name the tests that the text of a file promises, and that were neither run nor left out by anybody's choice."""
    told = {event["event"]: event for event in events}
    if "start" not in told or "collected" not in told:
        return []
    ids = [case for event in events if event["event"] == "deselected" for case in event["ids"]]
    seen = {case.partition("[")[0] for case in (*cases, *ids)}
    patterns = (tuple(told["start"]["functions"]), tuple(told["start"]["classes"]))
    return [
        f"{path}::{name}"
        for path, text in whole.items()
        if path not in cases
        for name in sorted(promised(text.decode("utf-8", "replace"), *patterns))
        if f"{path}::{name}" not in seen
    ]


def _combined(events: list[Event]) -> tuple[dict[str, Outcome], tuple[str, ...], dict[str, str]]:
    """Fold setup, call and teardown of each test into one outcome; one that a plugin ran until it passed is flaky."""
    phases: dict[str, list[Event]] = {}
    cases: dict[str, Outcome] = {}
    stories: dict[str, str] = {}
    for event in events:
        if event["event"] == "phase":
            phases.setdefault(event["id"], []).append(event)
        elif event["event"] == "broken":
            cases[event["id"] or "."] = "error"
            stories[event["id"] or "."] = event["text"]
        elif event["event"] == "skipped":
            cases[event["id"]] = "skipped"
    # Workers that share the tests report in any order, and then none tells what was collected.
    in_order = any(event["event"] == "collected" for event in events)
    for case, parts in phases.items() if in_order else sorted(phases.items()):
        cases[case] = _outcome(parts)
        if text := "\n".join(part["text"] for part in parts if part["text"]):
            stories[case] = text
    for case in canaries.empty_in(events):
        cases[case], stories[case] = "error", "its parameter set is empty: it tests nothing"
    again = {
        case
        for case, parts in phases.items()
        if cases[case] == "passed" and any(part["outcome"] not in canaries.OUTCOMES for part in parts)
    }
    return cases, tuple(sorted(again)), stories


def _outcome(parts: list[Event]) -> Outcome:
    calls = [part for part in parts if part["when"] == "call" and part["outcome"] in canaries.OUTCOMES]
    whole = [part for part in calls if not part["part"]]
    around = [part for part in parts if part["when"] != "call"]
    if any(part["outcome"] == "failed" for part in calls):
        return "failed"
    if any(part["outcome"] == "failed" for part in around):
        return "error"
    if whole:
        # Tests that share one id share one outcome: not the best of them.
        last = next((part for part in whole if part["outcome"] != "passed" or part["xfail"]), whole[-1])
        if last["outcome"] == "passed":
            return "xpassed" if last["xfail"] else "passed"
        return "xfailed" if last["xfail"] else "skipped"
    if any(part["outcome"] == "skipped" for part in around):
        return "xfailed" if any(part["xfail"] for part in around) else "skipped"
    return "error"


def _details(workspace: Workspace, cases: dict[str, Outcome], stories: dict[str, str]) -> str:
    told = []
    for case, text in stories.items():
        heading = f"{cases.get(case, 'error').upper()} {case}"
        told.append(shortened(f"{heading}\n{_tidy(workspace.plain(text))}", PER_TEST_LINES, ALL_CHARACTERS))
    whole: list[str] = []
    for number, text in enumerate(told):
        if whole and sum(map(len, whole)) + len(text) > ALL_CHARACTERS - 100:
            whole.append(f"[... and {len(told) - number} more that did not pass ...]")
            break
        whole.append(text)
    return "\n\n".join(whole)


def _tidy(text: str) -> str:
    """Leave out what differs between Python versions: frames of the standard library, and marks below a line."""
    rows, inside = [], False
    for row in text.splitlines():
        inside = row.startswith("<python>/") or (inside and row.startswith(" "))
        if not inside and row.strip(" ^~"):
            rows.append(row.rstrip())
    return "\n".join(rows)
