"""Do it: what a refusal of git means, and who must act on it."""

import re

from agents.domain.errors import LraError, Misconfigured, NeedsHuman, TryLater
from tasks.git.origin import Origin, shown
from tasks.git.plumbing import Outcome

_BEHIND = frozenset(
    {
        "non-fast-forward",
        "fetch first",
        "stale info",
        "needs force",
        "already exists",
        "lock ref",
        "failed to update ref",
        "incorrect old value",
        "atomic transaction failed",
    }
)
_IN_THE_WAY = frozenset({"Working directory has", "Could not update working tree", "Up-to-date check failed"})
_NO_ENTRY = frozenset(
    {
        "permission denied",
        "authentication failed",
        "could not read username",
        "insufficient permission",
        "access denied",
        "error: 403",
        "error: 401",
        "terminal prompts disabled",
        "host key verification failed",
    }
)
_NOT_THERE = frozenset(
    {
        "does not appear to be a git repository",
        "not found",
        "does not exist",
        "not a git repository",
        "service not enabled",
        "repository not exported",
        "does not support --atomic",
    }
)


class Moved(LraError):
    """The origin has something that this push would have undone: somebody pushed first. No ref was moved."""


def refusal_of_push(push: Outcome, origin: Origin) -> LraError:
    """Return what a push that did not succeed means; no ref has moved, for the push was atomic."""
    rows = [line.split("\t") for line in push.out.decode(errors="replace").splitlines() if line.startswith("!\t")]
    reasons = [row[2] for row in rows if len(row) == 3 and "atomic push fail" not in row[2]]
    told = _words_of_origin(push.err)
    if not rows or any("unpacker error" in reason or "unpack failed" in reason for reason in reasons):
        return refusal(push, origin)
    if any(_is_any(_IN_THE_WAY, reason) for reason in reasons):
        why = next(reason for reason in reasons if _is_any(_IN_THE_WAY, reason))
        return NeedsHuman(
            f"the checkout {origin.shown} cannot take the finished work: {_inner(why).rstrip('.')}{told}. Nothing was "
            "lost and nothing was moved. Commit, stash or move away what is in the way there, and run again"
        )
    if any("currently checked out" in reason for reason in reasons):
        return Misconfigured(
            f"{origin.shown} has this branch checked out and refuses pushes to it; there, run "
            "`git config receive.denyCurrentBranch updateInstead`, or push to a bare repository"
        )
    if any("hook declined" in reason for reason in reasons):
        return NeedsHuman(
            f"a hook of {origin.shown} refused the push{told or ' and said nothing'}. Nothing was moved. "
            "Let it pass there and run again, or start the mission under another title with a `target:` it lets pass"
        )
    if "permission denied" in push.err.lower():
        return refusal(push, origin)
    if found := re.search(r"'refs/heads/(lra\S*)' exists", push.err):
        return Misconfigured(
            f"{origin.shown} has a branch {found[1]}, where LRA keeps the records of missions: rename it "
            f"(git branch -m {found[1]} another-name) and run again"
        )
    if ".lock': File exists" in push.err:
        return TryLater(
            f"another git process is at work in {origin.shown}, or one crashed there{told}; run the same command again"
        )
    if not reasons or all(_is_any(_BEHIND, reason) for reason in reasons):
        return Moved(f"{origin.shown} moved meanwhile ({', '.join(map(_inner, reasons)) or 'atomic push failed'})")
    return NeedsHuman(f"{origin.shown} refused the push: {'; '.join(map(_inner, reasons))}{told}. Nothing was moved")


def refusal(talk: Outcome, origin: Origin) -> LraError:
    """Return what it means that git could not talk to an origin."""
    said = shown(" ".join(talk.err.split()))[:600] or "git said nothing"
    low = said.lower()
    if "dubious ownership" in low:
        return Misconfigured(
            f"{origin.shown} belongs to another user, and git does not trust it. If you do: "
            f"`git config --global --add safe.directory {origin.folder or origin.shown}`"
        )
    if _is_any(_NO_ENTRY, low):
        return Misconfigured(
            f"no permission for {origin.shown}; check its rights or your credentials. Git said: {said}"
        )
    if _is_any(_NOT_THERE, low):
        return Misconfigured(f"{origin.shown} is not there, or not for you; check the address. Git said: {said}")
    if origin.folder is not None:
        return Misconfigured(f"git cannot use {origin.shown}: {said}")
    return TryLater(f"{origin.shown} could not be reached; run the same command again later. Git said: {said}")


def _is_any(causes: frozenset[str], said: str) -> bool:
    return any(cause in said for cause in causes)


def _inner(reason: str) -> str:
    """Return what stands in the brackets of `[rejected] (reason)`."""
    return reason.partition("(")[2].rstrip(")") or reason


def _words_of_origin(err: str) -> str:
    """Return what the other side said: through the protocol, or, on this machine, on the same stderr."""
    lines = [line.strip() for line in err.splitlines() if line.startswith(("remote:", "error:", "fatal:"))]
    said = [line.removeprefix("remote:").strip() for line in lines if "failed to push some refs" not in line]
    return f": {shown(' / '.join(filter(None, said)))[:1000]}" if any(said) else ""
