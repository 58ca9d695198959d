"""Is a partial clone a whole repository to work on, and does it stay as it is?"""

from pathlib import Path

import pytest
from repositories import fetched, git, make_checkout

from agents.domain.errors import TryLater


@pytest.fixture
def clone(tmp_path):
    """A clone without any file of `big`, of a repository that is still there."""
    upstream = make_checkout(tmp_path / "upstream")
    (upstream / "big/deep").mkdir(parents=True)
    (upstream / "big/deep/b.txt").write_text("far away\n")
    git(upstream, "add", "-A")
    git(upstream, "commit", "-q", "-m", "big")
    git(upstream, "config", "uploadpack.allowFilter", "true")
    git(upstream, "config", "uploadpack.allowAnySHA1InWant", "true")
    return upstream


def cloned(upstream: Path, what: str) -> Path:
    place = upstream.parent / "clone"
    git(upstream.parent, "clone", "-q", f"--filter={what}", "--sparse", f"file://{upstream}", str(place))
    return place


@pytest.mark.parametrize("what", ["blob:none", "tree:0"])
def test_what_it_left_out_is_fetched_into_the_store_alone(clone, tmp_path, what):
    place = cloned(clone, what)
    before = {path: path.read_bytes() for path in (place / ".git").rglob("*") if path.is_file()}
    store = fetched(str(place), tmp_path / "home")
    tree = store.trees.tree_of(store.head("main") or "")
    assert store.trees.lay_out(tree, tmp_path / "out") == ()
    assert (tmp_path / "out/big/deep/b.txt").read_text() == "far away\n"
    assert {path: path.read_bytes() for path in (place / ".git").rglob("*") if path.is_file()} == before


def test_without_its_remote_it_says_what_to_do(clone, tmp_path):
    place = cloned(clone, "blob:none")
    clone.rename(tmp_path / "moved")
    with pytest.raises(TryLater, match=r"partial clone, and the 1 objects .* 'origin'.*give --repo its address"):
        fetched(str(place), tmp_path / "home")
