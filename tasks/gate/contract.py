"""What is a candidate held to? Fixed before it is looked at, and named by a digest."""

from typing import NamedTuple

from agents.domain.value import digest_of
from tasks.checks.measure import Plan


class Contract(NamedTuple):
    """What a candidate is held to: checks, protected globs, a human's grants, and the item's own files, if named.

    `tree` is where trusted tests and configuration come from; "" means from the base. `unsandboxed` says that the
    operator lets candidates pass that were measured without isolation. `held_out` is test files that whoever wrote the
    candidate never sees, each a name and a text.
    """

    plan: Plan
    protect: tuple[str, ...]
    grants: tuple[str, ...]
    files: tuple[str, ...] = ()
    tree: str = ""
    held_out: tuple[tuple[str, str], ...] = ()
    unsandboxed: bool = False

    def digest(self) -> str:
        """Name the contract: equal contracts hold a candidate to the same."""
        return digest_of([self.plan.model_dump(mode="json"), *self[1:]])
