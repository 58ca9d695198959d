"""When does anyone look? `lra missions`, `status`, `log`, `show`, `watch`: from the record, at any time."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from agents.domain.errors import Misconfigured
from flows.cli.console import Answer, table

if TYPE_CHECKING:  # a usage error must not wait for it
    from tasks.git.reading import Shelf

here = click.option("--repo", default=".", help="The repository: a path or a URL. Default: here.")


@click.command()
@here
def missions(repo: str) -> Answer:
    """List the missions of a repository."""
    from flows.outcome import standing_of

    shelf = _shelf(repo)
    states = [shelf.state(name) for name in shelf.missions()]
    rows = [
        (
            s.mission.id,
            standing_of(s).status,
            f"{len(s.checklist.by_status()['done'])}/{len(s.checklist.items)}",
            s.mission.title,
        )
        for s in states
    ]
    data = {"missions": [{"mission": r[0], "status": r[1], "done": r[2], "title": r[3]} for r in rows]}
    return Answer(
        data, table(("mission", "status", "done", "title"), rows) if rows else f"no mission in {shelf.origin} yet"
    )


@click.command()
@click.argument("mission", required=False)
@here
def status(mission: str | None, repo: str) -> Answer:
    """Show where a mission stands.

    Without MISSION: the only one there is.
    """
    from flows.outcome import standing_of, summary, told, with_open_cycle
    from flows.settings import read
    from tasks.journal import folder_of

    shelf = _shelf(repo)
    name = _meant(shelf, mission)
    state = shelf.state(name)
    if state.standing.open:
        state = with_open_cycle(state, folder_of(read(Path(shelf.origin)).home, name, shelf.root(name)))
    outcome = standing_of(state)
    return Answer(summary(state, outcome), told(state, outcome))


@click.command()
@click.argument("mission", required=False)
@here
@click.option("-n", "--limit", type=click.IntRange(min=1), default=50, show_default=True, help="How many events.")
def log(mission: str | None, repo: str, limit: int) -> Answer:
    """Show the history of a mission.

    Newest first, one line for one event. Without MISSION: the only one there is.
    """
    shelf = _shelf(repo)
    name = _meant(shelf, mission)
    shelf.state(name)  # refuses a mission that was never started, and names those there are
    events = shelf.history(name, limit)
    rows = [(event.at, event.cycle, event.text) for event in events]
    return Answer({"events": [event._asdict() for event in events]}, table(("at", "cycle", "event"), rows))


@click.command()
@click.argument("mission")
@click.argument("cycle", type=int)
@here
def show(mission: str, cycle: int, repo: str) -> Answer:
    """Show one cycle with its transcript.

    The transcript is in the journal, so it is there on the machine that did the work.
    """
    from flows.cli.transcript import transcript
    from flows.settings import read
    from tasks.journal import file_of, folder_of

    shelf = _shelf(repo)
    name = _meant(shelf, mission)
    state = shelf.state(name)
    result = shelf.cycle(name, cycle)
    home = read(Path(shelf.origin)).home
    journal = file_of(folder_of(home, name, shelf.root(name)), cycle)
    if result is None and not journal.exists():
        raise Misconfigured(f"mission {name} has no cycle {cycle}; it had {state.standing.cycles} so far")
    data, text = transcript(result, journal)
    return Answer(data, text)


@click.command()
@click.argument("mission", required=False)
@here
@click.option("--once", is_flag=True, help="Show it once and end.")
def watch(mission: str | None, repo: str, once: bool) -> Answer:
    """Follow a mission while it runs: item, step, tokens, cost, age of the last event.

    Ends by itself when no run is at work any more; Ctrl-C ends the watching, never the mission. With --json: once.
    """
    from flows.cli.watching import follow
    from flows.settings import read

    shelf = _shelf(repo)
    return follow(shelf, _meant(shelf, mission), read(Path(shelf.origin)).home, once)


def _shelf(repo: str) -> "Shelf":
    from flows.settings import read
    from tasks.git.origin import Origin
    from tasks.git.reading import Shelf

    origin = Origin.parse(repo)
    return Shelf(origin.address, read(origin.folder).home if origin.git_dir is None else Path())


def _meant(shelf: "Shelf", mission: str | None) -> str:
    if mission is not None and "." not in mission:  # an id never has a dot, a file always
        return mission
    if mission is not None:
        from flows.wanted import find_mission

        return find_mission(shelf.origin, mission).id
    known = shelf.missions()
    if len(known) == 1:
        return known[0]
    raise Misconfigured(
        f"say which mission: {', '.join(known)}"
        if known
        else f"no mission was started in {shelf.origin}; `lra run` starts one"
    )
