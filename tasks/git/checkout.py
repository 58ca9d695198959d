"""Do it: what stands in a person's checkout of the origin; it is read, with their configuration, and never changed."""

import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from agents.domain.errors import Misconfigured
from tasks.git.layout import CACHES
from tasks.git.objects import SUBMODULE
from tasks.git.origin import Origin, common_dir_of
from tasks.git.paths import text_of
from tasks.git.plumbing import Git, Outcome, as_user, borrowing
from tasks.git.refusals import refusal

SECONDS = 600.0
_REBASES = ("rebase-merge/head-name", "rebase-apply/head-name")
_QUIET = ("-c", "core.fsmonitor=false", "-c", "core.splitIndex=false", "-c", "core.safecrlf=false")


def trouble_in(origin: Origin, branch: str) -> str | None:
    """Say in one sentence why a push of this branch would be refused by, or do harm in, a checkout; None if it can go.

    Harm is files that the push leaves as they were: there they look like changes that take the finished work back.
    """
    git_dir = origin.git_dir
    if git_dir is None:
        return None
    if rebased := next(_rebased(common_dir_of(git_dir), branch), None):
        return f"a rebase of {branch} is in progress ({rebased}): finish it (git rebase --continue) or give it up"
    places = checkouts_of(git_dir, branch)
    if not places:
        return None
    if len(places) > 1:
        where = " and in ".join(map(str, places))
        return (
            f"{branch} is checked out in {where}, and git brings only one of them up to date with what is merged: "
            "run `git switch --detach` in the others, or remove them"
        )
    if Git(git_dir).attempt("config", "--get", "core.worktree").exit == 0:
        return (
            f"{origin.shown} is a submodule or has a core.worktree, and git does not bring the files of such a "
            f"checkout up to date with what is merged: run `git switch --detach` there and name `target: {branch}` in "
            "the mission file, or give --repo a clone of it"
        )
    return _uncommitted(origin, places[0], branch)


def checkouts_of(git_dir: Path, branch: str) -> tuple[Path, ...]:
    """Return every folder that has this branch checked out: of the repository itself, and linked worktrees."""
    listed = Git(git_dir).run("worktree", "list", "--porcelain", "-z").decode("utf-8", "surrogateescape")
    records = (record.split("\0") for record in listed.split("\0\0"))
    places = (Path(f[0].removeprefix("worktree ")) for f in records if f"branch refs/heads/{branch}" in f)
    return tuple(place for place in places if place.is_dir())


def status_trouble(place: Path, seen: Outcome) -> str:
    """Say that `git status` does not work in a checkout, and why: a filter such as git-lfs may not be installed."""
    said = " ".join(seen.err.split())[:300] or "git said nothing"
    return f"`git status` does not work in {place} ({said}): it must work before a run; install what it misses there"


def tree_of(store: Git, origin: Origin, folder: Path, base: str) -> str:
    """Return, as a tree in the store, the files of a checkout as git would commit them: filtered, ignored as it says.

    Files that a sparse checkout leaves out are as its index has them; submodules are as in `base`, whatever they hold.
    """
    git_dir = origin.git_dir
    if git_dir is None:
        raise Misconfigured(f"{origin.shown} has no files here")
    with TemporaryDirectory(prefix="lra-index-") as private:
        env = borrowing(store.git_dir, git_dir) | {"GIT_INDEX_FILE": str(Path(private) / "index")}

        def ask(*args: str, stdin: bytes = b"", env: dict[str, str] = env) -> bytes:
            done = as_user(*_QUIET, *args, cwd=folder, env=env, stdin=stdin, seconds=SECONDS)
            if done.exit != 0:
                said = " ".join(done.err.split())[:300]
                raise Misconfigured(f"git cannot read the files of {folder} ({said}); see `git status` there")
            return done.out

        left_out = list(_left_out(ask("ls-files", "-z", "-t", "-s", env={}), folder))
        ask("read-tree", base)
        ask("update-index", "-z", "--index-info", stdin=b"".join(row + b"\0" for row, _ in left_out))
        modules = [row.partition(b"\t")[2] for row in ask("ls-files", "-z", "-s").split(b"\0") if _is_module(row)]
        kept = b"".join(path + b"\0" for path in (*modules, *(path for _, path in left_out)))
        ask("update-index", "-z", "--skip-worktree", "--stdin", stdin=kept)
        ask("add", "--update", "--sparse")
        caches = (f"--exclude={name}/" for name in CACHES)
        found = ask("ls-files", "-z", "--others", "--exclude-standard", *caches).split(b"\0")
        new = b"".join(path + b"\0" for path in found if path and not path.endswith(b"/"))
        ask("update-index", "-z", "--add", "--stdin", stdin=new)
        return ask("write-tree", "--missing-ok").decode().strip()


def _uncommitted(origin: Origin, place: Path, branch: str) -> str | None:
    plain = ("--porcelain=v1", "-z", "--untracked-files=no", "--ignore-submodules=all", "--no-renames")
    seen = as_user("-c", "core.fsmonitor=false", "status", *plain, cwd=place, seconds=SECONDS)
    if "dubious ownership" in seen.err:
        raise refusal(seen, origin)
    if seen.exit != 0:
        return status_trouble(place, seen)
    rows = [text_of(row) for row in seen.out.split(b"\0") if row]
    if not rows:
        return None
    kind = "staged" if all(row[0] != " " for row in rows) else "uncommitted"
    names = ", ".join(row[3:] for row in rows[:3]) + (f" and {len(rows) - 3} more" if len(rows) > 3 else "")
    return f"{place} has {kind} changes in {names}: commit or stash them, or finished work cannot reach {branch}"


def _rebased(common: Path, branch: str) -> Iterator[Path]:
    """Yield the places where git keeps a rebase of this branch that has not ended: HEAD is detached meanwhile."""
    for git_dir in (common, *common.glob("worktrees/*")):
        for name in _REBASES:
            place = git_dir / name
            if place.is_file() and place.read_bytes().strip() == os.fsencode(f"refs/heads/{branch}"):
                yield place.parent


def _left_out(listed: bytes, folder: Path) -> Iterator[tuple[bytes, bytes]]:
    """Yield what the index has and the checkout, being sparse, has not: the entry as git writes it, and its path."""
    for row in listed.split(b"\0"):
        head, _, path = row.partition(b"\t")
        if head.startswith(b"S ") and not os.path.lexists(folder / os.fsdecode(path)):
            yield head[2:] + b"\t" + path, path


def _is_module(row: bytes) -> bool:
    return row.startswith(SUBMODULE.encode())
