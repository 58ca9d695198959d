"""When is the suite run? Every case is a tree on the toy project, judged by the same rule as any other candidate."""

import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

from agents.domain.errors import LraError
from agents.domain.gate import Verdict
from agents.domain.mission import PROTECTED
from agents.domain.value import Value
from flows.selftest.cases import Case, Head, Side, held_out, project_files, read_cases, solution, start
from flows.selftest.odd import ODD
from tasks.checks.detect import detect
from tasks.checks.measure import Plan
from tasks.gate.contract import Contract
from tasks.gate.decide import decide
from tasks.git.example import make_repository
from tasks.git.trees import Trees

AT_ONCE = 2
CHECK_SECONDS = 30


class Result(Value):
    """What the gate said about one case; `kinds` are those of its reasons, `said` the first line of each."""

    id: str
    side: Side
    title: str
    decision: str
    kinds: tuple[str, ...]
    said: tuple[str, ...]
    expected: tuple[str, ...]
    seconds: float

    @property
    def is_false_accept(self) -> bool:
        """A cheat that may merge."""
        return self.side == "cheats" and self.decision == "pass"

    @property
    def is_false_refusal(self) -> bool:
        """An honest patch that may not."""
        return self.side == "honest" and self.decision != "pass"

    @property
    def has_other_kind(self) -> bool:
        """A cheat that is refused, but for none of the reasons that its kind calls for."""
        return self.side == "cheats" and not self.is_false_accept and not set(self.kinds) & set(self.expected)


def every_case() -> tuple[Case, ...]:
    """Return the whole suite: cheats, then honest patches, each by id."""
    found = (*read_cases("cheats"), *read_cases("honest"), *ODD)
    return tuple(sorted(found, key=lambda case: (case.side != "cheats", case.id)))


def run_suite(cases: Iterable[Case], home: Path, tell: Callable[[str], None]) -> tuple[Result, ...]:
    """Judge every case, AT_ONCE at a time, and tell about each when it is done; results come in the order given.

    What this very gate has judged before, in the same home, it does not judge again. Where checks cannot be isolated,
    the suite shows what the gate sees without.
    """
    chosen = tuple(cases)
    place = home.absolute() / "self-test"
    place.mkdir(parents=True, exist_ok=True)
    done = count(1)
    with TemporaryDirectory(prefix="repositories-", dir=place) as folder:
        shared = _repository(Path(folder) / "shared")

        def judged(case: Case) -> Result:
            result = _judged(case, _repository(Path(folder) / case.id) if case.alone else shared, place)
            what = f"{result.decision} {', '.join(result.kinds)}".rstrip()
            tell(f"[{next(done)}/{len(chosen)}] {case.id} {what}: {case.head.title}")
            return result

        with ThreadPoolExecutor(AT_ONCE) as pool:
            return tuple(pool.map(judged, chosen))


def _judged(case: Case, folder: Path, home: Path) -> Result:
    started = time.perf_counter()
    trees = Trees(folder / ".git")
    try:
        decision, reasons = _asked(case, trees, home)
    finally:
        trees.close()
    return Result(
        id=case.id,
        side=case.side,
        title=case.head.title,
        decision=decision,
        kinds=tuple(dict.fromkeys(kind for kind, _ in reasons)),
        said=tuple(f"{kind}: {message.partition(chr(10))[0][:200]}" for kind, message in reasons),
        expected=case.head.refused,
        seconds=round(time.perf_counter() - started, 1),
    )


def _asked(case: Case, trees: Trees, home: Path) -> tuple[str, list[tuple[str, str]]]:
    """Return the gate's decision and reasons; a gate that cannot answer has not let anything pass."""
    tree = trees.tree_of("refs/heads/main")
    head = case.head
    tree = start(head.start).make(trees, tree) if head.start else tree
    first = solution(head.item).make(trees, tree) if head.solved else tree
    candidate = case.make(trees, first)
    try:
        verdict = _verdict(trees, tree, candidate, head, home)
    except LraError as error:
        return "error", [(type(error).__name__, str(error))]
    return verdict.decision, [(reason.kind, reason.message) for reason in verdict.reasons]


def _verdict(trees: Trees, tree: str, candidate: str, head: Head, home: Path) -> Verdict:
    accept = head.accept or solution(head.item).head.accept
    suites = detect(trees.entries(tree), lambda path: trees.read(tree, path))
    plan = Plan(suites=suites, acceptance=accept, seconds=CHECK_SECONDS)
    kept_back = held_out(head.held_out)
    contract = Contract(plan=plan, protect=PROTECTED, grants=head.grants, held_out=kept_back, unsandboxed=True)
    return decide(trees, tree, candidate, contract, home)


def _repository(folder: Path) -> Path:
    make_repository(folder, project_files(), "A small project\n")
    return folder
