"""When a repository meets LRA: look at it, write a mission file to begin with, and say what was found."""

from pathlib import Path
from shlex import quote
from typing import NamedTuple

import click

from agents.domain.errors import Misconfigured
from flows.cli.console import Answer

MISSION = """\
---
{target}
checks: [{checks}]    # what must never get worse: tests, lint, types, build, or commands
# protect: ["tests/**", "pyproject.toml"]    # what no item may change; default: tests and every tool configuration
# budget: {{usd: 2.00, tokens: 2000000, hours: 12}}    # default: no limit
# attempts: 3    # how often an item is tried before it waits for you
---
# Say here what this mission is about

Say why it matters, what must be kept in mind, and what must not change. Every attempt reads this text.

<!-- One item per task: an id, a colon, and what is true when it is done. An item is done when a check of it was red
     before and is green after. More lines for an item: files (where the change belongs), needs (items that come
     first), priority (high, normal, low), may_edit (protected files it may change). -->

- [ ] example: replace this item by your own
  - check: {check}
"""


class Look(NamedTuple):
    """What a repository is like: its branch ("" when detached), suites that apply, test files, uncommitted changes."""

    branch: str
    suites: tuple[str, ...]
    tests: int
    uncommitted: int


@click.command()
@click.option("--repo", default=".", help="The repository. Default: here.")
def init(repo: str) -> Answer:
    """Look at a repository.

    MISSION.md is an example to change; in lra.toml limits can be lowered. A file that exists is never overwritten:
    with a MISSION.md nothing is written at all, an lra.toml is kept.
    """
    from tasks.git.origin import Origin

    root = Path(Origin.parse(repo).address)
    if not (root / ".git").exists():
        raise Misconfigured(f"{root} has no files to look at: give --repo a checkout, not a bare repository or a URL")
    mission, settings = root / "MISSION.md", root / "lra.toml"
    if mission.exists() or mission.is_symlink():
        raise Misconfigured(f"{mission} exists and is kept as it is; go on with: lra run {quote(str(mission))}")
    found = _look(root)
    written = [_write_new(mission, _mission_text(found))]
    if not settings.exists() and not settings.is_symlink():
        written.append(_write_new(settings, _settings_text()))
    data = {"repository": str(root), "found": found._asdict(), "written": written}
    return Answer(data, _told(root, found, written))


def _look(root: Path) -> Look:
    from tasks.checks.detect import detect
    from tasks.git.checkout import status_trouble
    from tasks.git.origin import common_dir_of, git_dir_of
    from tasks.git.plumbing import as_user
    from tasks.git.trees import Trees

    head = as_user("rev-parse", "--verify", "--quiet", "HEAD^{tree}", cwd=root, seconds=60)
    if head.exit != 0:
        raise Misconfigured(f"{root} has no commit to start from: {head.err.strip() or 'make one with git commit'}")
    branch = as_user("symbolic-ref", "--quiet", "--short", "HEAD", cwd=root, seconds=60).out.decode().strip()
    changes = as_user("status", "--porcelain", "-z", "--no-renames", cwd=root, seconds=300)
    if changes.exit != 0:
        raise Misconfigured(status_trouble(root, changes))
    tree, trees = head.out.decode().strip(), Trees(common_dir_of(git_dir_of(root) or root))
    paths = trees.listing(tree)
    suites = detect(paths, lambda path: trees.read(tree, path))
    trees.close()
    return Look(branch, suites, sum(map(_is_test, paths)), changes.out.count(b"\0"))


def _is_test(path: str) -> bool:
    stem, _, kind = path.rpartition("/")[2].partition(".")
    return (kind == "py" and (stem.startswith("test_") or stem.endswith("_test"))) or kind.startswith(
        ("test.", "spec.")
    )


def _mission_text(found: Look) -> str:
    from json import dumps

    target = f"target: {dumps(found.branch)}    # the branch that finished work is merged into"
    return MISSION.format(
        target=target if found.branch else "# target: main    # the branch that finished work is merged into",
        checks=", ".join(found.suites),
        check="pytest tests/test_example.py" if "tests" in found.suites else "python -c 'import example'",
    )


def _settings_text() -> str:
    from json import dumps

    from flows.settings import FREE, LOWER, Settings

    lines = ["# Settings of LRA for this repository: limits can be lowered here, never raised. See: lra config"]
    for name, field in Settings.model_fields.items():
        if name in LOWER | FREE:
            lines += ["", f"# {field.description}", f"# {name} = {dumps(field.default)}"]  # JSON's scalars are TOML's
    return "\n".join(lines) + "\n"


def _write_new(path: Path, text: str) -> str:
    with path.open("x", encoding="utf-8") as file:
        file.write(text)
    return str(path)


def _told(root: Path, found: Look, written: list[str]) -> str:
    dirty = f"{found.uncommitted} uncommitted; a run works from commits and merges into a clean checkout only"
    return "\n".join(
        [
            f"repository   {root}",
            f"branch       {found.branch or 'none, HEAD is detached: name one with target:'}",
            f"checks       {', '.join(found.suites) or 'none found: name commands in checks:'}",
            f"test files   {found.tests}",
            f"changes      {dirty if found.uncommitted else 'none uncommitted'}",
            *(f"written      {path}" for path in written),
            f"Now edit {quote(written[0])}, then: lra run {quote(written[0])}",
        ]
    )
