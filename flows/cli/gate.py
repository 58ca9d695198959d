"""When does anyone ask the gate? `lra verify`: the merge gate alone, for any two trees of any repository."""

import click

from flows.cli.console import Answer, Exit

EXITS = {"pass": Exit.DONE, "fail": Exit.INCOMPLETE, "unverified": Exit.UNVERIFIED}


@click.command()
@click.option("--repo", default=".", help="The repository: a path or a URL. Default: here.")
@click.option("--base", required=True, help="The revision before the change.")
@click.option("--candidate", required=True, help="The revision to judge, or WORKTREE for the files as they are.")
@click.option(
    "--contract", default="", help="The revision that trusted tests and configuration come from. Default: base."
)
@click.option("--accept", multiple=True, help="An acceptance check: must not be green on base, must be green now.")
@click.option(
    "--check", "checks", multiple=True, help="tests, lint, types, build or a command. Default: what is configured."
)
@click.option("--grant", multiple=True, help="A glob of protected files that may change.")
def verify(
    repo: str,
    base: str,
    candidate: str,
    contract: str,
    accept: tuple[str, ...],
    checks: tuple[str, ...],
    grant: tuple[str, ...],
) -> Answer:
    """Ask the merge gate about any two trees.

    Exit 0: pass. 1: fail. 5: unverified, because no acceptance check was given. Nothing of the repository is changed.
    """
    from flows.judging import Question, judged
    from tasks.git.origin import Origin

    report = judged(Origin.parse(repo).address, Question(base, candidate, contract, checks, accept, grant))
    lines = [
        f"{report['decision']}: {report['candidate_tree'][:12]} against {report['base_tree'][:12]}, "
        f"sandbox: {report['sandbox']}"
    ]
    lines += [f"  turned green: {check}" for check in report["fail_to_pass"]]
    lines += [f"  {reason['kind']}: {reason['message']}" for reason in report["reasons"]]
    return Answer(report, "\n".join(lines), EXITS[report["decision"]])
