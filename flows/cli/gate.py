"""When does anyone ask the gate? `lra verify`: the merge gate alone, for any two trees of any repository."""

import time

import click

from flows.cli.console import Answer, Exit, progress

EXITS = {
    "pass": Exit.DONE,
    "fail": Exit.INCOMPLETE,
    "unsandboxed": Exit.INCOMPLETE,
    "unverified": Exit.UNVERIFIED,
}
SELF_TEST = "lra.self-test"
HELD_OUT = "lra.held-out"


@click.command()
@click.option("--repo", default=".", help="The repository: a path or a URL. Default: here.")
@click.option("--base", help="The revision before the change.")
@click.option("--candidate", help="The revision to judge, or WORKTREE for the files as they are.")
@click.option(
    "--contract", default="", help="The revision that trusted tests and configuration come from. Default: base."
)
@click.option("--accept", multiple=True, help="An acceptance check: must not be green on base, must be green now.")
@click.option(
    "--check", "checks", multiple=True, help="tests, lint, types, build or a command. Default: what is configured."
)
@click.option("--grant", multiple=True, help="A glob of protected files that may change.")
@click.option(
    "--held-out",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    expose_value=False,
    callback=lambda context, _, files: context.meta.update({HELD_OUT: files}),
    help="A file of tests outside of the repository, which the candidate must pass and never sees.",
)
@click.option(
    "--self-test",
    is_flag=False,
    flag_value="text",
    type=click.Choice(["text", "markdown"]),
    expose_value=False,
    callback=lambda context, _, how: context.meta.update({SELF_TEST: how}),
    help="Judge the gate instead: try cheats that it must refuse and honest patches that it must pass.",
)
def verify(
    repo: str,
    base: str | None,
    candidate: str | None,
    contract: str,
    accept: tuple[str, ...],
    checks: tuple[str, ...],
    grant: tuple[str, ...],
) -> Answer:
    """Ask the merge gate about any two trees.

    Exit 0: pass. 1: fail. 5: unverified, because no acceptance check was given. Nothing of the repository is changed.
    """
    if (how := click.get_current_context().meta[SELF_TEST]) is not None:
        return _self_tested(how)
    if base is None or candidate is None:
        raise click.UsageError(f"Missing option '{'--base' if base is None else '--candidate'}'.")
    from flows.judging import Question, judged
    from tasks.git.origin import Origin

    held_out = click.get_current_context().meta[HELD_OUT]
    asked = Question(base, candidate, contract, checks, accept, grant, held_out)
    report = judged(Origin.parse(repo).address, asked)
    lines = [
        f"{report['decision']}: {report['candidate_tree'][:12]} against {report['base_tree'][:12]}, "
        f"sandbox: {report['sandbox']}"
    ]
    notes = dict.fromkeys(report["self_written"], " (its test came with the change)")
    notes |= dict.fromkeys(report["unprobed"], " (a command: nothing probed what it proves)")
    lines += [f"  turned green: {check}{notes.get(check, '')}" for check in report["fail_to_pass"]]
    lines += [f"  unstable on the base, decides nothing: {case}" for case in report["quarantined"]]
    lines += [f"  {reason['kind']}: {reason['message']}" for reason in report["reasons"]]
    return Answer(report, "\n".join(lines), EXITS[report["decision"]])


def _self_tested(how: str) -> Answer:
    from flows.selftest.report import as_json, as_markdown, as_text
    from flows.selftest.run import every_case, run_suite
    from flows.settings import read

    started = time.perf_counter()
    results = run_suite(every_case(), read().home, progress)
    seconds = round(time.perf_counter() - started, 1)
    data = as_json(results, seconds)
    view = as_markdown(results) if how == "markdown" else as_text(results, seconds)
    wrong = data["false_accepts"] or data["false_refusals"] or data["other_kinds"]
    return Answer(data, view, Exit.INCOMPLETE if wrong else Exit.DONE)
