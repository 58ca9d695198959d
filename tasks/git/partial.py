"""Do it: bring what a partial clone has not got, from where it was cloned, into our store alone."""

from collections.abc import Iterable

from agents.domain.errors import TryLater
from tasks.git.origin import Origin, shown
from tasks.git.plumbing import Git, as_user, borrowing

SECONDS = 3600.0


def complete(store: Git, origin: Origin, commits: Iterable[str]) -> None:
    """Make the trees of these commits whole when the origin is a partial clone; the origin itself stays as it is."""
    remote = _promisor(origin)
    git_dir = origin.git_dir
    if remote is None or git_dir is None:
        return
    names = "".join(f"{commit}\n" for commit in commits).encode()
    before: list[bytes] = []
    while (missing := _missing(store, names)) and missing != before:  # a folder that comes shows what it misses
        before = missing
        _fetch(store, origin, remote, missing)
    if missing:
        raise TryLater(
            f"{origin.shown} is a partial clone, and {len(missing)} objects of it, such as {missing[0].decode()}, are "
            f"not to be had from its remote {remote!r} either; give --repo the address of that remote"
        )


def _promisor(origin: Origin) -> str | None:
    """Return the name of the remote that holds what the origin has left out, None for a whole repository."""
    if origin.git_dir is None:
        return None
    asked = Git(origin.git_dir).attempt("config", "--name-only", "--get-regexp", r"^remote\..*\.promisor$", "true")
    first = asked.out.decode(errors="surrogateescape").partition("\n")[0]
    return first.removeprefix("remote.").removesuffix(".promisor") or None


def _missing(store: Git, names: bytes) -> list[bytes]:
    listed = store.run("rev-list", "--objects", "--no-walk", "--missing=print", "--stdin", stdin=names)
    return [row[1:] for row in listed.splitlines() if row.startswith(b"?")]


def _fetch(store: Git, origin: Origin, remote: str, missing: list[bytes]) -> None:
    plain = ("--quiet", "--no-tags", "--no-write-fetch-head", "--recurse-submodules=no", "--no-auto-maintenance")
    done = as_user(
        *("-c", "fetch.negotiationAlgorithm=noop", "fetch", *plain, "--filter=blob:none", "--stdin", "--", remote),
        git_dir=origin.git_dir,
        env=borrowing(store.git_dir, origin.git_dir) if origin.git_dir else {},
        stdin=b"".join(oid + b"\n" for oid in missing),
        seconds=SECONDS,
    )
    if done.exit != 0:
        said = shown(" ".join(done.err.split()))[:300]
        raise TryLater(
            f"{origin.shown} is a partial clone, and the {len(missing)} objects that it has left out could not be "
            f"fetched from its remote {remote!r}: {said}. Run again when it can be reached, or give --repo its address"
        )
