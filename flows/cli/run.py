"""When does work begin? `lra run`: start or resume a mission and follow it."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agents.domain.errors import TryLater
from flows.cli.console import Answer, Exit, progress

if TYPE_CHECKING:  # a usage error must not wait for these
    from agents.domain.state import State
    from flows.outcome import Outcome

EXITS = {
    "verified": Exit.DONE,
    "incomplete": Exit.INCOMPLETE,
    "paused": Exit.INCOMPLETE,
    "waiting": Exit.WAITING,
    "exhausted": Exit.BUDGET,
    "unverified": Exit.UNVERIFIED,
}
SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


class PrefectAway(TryLater):
    """The Prefect server went away."""


class Span(click.ParamType[float]):
    """A length of time such as 90m, 2h or 3d, in hours."""

    name = "TIME"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read a number and its unit."""
        if isinstance(value, float):
            return value
        found = re.fullmatch(r"(\d+(?:\.\d+)?)([smhd])", value)
        if found is None or not float(found[1]):
            self.fail(f"{value!r} is not a time such as 90m, 2h or 3d", param, ctx)
        return float(found[1]) * SECONDS[found[2]] / 3600


@click.command()
@click.argument("mission")
@click.option("--repo", default=".", help="The repository: a path or a URL. Default: here.")
@click.option("--model", help="A litellm model name, recorded:DIR or scripted:FILE.")
@click.option("--api-base", help="An OpenAI-compatible server.")
@click.option("--cycles", type=click.IntRange(min=1), help="Stop after so many cycles.")
@click.option("--for", "hours", type=Span(), help="Stop after so long, between cycles: 90m, 2h, 3d.")
def run(
    mission: str, repo: str, model: str | None, api_base: str | None, cycles: int | None, hours: float | None
) -> Answer:
    """Start or resume a mission, and work on it.

    MISSION is a mission file or a mission's id. The same command goes on after an interruption, a crash or a reboot:
    finished steps are never repeated and no answered model call is paid again.
    """
    flags = {"model": model, "api_base": api_base}
    return follow(repo, mission, cycles, hours, {key: value for key, value in flags.items() if value is not None})


def follow(repo: str, mission: str, cycles: int | None, hours: float | None, flags: dict[str, Any]) -> Answer:
    """Run a mission to the end of its slice under Prefect, show it on stderr meanwhile, and say what came of it."""
    from flows.cli.watching import shown
    from flows.outcome import Outcome, with_open_cycle
    from flows.preparing import prepare
    from flows.wanted import find_mission
    from flows.wiring import choose_model, launch_prefect
    from tasks.git.reading import Shelf
    from tasks.journal import folder_of
    from tasks.server import is_healthy, wait_until_healthy

    wanted = find_mission(repo, mission, flags)
    settings = wanted.settings
    if (over := _finished(wanted.origin, wanted.id, settings.home)) is not None:
        return over
    choose_model(settings)  # refused before anything starts; and a live one loads while the server does
    local = launch_prefect(settings)
    from httpx import TransportError

    from flows.mission import run_mission  # Prefect reads its settings at import, and loads while its server starts

    if local is not None:
        if not is_healthy(local.api):
            prepare(wanted)
        wait_until_healthy(local, settings.home)
        progress(f"Prefect UI: {local.ui}")
    with shown(settings.home, wanted.origin, wanted.id):
        try:
            outcome = Outcome.model_validate(run_mission(wanted.origin, mission, cycles, hours, flags))
        except TransportError as error:
            raise PrefectAway(
                f"the Prefect server went away ({error}); nothing is lost, run the same command again"
            ) from None
    shelf = Shelf(wanted.origin, settings.home)
    folder = folder_of(settings.home, wanted.id, shelf.root(wanted.id))
    return _answer(with_open_cycle(shelf.state(wanted.id), folder), outcome)


def _finished(origin: str, mission: str, home: Path) -> Answer | None:
    """Return the answer of a mission that has nothing left to do: it needs no run, no server and no model."""
    from flows.outcome import standing_of
    from tasks.hold import at_rest

    state = at_rest(home, origin, mission)
    if state is None or (outcome := standing_of(state)).status != "verified":
        return None
    return _answer(state, outcome)


def _answer(state: "State", outcome: "Outcome") -> Answer:
    from flows.outcome import summary, told

    return Answer(summary(state, outcome), told(state, outcome), EXITS[outcome.status])
