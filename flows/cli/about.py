"""When something is unclear: which LRA is this, how is it set, and does each part work here?"""

import platform
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from flows.cli.console import Answer, Exit, table

if TYPE_CHECKING:
    from flows.settings import Settings


@click.command()
def version() -> Answer:
    """Name the version that is installed, from its own metadata."""
    from importlib.metadata import version as installed

    lra, python = installed("lra"), platform.python_version()
    return Answer({"version": lra, "python": python}, f"lra {lra} (Python {python})")


@click.command()
@click.option("--repo", default=".", help="The repository whose lra.toml counts. Default: here.")
def config(repo: str) -> Answer:
    """Show what counts after defaults, files, environment and flags.

    Defaults < ~/.config/lra/config.toml < lra.toml of the repository < LRA_* < flags; lra.toml only lowers limits.
    """
    from flows.settings import Settings, read, told

    settings, sources = read(Path(repo)), told(Path(repo))
    shown = {
        name: {
            "value": plain(settings, name),
            "source": sources[name].source if name in sources else "default",
            "help": field.description,
        }
        for name, field in Settings.model_fields.items()
    }
    rows = [(name, _cell(one["value"]), str(one["source"]), str(one["help"])) for name, one in shown.items()]
    return Answer({"settings": shown}, table(("setting", "value", "source", "meaning"), rows))


@click.command()
@click.option("--repo", default=".", help="The repository whose lra.toml counts. Default: here.")
def doctor(repo: str) -> Answer:
    """Look at every part that LRA needs.

    Calls no model, starts nothing and changes nothing. The exit code is 0 unless a part fails.
    """
    from flows.cli.health import examine

    findings = examine(Path(repo))
    rows = [(one.state, one.part, one.told, one.mend) for one in findings]
    failed = any(one.state == "fail" for one in findings)
    return Answer(
        {"healthy": not failed, "parts": [one._asdict() for one in findings]},
        table(("", "part", "found", "to mend it"), rows),
        Exit.INCOMPLETE if failed else Exit.DONE,
    )


def plain(settings: "Settings", name: str) -> Any:
    """Return a setting as plain data; a secret, and a password in an address, is never in it."""
    value = settings.model_dump(mode="json")[name]
    return re.sub(r"//[^/@]+@", "//***@", value) if isinstance(value, str) else value


def _cell(value: Any) -> str:
    return "-" if value is None else str(value)
