"""When a repository is named: which one is meant?"""

from pathlib import Path

from agents.domain.errors import Misconfigured


def origin_of(repo: str) -> str:
    """Return a URL as it is, and for a path the absolute path of the repository around it."""
    if "://" in repo or (":" in repo and not Path(repo).exists()):
        return repo
    here = Path(repo).expanduser().resolve()
    for folder in (here, *here.parents):
        if (folder / ".git").exists() or ((folder / "HEAD").is_file() and (folder / "objects").is_dir()):
            return str(folder)
    raise Misconfigured(f"{here} is not in a git repository; make one with `git init`, or give --repo")
