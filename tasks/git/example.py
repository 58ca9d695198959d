"""Do it: make a small repository out of files, for the demo and for whoever wants to try."""

from collections.abc import Mapping
from pathlib import Path

from agents.domain.errors import Misconfigured
from tasks.git.plumbing import Git
from tasks.git.trees import Trees


def make_repository(folder: Path, files: Mapping[str, bytes], message: str) -> None:
    """Make `folder` a checkout of `main` whose one commit holds exactly `files`; it must be empty or absent."""
    if folder.exists() and any(folder.iterdir()):
        raise Misconfigured(f"{folder} is not empty")
    folder.mkdir(parents=True, exist_ok=True)
    git = Git(folder / ".git")
    git.run("init", "--quiet", "--template=", "--initial-branch=main")
    trees = Trees(folder / ".git")
    commit = trees.commit(trees.from_files(files), (), message)
    trees.close()
    git.run("update-ref", "refs/heads/main", commit)
    git.run("read-tree", "-m", "-u", commit, env={"GIT_WORK_TREE": str(folder)}, cwd=folder)
