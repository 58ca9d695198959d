"""When is there time to lose? While the Prefect server starts, what the first cycle needs is made and measured."""

from contextlib import suppress

from agents.domain.errors import LraError
from flows.wanted import Wanted
from tasks.checks.measure import Plan, measure
from tasks.git.store import Store


def prepare(wanted: Wanted) -> None:
    """Make the repository's environment and measure the suites on its target, for the first cycle to find them there.

    Nothing depends on it: what goes wrong here goes wrong again in the run, which says so.
    """
    if wanted.draft is None:
        return
    with suppress(LraError):
        home = wanted.settings.home
        store = Store.open(wanted.origin, home)
        store.fetch()
        mission, _ = wanted.start(store)
        if (head := store.head(mission.target)) is not None:
            plan = Plan(suites=mission.checks, seconds=round(wanted.settings.check_seconds))
            measure(store.trees, store.trees.tree_of(head), plan, home)
