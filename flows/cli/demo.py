"""When somebody wants to see it work: the main job on an example, with a genuine recording, at no cost."""

import shutil
import time
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from shlex import quote
from typing import Any

import click

from flows.cli.console import Answer, progress

PINNED = {"max_calls": 1, "max_tokens": 1024, "temperature": 0.0, "moves": "text", "show_work": False}
SHIPPED = {"allow_unsandboxed": True}  # what runs here came with LRA


@click.command()
@click.option("--record", type=click.Path(file_okay=False, path_type=Path), help="Make a new recording in this folder.")
@click.option("--model", help="With --record: the litellm model name that answers.")
@click.option("--api-base", help="With --record: an OpenAI-compatible server.")
def demo(record: Path | None, model: str | None, api_base: str | None) -> Answer:
    """Do the main job on an example: no cost, key or network.

    A mission of four items is worked on, verified and merged in a small repository made for it. The model's
    replies are a genuine recording; everything else happens now, on this machine.
    """
    from flows.cli.run import follow
    from flows.settings import read

    if (record is None) != (model is None):
        raise click.UsageError("--record needs --model, and --model needs --record")
    home = read().home
    place = home / "demo" / time.strftime("%Y%m%d-%H%M%S")
    _make(place)
    recording = files("flows") / "demo" / "recording"
    flags: dict[str, Any] = {**PINNED, **SHIPPED, "model": model or f"recorded:{recording}", "api_base": api_base}
    progress(f"a repository for this demo: {place}")
    answer = follow(
        str(place), "MISSION.md", None, None, {key: value for key, value in flags.items() if value is not None}
    )
    journals = _journals(home, place, answer.data["mission"])
    if record is not None:
        _capture(journals, record)
        return Answer(answer.data | {"recording": str(record)}, f"{answer.view}\nrecorded in {record}", answer.exit)
    data = {**answer.data, **_where(home, place, journals), "recorded": _recorded(journals)}
    return Answer(data, f"{answer.view}\n\n{_told(data)}", answer.exit)


def _make(place: Path) -> None:
    from tasks.git.example import make_repository

    source = files("flows") / "demo"
    content = dict(_read(source / "project", ""))
    content["MISSION.md"] = (source / "MISSION.md").read_bytes()
    make_repository(place, content, "A small project\n")


def _read(folder: Traversable, prefix: str) -> list[tuple[str, bytes]]:
    found: list[tuple[str, bytes]] = []
    for entry in folder.iterdir():
        if entry.is_file():
            found.append((prefix + entry.name, entry.read_bytes()))
        elif not entry.name.startswith((".", "__")):  # what tools leave in a checkout is not part of the example
            found += _read(entry, f"{prefix}{entry.name}/")
    return found


def _journals(home: Path, place: Path, mission: str) -> Path:
    from tasks.git.reading import Shelf
    from tasks.journal import folder_of

    return folder_of(home, mission, Shelf(str(place), home).root(mission))


def _capture(journals: Path, record: Path) -> None:
    record.mkdir(parents=True, exist_ok=True)
    for old in record.glob("*.jsonl"):
        old.unlink()
    for journal in sorted(journals.glob("*.jsonl")):
        shutil.copy(journal, record / journal.name)


def _where(home: Path, place: Path, journals: Path) -> dict[str, Any]:
    from analytics.warehouse import ingest
    from tasks.server import running

    ingest(home)
    server = running(home)
    return {
        "repository": str(place),
        "journals": str(journals),
        "prefect_ui": server.ui if server else "at PREFECT_API_URL",
        "metrics": str(home / "metrics" / "snapshot.duckdb"),
    }


def _recorded(journals: Path) -> dict[str, Any]:
    """Add up what the recorded calls cost when they were made, as their provider said."""
    from tasks.journal import read as rows_of

    replies = [row.data for path in sorted(journals.glob("*.jsonl")) for row in rows_of(path)[0] if _is_reply(row)]
    priced = [reply["micros"] for reply in replies if reply["micros"] is not None]
    return {
        "model": ", ".join(sorted({reply["model"] for reply in replies})),
        "calls": len(replies),
        "tokens": sum(reply["usage"]["prompt"] + reply["usage"]["completion"] for reply in replies),
        "model_seconds": round(sum(reply["seconds"] for reply in replies), 1),
        "cost_usd": sum(priced) / 1_000_000 if len(priced) == len(replies) else None,
    }


def _is_reply(row: Any) -> bool:
    return bool(row.kind == "think" and row.phase == "result")


def _told(data: dict[str, Any]) -> str:
    was = data["recorded"]
    cost = "unpriced" if was["cost_usd"] is None else f"${was['cost_usd']:.6f}"
    place = quote(data["repository"])
    return "\n".join(
        (
            "This was a recording: the model's replies were captured earlier; checks, merges and record are of now.",
            f"  when recorded  {was['model']}: {was['calls']} calls, {was['tokens']} tokens, "
            f"{was['model_seconds']} s, {cost}",
            f"  the work       git -C {place} log --graph main",
            f"  the record     lra status {data['mission']} --repo {place}",
            f"  a transcript   lra show {data['mission']} 1 --repo {place}",
            f"  Prefect UI     {data['prefect_ui']}",
            "  the metrics    lra metrics sql 'FROM spend'",
        )
    )
