"""Do it: where a repository is, and under which name it is known here."""

import hashlib
import re
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from agents.domain.errors import Misconfigured

_CREDENTIALS = re.compile(r"(?<=://)[^/@\s]*@")
_SSH = re.compile(r"[^/:]+:(?!:)")


class Origin(NamedTuple):
    """A repository as git is told of it; `folder` where it is here, `linkable` when it was named by a path."""

    address: str
    folder: Path | None
    linkable: bool

    @classmethod
    def parse(cls, text: str) -> "Origin":
        """Read a path (also of a folder inside a checkout), a URL or an ssh address; Misconfigured otherwise."""
        if "://" in text:
            scheme, _, rest = text.partition("://")
            if scheme not in ("file", "git", "http", "https", "ssh"):
                raise Misconfigured(
                    f"{shown(text)} is no address of a repository: use a path, file, git, http, https or ssh"
                )
            return cls(text.rstrip("/"), Path(unquote(rest)) if scheme == "file" else None, False)
        path = Path(text).expanduser()
        if not path.exists() and _SSH.match(text) and not text.startswith("-"):
            return cls(text, None, False)
        folder = _top_of(path.resolve()) if path.exists() else None
        if folder is None:
            missing = (
                "does not exist" if not path.exists() else "is not a git repository; run `git init` in it and commit"
            )
            raise Misconfigured(f"{text} {missing}")
        return cls(str(folder), folder, True)

    @property
    def shown(self) -> str:
        """The address without any password or token, for people."""
        return shown(self.address)

    @property
    def key(self) -> str:
        """The name of its folder in the store: readable, and different for every address."""
        last = re.sub(r"[^A-Za-z0-9._-]+", "-", re.split(r"[/:]", self.shown)[-1].removesuffix(".git")).strip(".-")
        return f"{last or 'origin'}-{hashlib.sha256(self.address.encode('utf-8', 'surrogateescape')).hexdigest()[:12]}"

    @property
    def git_dir(self) -> Path | None:
        """The git directory, when the repository is on this machine; found without starting git."""
        return git_dir_of(self.folder) if self.folder else None


def shown(text: str) -> str:
    """Take user names, passwords and tokens out of every URL in a text."""
    return _CREDENTIALS.sub("", text)


def git_dir_of(folder: Path) -> Path | None:
    """Return the git directory of a checkout, a linked worktree or a bare repository; None if it is none of them."""
    inside = folder / ".git"
    if inside.is_file():
        target = inside.read_text(errors="surrogateescape").removeprefix("gitdir:").strip()
        return folder / target
    for place in (inside, folder):
        if (place / "HEAD").is_file() and (place / "objects").is_dir():
            return place
    return None


def common_dir_of(git_dir: Path) -> Path:
    """Return where the objects and branches of a git directory are: of a linked worktree, in its repository."""
    common = git_dir / "commondir"
    return git_dir / common.read_text(errors="surrogateescape").strip() if common.is_file() else git_dir


def _top_of(path: Path) -> Path | None:
    return next((folder for folder in (path, *path.parents) if git_dir_of(folder)), None)
