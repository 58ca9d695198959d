"""When is a finished mission doubted? `lra audit`: every "done" is verified again, from git alone."""

from pathlib import Path
from typing import Any

import click

from flows.cli.console import Answer, Exit, progress


@click.command()
@click.argument("mission")
@click.option("--repo", default=".", help="The repository: a path or a URL. Default: here.")
@click.option(
    "--fresh/--cached", default=True, help="Measure everything anew, or use what this machine measured before."
)
def audit(mission: str, repo: str, fresh: bool) -> Answer:
    """Verify every merge of a mission again, from git alone.

    The target's history says what was merged, the record what it was held to. Exit 0: each merge passes the gate now,
    and history and record agree. 1: something does not. A verdict of another machine may differ in its digest alone.
    """
    from tempfile import TemporaryDirectory

    from flows.auditing import Allowed, audited
    from flows.settings import read
    from tasks.git.origin import Origin

    origin = Origin.parse(repo)
    settings = read(origin.folder)
    allowed = Allowed(round(settings.check_seconds), settings.allow_unsandboxed)
    if not fresh:
        data = audited(origin.address, settings.home, mission, allowed, progress)
    else:
        with TemporaryDirectory(prefix="lra-audit-") as home:
            data = audited(origin.address, Path(home), mission, allowed, progress)
    return Answer(data, _told(data), Exit.DONE if data["sound"] else Exit.INCOMPLETE)


def _told(data: dict[str, Any]) -> str:
    lines = [f"{data['mission']}: {'sound' if data['sound'] else 'NOT SOUND'}, judged again: {len(data['merges'])}"]
    for row in data["merges"]:
        same = "the same verdict" if row["same_verdict"] else "another verdict's digest"
        lines.append(f"  {row['decision']:10} {row['item']}  {row['commit'][:12]}  {row['why'] or same}")
        lines += [f"    {reason['kind']}: {reason['message'].splitlines()[0]}" for reason in row["reasons"]]
    lines += [f"  the record names a merge that the target does not have: {name}" for name in data["not_on_target"]]
    lines += [f"  the target has a merge that the record does not know: {name}" for name in data["not_in_record"]]
    return "\n".join(lines)
