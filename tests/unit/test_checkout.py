"""Is a checkout read as its own git reads it, never changed, and found out when a push would do harm in it?"""

from pathlib import Path

import pytest
from repositories import fetched, git, make_checkout

from agents.domain.errors import Misconfigured
from tasks.git.store import Store

UTF_16 = "héllo\r\n".encode("utf-16")


@pytest.fixture
def checkout(tmp_path):
    """A checkout whose files are not the bytes that git keeps of them: line ends, an encoding, a filter."""
    place = make_checkout(tmp_path / "my project")
    git(place, "config", "filter.up.clean", "tr a-z A-Z")
    git(place, "config", "filter.up.smudge", "tr A-Z a-z")
    rules = "*.txt text eol=crlf\n*.u16 working-tree-encoding=UTF-16\n*.up filter=up\n"
    (place / ".gitattributes").write_text(rules)
    (place / "b.u16").write_bytes(UTF_16)
    (place / "c.up").write_text("loud\n")
    (place / "a.txt").write_bytes(b"one\r\n")
    git(place, "add", "-A")
    git(place, "commit", "-q", "-m", "attributes")
    return place


@pytest.fixture
def store(checkout, tmp_path):
    return fetched(str(checkout), tmp_path / "home")


def seen(store: Store, checkout: Path) -> dict[str, str]:
    """What the checkout has become: the kind of change by path."""
    base = store.trees.tree_of(store.commit_of("HEAD"))
    return {c.path: c.kind for c in store.trees.diff(base, store.checkout_tree(base, checkout))}


def test_files_that_git_stores_otherwise_are_not_changed(store, checkout):
    assert (checkout / "c.up").read_text() == "loud\n"
    assert store.trees.read(store.trees.tree_of(store.commit_of("HEAD")), "c.up") == b"LOUD\n"
    assert seen(store, checkout) == {}


def test_what_changed_is_seen_and_what_is_ignored_is_not(store, checkout):
    (checkout / "a.txt").write_bytes(b"two\r\n")
    (checkout / "b.u16").unlink()
    (checkout / "new.txt").write_bytes(b"x\r\n")
    (checkout / ".git/info/exclude").write_text("*.mine\n")
    (checkout / "notes.mine").write_text("")
    (checkout / "__pycache__").mkdir()
    (checkout / "__pycache__/a.pyc").write_text("")
    assert seen(store, checkout) == {"a.txt": "modified", "b.u16": "deleted", "new.txt": "added"}


def test_what_a_person_hid_from_git_is_seen_all_the_same(store, checkout):
    git(checkout, "update-index", "--assume-unchanged", "a.txt")
    git(checkout, "update-index", "--skip-worktree", "c.up")
    (checkout / "a.txt").write_bytes(b"two\r\n")
    (checkout / "c.up").write_text("quiet\n")
    assert seen(store, checkout) == {"a.txt": "modified", "c.up": "modified"}


def test_the_checkout_and_its_repository_are_only_read(store, checkout):
    (checkout / "new.txt").write_text("x\n")
    before = {path: path.read_bytes() for path in checkout.rglob("*") if path.is_file()}
    assert seen(store, checkout)
    assert {path: path.read_bytes() for path in checkout.rglob("*") if path.is_file()} == before


def test_what_a_sparse_checkout_leaves_out_was_not_deleted(store, checkout):
    (checkout / "src").mkdir()
    (checkout / "src/a.py").write_text("x = 1\n")
    git(checkout, "add", "-A")
    git(checkout, "commit", "-q", "-m", "src")
    git(checkout, "sparse-checkout", "set", "--cone", "--sparse-index", "docs")
    store.fetch()
    assert not (checkout / "src").exists()
    assert seen(store, checkout) == {}


def test_a_submodule_stays_as_it_is_whatever_it_holds(store, checkout, tmp_path):
    other = make_checkout(tmp_path / "other")
    git(checkout, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other), "lib")
    git(checkout, "commit", "-q", "-m", "lib")
    store.fetch()
    (checkout / "lib/a.txt").write_text("mine")
    assert seen(store, checkout) == {}
    git(checkout, "submodule", "--quiet", "deinit", "--force", "--all")
    assert seen(store, checkout) == {}


def test_a_filter_that_is_not_installed_is_named(store, checkout):
    git(checkout, "config", "filter.up.clean", "absent-filter")
    git(checkout, "config", "filter.up.required", "true")
    with pytest.raises(Misconfigured, match=r"git cannot read the files of .*absent-filter"):
        seen(store, checkout)
    (checkout / "c.up").write_text("loud\n")
    assert "absent-filter" in (store.checkout_trouble("main") or "")


def test_two_checkouts_of_the_target_are_trouble(store, checkout, tmp_path):
    git(checkout, "worktree", "add", "-q", "--force", str(tmp_path / "second"), "main")
    assert f"{checkout} and in {tmp_path / 'second'}" in (store.checkout_trouble("main") or "")
    git(tmp_path / "second", "switch", "-q", "--detach")
    assert store.checkout_trouble("main") is None


def test_a_rebase_of_the_target_is_trouble(tmp_path):
    checkout = make_checkout(tmp_path / "plain")
    git(checkout, "commit", "-q", "--allow-empty", "-m", "second")
    store = fetched(str(checkout), tmp_path / "home")
    git(checkout, "-c", "sequence.editor=sed -i s/pick/edit/", "rebase", "-q", "-i", "HEAD~1")
    assert "a rebase of main is in progress" in (store.checkout_trouble("main") or "")
    git(checkout, "rebase", "--abort")
    assert store.checkout_trouble("main") is None


def test_the_checkout_of_a_submodule_is_trouble(checkout, tmp_path):
    above = make_checkout(tmp_path / "above")
    git(above, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(checkout), "kit")
    store = fetched(str(above / "kit"), tmp_path / "home")
    assert "is a submodule" in (store.checkout_trouble("main") or "")
    git(above / "kit", "switch", "-q", "--detach")
    assert store.checkout_trouble("main") is None
