"""Do it: a private bare clone of the origin, to read from at leisure and to push from in one atomic step."""

import fcntl
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from agents.domain.errors import Misconfigured, NeedsHuman
from tasks.git import checkout
from tasks.git.origin import Origin, common_dir_of, git_dir_of
from tasks.git.partial import complete
from tasks.git.plumbing import Git, Outcome, as_user
from tasks.git.refusals import Moved, refusal, refusal_of_push
from tasks.git.trees import Trees

__all__ = ["Moved", "Store"]

CLONE_SECONDS, TALK_SECONDS = 3600.0, 600.0
_BRANCHES = "+refs/heads/*:refs/remotes/origin/*"
# A clean checkout of the pushed branch follows the push; a dirty one refuses it. Git runs this through a shell.
_RECEIVE = "--receive-pack=git -c receive.denyCurrentBranch=updateInstead receive-pack"


class Store:
    """A bare clone under LRA_HOME; a cache that may be removed at any time. Its branches are what `fetch` last saw.

    The origin is changed by `push` alone, and nothing of it is shared: it may be repacked or removed meanwhile.
    """

    def __init__(self, origin: Origin, path: Path) -> None:
        self._origin = origin
        self.path = path
        self.trees = Trees(path)

    @classmethod
    def open(cls, origin: str, home: Path) -> "Store":
        """Return the store of an origin, cloning it when there is none or only half of one; safe to call at once."""
        known = Origin.parse(origin)
        store = cls(known, home.absolute() / "store" / f"{known.key}.git")
        if not store._is_whole():
            store.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with store._locked() as lock:
                if not store._is_whole():
                    store._clone(lock)
        return store

    @property
    def origin(self) -> str:
        """Where the origin is, for people: without a password or token."""
        return self._origin.shown

    def fetch(self) -> None:
        """Bring the origin's branches here as they are now, those that are gone too; refs/lra is left alone."""
        quiet = ("--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--no-recurse-submodules")
        with self._locked() as lock:
            self._talk("fetch", "--prune", *quiet, "origin", _BRANCHES, held=(lock,))
            complete(self.trees.git, self._origin, self._heads())

    def default_branch(self) -> str:
        """Return the branch the origin's HEAD is on (of a checkout: what is checked out), asking the origin.

        Misconfigured for a detached HEAD and for a repository without a commit.
        """
        asked = self._talk("ls-remote", "--symref", "origin", "HEAD").out.decode(errors="surrogateescape")
        lines = asked.splitlines()
        names = [line[5:].partition("\t")[0] for line in lines if line.startswith("ref: ") and line.endswith("\tHEAD")]
        if names and len(lines) > 1:
            return names[0].removeprefix("refs/heads/")
        if lines and not names:
            raise Misconfigured(
                f"{self.origin} is not on a branch (detached HEAD); check one out, or name the target branch"
            )
        raise Misconfigured(f"the present branch of {self.origin} has no commit yet; commit something first")

    def head(self, branch: str) -> str | None:
        """Return the commit of a branch of the origin as last fetched or pushed, None if there is no such branch."""
        return self.ref(f"refs/remotes/origin/{branch}")

    def ref(self, name: str) -> str | None:
        """Return the object of a full ref name of the store itself."""
        found = self.trees.objects.header(name)
        return found[0] if found else None

    def commit_of(self, rev: str) -> str:
        """Return the commit that a person means by `rev`: as in the origin when it is on this machine; brought here."""
        git_dir = self._origin.git_dir
        names = (rev,) if git_dir else (f"refs/remotes/origin/{rev}", rev)
        for name in names:
            asked = (Git(git_dir) if git_dir else self.trees.git).attempt(
                "rev-parse", "--quiet", "--verify", "--end-of-options", f"{name}^{{commit}}"
            )
            if asked.exit == 0:
                oid = asked.out.decode().strip()
                if not self.trees.has(oid):
                    anything = "--upload-pack=git -c uploadpack.allowAnySHA1InWant=true upload-pack"
                    self._talk("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", anything, "origin", oid)
                complete(self.trees.git, self._origin, (oid,))
                return oid
        shallow = git_dir is not None and (common_dir_of(git_dir) / "shallow").exists()
        more = "; it is a shallow clone: `git fetch --unshallow` brings its history" if shallow else ""
        raise Misconfigured(f"{self.origin} has no revision {rev!r}; name a branch, a tag or a commit{more}")

    def push(self, updates: Mapping[str, str]) -> None:
        """Move all these refs of the origin to these commits, or none; each forwards from where it was last seen.

        Moved when somebody else was first, NeedsHuman when a dirty checkout or a hook refuses, TryLater when the origin
        cannot be reached, Misconfigured when it may not be pushed to. After any of them the origin is as it was.
        """
        plain = ("--porcelain", "--atomic", "--no-verify", "--no-signed", "--no-follow-tags", "--recurse-submodules=no")
        receive = (_RECEIVE,) if self._origin.folder else ()
        refspecs = [f"{oid}:{ref}" for ref, oid in updates.items()]
        last = {ref: self.head(ref.removeprefix("refs/heads/")) for ref in updates}
        for ref, oid in updates.items():  # git's lease alone would let a ref go anywhere from where it was seen
            if (old := last[ref]) is not None and not self.trees.is_ancestor(old, oid):
                raise Moved(f"{ref} of {self.origin} is at {old[:12]}, which {oid[:12]} does not follow")
        seen = [f"--force-with-lease={ref}:{old or ''}" for ref, old in last.items()]
        args = (*plain, *seen, *receive, "origin", *refspecs)
        with self._locked() as lock:
            done = as_user("push", *args, git_dir=self.path, seconds=TALK_SECONDS, held=(lock,))
        if done.exit != 0:
            self._refuse_half_updated(done, updates)
            raise refusal_of_push(done, self._origin)

    def checkout_trouble(self, branch: str) -> str | None:
        """Say in one sentence what in a checkout of this branch stands against a later push; see `checkout`."""
        return checkout.trouble_in(self._origin, branch)

    def checkout_tree(self, base: str, folder: Path) -> str:
        """Return the files of a checkout of the origin as git would commit them, as a tree; see `checkout`."""
        return checkout.tree_of(self.trees.git, self._origin, folder, base)

    def git(self, *args: str) -> str:
        """Run one plumbing command on the store and return its text; GitFailed if it fails."""
        return self.trees.git.run(*args).decode("utf-8", "surrogateescape")

    def _heads(self) -> list[str]:
        return self.git("for-each-ref", "--format=%(objectname)", "refs/remotes/origin").split()

    def _is_whole(self) -> bool:
        return git_dir_of(self.path) == self.path

    @contextmanager
    def _locked(self) -> Iterator[int]:
        """Let one process at a time change the refs of the store: two fetches at once would fail on git's ref locks.

        Yield the lock, for git to hold as well: locks of git's own that are there now are those of one that was killed.
        """
        with self.path.with_suffix(".lock").open("wb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            for left in (self.path / "packed-refs.lock", *self.path.glob("refs/remotes/**/*.lock")):
                left.unlink(missing_ok=True)
            yield lock.fileno()

    def _clone(self, lock: int) -> None:
        part = self.path.with_suffix(".part")
        for rest in (part, self.path):
            shutil.rmtree(rest, ignore_errors=True)
        plain = ("--quiet", "--bare", "--template=", "--origin=origin", "--config=gc.auto=0")
        ways = ("--local", "--no-local") if self._origin.linkable and not self._borrows() else ("--no-local",)
        for how in ways:  # files of another user cannot be linked everywhere; then they are copied
            where = ("--", self._origin.address, str(part))
            made = as_user("clone", *plain, how, *where, seconds=CLONE_SECONDS, held=(lock,))
            if made.exit == 0:
                break
            shutil.rmtree(part, ignore_errors=True)
        else:
            raise refusal(made, self._origin)
        clone = Git(part)
        if clone.run("rev-parse", "--show-object-format").strip() != b"sha1":
            shutil.rmtree(part)
            raise Misconfigured(
                f"{self.origin} names its objects by sha256, which LRA does not read; use a sha1 repository"
            )
        # The branches of the clone itself would only grow old: what the origin has is under refs/remotes/origin.
        heads = clone.run("for-each-ref", "--format=%(objectname) %(refname)", "refs/heads").splitlines()
        moves = (row.split(b" ", 1) for row in heads)
        rows = (b"create refs/remotes/origin/%s %s\ndelete %s\n" % (ref[11:], oid, ref) for oid, ref in moves)
        clone.run("update-ref", "--stdin", stdin=b"".join(rows))
        clone.run("config", "remote.origin.fetch", _BRANCHES)
        part.rename(self.path)

    def _borrows(self) -> bool:
        """Say whether the origin's objects are partly in another repository: a linked clone would need that one too."""
        git_dir = self._origin.git_dir
        if git_dir is None:
            return True
        return (common_dir_of(git_dir) / "objects/info/alternates").exists()

    def _refuse_half_updated(self, done: Outcome, updates: Mapping[str, str]) -> None:
        """Say how to undo what git itself leaves: it updates a checkout first, and may then fail to move the ref."""
        if b"atomic transaction failed" not in done.out:
            return
        for ref, oid in updates.items():
            branch = ref.removeprefix("refs/heads/")
            if self.checkout_trouble(branch) is not None:
                place = next(iter(checkout.checkouts_of(self._origin.git_dir or self.path, branch)), self.origin)
                raise NeedsHuman(
                    f"{self.origin} changed in the moment of the push: {place} shows the new files, but {branch} did "
                    f"not move. There, run `git read-tree -m -u {oid} HEAD`, which undoes this and keeps changes of "
                    "your own; then run again"
                )

    def _talk(self, *args: str, held: tuple[int, ...] = ()) -> Outcome:
        done = as_user(*args, git_dir=self.path, seconds=TALK_SECONDS, held=held)
        if done.exit != 0:
            raise refusal(done, self._origin)
        return done
