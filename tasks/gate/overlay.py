"""Which bytes are measured? The tree's own, except where they are not its to give: those come from the contract."""

from agents.domain.protect import guards, matches
from tasks.git.trees import SUBMODULE, Trees


def owned_by(trees: Trees, contract: str, protect: tuple[str, ...], grants: tuple[str, ...]) -> frozenset[str]:
    """Return the paths that a contract tree lays down: what it has under the protected globs, without the granted."""
    return frozenset(path for path in trees.entries(contract) if guards(path, protect) and not matches(path, grants))


def trusted(trees: Trees, contract: str, tree: str, paths: frozenset[str]) -> str:
    """Return `tree` with each of `paths` as the contract tree has it, or absent where that has none.

    Submodules stay as they are: nothing of them is ever laid out.
    """
    ours, theirs = trees.entries(contract), trees.entries(tree)
    linked = {path for side in (ours, theirs) for path in paths & side.keys() if side[path].mode == SUBMODULE}
    wrong = {path for path in paths - linked if ours.get(path) != theirs.get(path)}
    for path in sorted(wrong & theirs.keys()):
        tree = trees.delete(tree, path)
    for path in sorted(wrong & ours.keys()):
        for other in [other for other in trees.entries(tree) if _exclude_each_other(path, other)]:
            tree = trees.delete(tree, other)
        tree = trees.write(tree, path, trees.blob(ours[path].oid), ours[path].mode)
    return tree


def _exclude_each_other(one: str, other: str) -> bool:
    """Say whether one of two paths would have to be a folder and a file at once."""
    return one.startswith(f"{other}/") or other.startswith(f"{one}/")
