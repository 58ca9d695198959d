"""When does a verb run? `lra VERB`: read the command line, load the one file that is needed, answer, exit with a code.

A verb is a click command named like the verb in `flows/cli/<file>.py`; it returns an Answer or raises an LraError,
prints nothing but progress, and imports what is slow inside its function. One line of VERBS makes it known.
"""

import os
import sys
import traceback
from collections.abc import Callable
from importlib import import_module
from io import TextIOWrapper
from typing import Any, NamedTuple

import click
from click.exceptions import NoArgsIsHelpError

from agents.domain.errors import LraError, Misconfigured, NeedsHuman, OutOfBudget
from flows.cli.console import EVERYWHERE, Answer, Exit, give, progress, stdout_for_json


class Verb(NamedTuple):
    """The file of `flows/cli` that holds a verb, and the line of help that opens its page and stands in the list."""

    file: str
    help: str


VERBS = {
    "version": Verb("about", "Say which LRA this is."),
    "config": Verb("about", "Show every setting, its value and its source."),
    "doctor": Verb("about", "Check whether each part works here, and how to mend it."),
    "demo": Verb("demo", "Do the main job on an example: no cost, key or network."),
    "init": Verb("init", "Look at a repository, write MISSION.md and lra.toml."),
    "run": Verb("run", "Start or resume a mission, and work on it."),
    "missions": Verb("look", "List the missions of a repository."),
    "status": Verb("look", "Show where a mission stands."),
    "log": Verb("look", "Show the history of a mission."),
    "show": Verb("look", "Show one cycle with its transcript."),
    "watch": Verb("look", "Follow a mission while it runs."),
    "verify": Verb("gate", "Ask the merge gate about any two trees."),
    "audit": Verb("audit", "Verify every merge of a mission again, from git alone."),
    "metrics": Verb("metrics", "Show what missions cost and how they went."),
}

CODES: dict[type[LraError], Exit] = {
    Misconfigured: Exit.USAGE,
    NeedsHuman: Exit.WAITING,
    OutOfBudget: Exit.BUDGET,
}


class Later(click.Command):
    """A verb whose file is imported when the verb is used, so that all the others stay fast."""

    def __init__(self, name: str, verb: Verb) -> None:
        super().__init__(name, help=verb.help)
        self.verb = verb

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Hand over to the real command."""
        command: click.Command = getattr(import_module(f"flows.cli.{self.verb.file}"), str(self.name))
        _, _, more = (command.help or "").partition("\n")
        command.help = f"{self.verb.help}\n{more}"
        command.params.extend(param for param in EVERYWHERE if param not in command.params)
        return command.make_context(info_name, args, parent, **extra)


class Verbs(click.Group):
    """The verbs in the order of VERBS, as people meet them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Keep the order they were written in."""
        return list(self.commands)


@click.group(
    cls=Verbs,
    commands=[Later(name, verb) for name, verb in VERBS.items()],
    params=list(EVERYWHERE),
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.option(
    "--install-completion",
    is_flag=False,
    flag_value="",
    metavar="[SHELL]",
    expose_value=False,
    is_eager=True,
    callback=lambda context, _, shell: _install_completion(context, shell),
    help="Complete verbs and options in bash, zsh or fish (default: your shell).",
)
def lra() -> None:
    """Long-Running Agents: verified progress on software missions that last days to weeks."""


def main() -> int:
    """Run one verb and return its exit code; whatever goes wrong, a message is all that is seen without `--debug`."""
    args = sys.argv[1:]
    asked = set(args[: args.index("--")] if "--" in args else args)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a path from git may hold bytes that are not text
    if "--json" not in asked or asked & {"-h", "--help"}:
        return _leave(_guarded(lambda: give(_answer(args)), "--debug" in asked))
    with stdout_for_json() as write:
        answer = _guarded(lambda: _answer(args), "--debug" in asked)
        write(answer.data)
    return _leave(answer)


def _leave(answer: Answer) -> int:
    """Return the exit code; but once its server is gone, Prefect's threads would hold the exit for minutes."""
    if answer.data.get("kind") == "PrefectAway":
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(answer.exit)
    return answer.exit


def _answer(args: list[str]) -> Answer:
    said = lra.main(args, "lra", standalone_mode=False)
    return said if isinstance(said, Answer) else Answer({}, None, Exit(said or 0))


def _guarded(run: Callable[[], Answer], debug: bool) -> Answer:
    try:
        return run()
    except click.ClickException as error:
        return _wrong_usage(error)
    except (KeyboardInterrupt, click.Abort) as error:
        return _failure(error, "interrupted", "Interrupted", Exit.INTERRUPTED, debug)
    except LraError as error:
        code = CODES.get(type(error), Exit.INCOMPLETE)
        return _failure(error, str(error), type(error).__name__, code, debug)
    except OSError as error:
        message = f"{error.filename or 'a file'}: {error.strerror or error}; check that it is there and may be used"
        return _failure(error, message, "Misconfigured", Exit.USAGE, debug)
    except Exception as error:  # noqa: BLE001 the last line of defence: only a developer wants a traceback
        message = f"unexpected {type(error).__name__}: {error}; run with --debug for the traceback"
        return _failure(error, message, "Unexpected", Exit.INCOMPLETE, debug)


def _wrong_usage(error: click.ClickException) -> Answer:
    message = error.format_message()
    context = error.ctx if isinstance(error, click.UsageError) else None
    if isinstance(error, NoArgsIsHelpError):
        progress(message)
        message = "no verb was named; `lra --help` lists them"
    else:
        progress(f"lra: {message}\n`{context.command_path if context else 'lra'} --help` shows what is possible.")
    return Answer({"error": message, "kind": "Usage"}, None, Exit.USAGE)


def _failure(error: BaseException, message: str, kind: str, code: Exit, debug: bool) -> Answer:
    if debug:
        traceback.print_exception(error)
    progress(f"lra: {message}")
    return Answer({"error": message, "kind": kind}, None, code)


def _install_completion(context: click.Context, shell: str | None) -> None:
    if shell is None or context.resilient_parsing:
        return
    from flows.cli.completion import install
    from flows.settings import login_shell

    click.echo(install(lra, shell or login_shell()))
    context.exit()
