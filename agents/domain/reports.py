"""What did the checks do on a tree? Reports of what was seen; what follows from them is the gate's to say."""

from typing import Literal

from agents.domain.value import Value, digest_of

Outcome = Literal["passed", "failed", "error", "skipped", "xfailed", "xpassed"]
CheckKind = Literal["pytest", "ruff", "mypy", "build", "command"]


class CheckReport(Value):
    """What one check did on one tree.

    `cases` maps a test id to its outcome; a command and a build are one case under their own name.
    `diagnostics` maps "code: message" (no line numbers, no paths) to how often it occurs.
    `trouble` is set when the check could not be carried out (timeout, crash, garbage): neither pass nor fail.
    `flaky` names cases that differed between two runs of this same tree.
    `details` is text for people and models, free of times, addresses and paths of the machine.
    """

    check: str
    kind: CheckKind
    cases: dict[str, Outcome] = {}
    diagnostics: dict[str, int] = {}
    flaky: tuple[str, ...] = ()
    trouble: str | None = None
    details: str = ""
    seconds: float = 0.0

    @property
    def green(self) -> bool:
        """Something ran, and all of it is plainly good: an empty run is not green, a skip is not a pass."""
        if self.trouble or self.flaky:
            return False
        if self.kind in ("ruff", "mypy"):
            return not self.diagnostics
        passed = sum(outcome == "passed" for outcome in self.cases.values())
        return passed > 0 and all(outcome in ("passed", "skipped", "xfailed") for outcome in self.cases.values())


class Report(Value):
    """What all checks did on one tree: the mission's suites, and the item's acceptance checks."""

    tree: str
    environment: str
    sandbox: str
    suites: tuple[CheckReport, ...] = ()
    acceptance: tuple[CheckReport, ...] = ()

    @property
    def trouble(self) -> tuple[str, ...]:
        """The checks that could not be carried out, each with its reason."""
        return tuple(f"{c.check}: {c.trouble}" for c in (*self.suites, *self.acceptance) if c.trouble)


def report_key(tree: str, check: tuple[str, ...], environment: str, gate: str) -> str:
    """Name the report of one check by everything that it depends on."""
    return digest_of([tree, list(check), environment, gate])
