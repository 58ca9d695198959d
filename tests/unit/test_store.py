"""Does the store bring everything from the origin, and owe it nothing?"""

import shutil
import socket
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest
from repositories import fetched, git, make_checkout, next_commit

from agents.domain.errors import Misconfigured, TryLater
from tasks.git.store import Store


@pytest.fixture
def checkout(tmp_path):
    return make_checkout(tmp_path / "my project")


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


@pytest.fixture
def store(checkout, home):
    return fetched(str(checkout), home)


def test_a_linked_worktree_can_be_the_origin(checkout, home, tmp_path):
    linked = tmp_path / "linked"
    git(checkout, "worktree", "add", "-q", "-b", "side", str(linked))
    store = fetched(str(linked), home)
    assert store.default_branch() == "side"
    store.push({"refs/heads/side": next_commit(store)})
    assert (linked / "a.txt").read_text() == "two\n"


def test_fetch_follows_deletions_and_rewrites_and_keeps_our_refs(store, checkout):
    git(checkout, "branch", "old")
    store.fetch()
    store.git("update-ref", "refs/lra/seen/one", store.head("main"))
    git(checkout, "branch", "-D", "old")
    git(checkout, "commit", "-q", "--amend", "-m", "rewritten")
    store.fetch()
    assert store.head("old") is None
    assert store.head("main") == git(checkout, "rev-parse", "main")
    assert store.ref("refs/lra/seen/one") is not None
    assert store.ref("refs/heads/main") is None


def test_the_store_depends_on_nothing_of_the_origin(store, checkout):
    assert not (store.path / "objects/info/alternates").exists()
    shutil.rmtree(checkout)
    assert store.trees.read(store.trees.tree_of(store.head("main")), "a.txt") == b"one\n"


def test_an_origin_that_borrows_objects_is_copied(checkout, home, tmp_path):
    borrower = tmp_path / "borrower"
    subprocess.run(["git", "clone", "-q", "--shared", checkout, borrower], check=True)
    store = fetched(str(borrower), home)
    assert not (store.path / "objects/info/alternates").exists()
    shutil.rmtree(checkout)
    assert store.trees.read(store.trees.tree_of(store.head("main")), "a.txt") == b"one\n"


def test_a_removed_or_half_made_store_is_made_again(store, checkout, home):
    (store.path / "HEAD").unlink()
    (store.path.with_suffix(".part") / "rest").mkdir(parents=True)
    assert fetched(str(checkout), home).head("main") == git(checkout, "rev-parse", "main")
    shutil.rmtree(store.path)
    assert fetched(str(checkout), home).head("main") is not None
    assert not store.path.with_suffix(".part").exists()


def test_stores_opened_and_fetched_at_once_agree(checkout, home):
    with ThreadPoolExecutor(6) as pool:
        stores = list(pool.map(lambda _: fetched(str(checkout), home), range(6)))
    assert {store.head("main") for store in stores} == {git(checkout, "rev-parse", "main")}


def test_a_folder_inside_a_checkout_is_that_checkout(checkout, home):
    (checkout / "src").mkdir()
    assert Store.open(str(checkout / "src"), home).path == Store.open(str(checkout), home).path


def test_the_default_branch_is_the_one_checked_out(store, checkout, home):
    git(checkout, "switch", "-q", "-c", "work/x")
    assert store.default_branch() == "work/x"
    assert fetched(f"file://{checkout}", home).default_branch() == "work/x"
    git(checkout, "checkout", "-q", "--detach")
    with pytest.raises(Misconfigured, match="detached"):
        store.default_branch()


def test_an_empty_repository_has_no_default_branch(tmp_path, home):
    subprocess.run(["git", "init", "-q", tmp_path / "empty"], check=True)
    with pytest.raises(Misconfigured, match="no commit yet"):
        fetched(str(tmp_path / "empty"), home).default_branch()


def test_an_unborn_branch_beside_others_is_no_default(store, checkout):
    git(checkout, "switch", "-q", "--orphan", "fresh")
    with pytest.raises(Misconfigured, match="no commit yet"):
        store.default_branch()


@pytest.mark.parametrize(
    "origin", ["/nowhere/at/all", "ext::sh -c 'exit 1'", "ext://x", "-x", "file:///nowhere/at/all"]
)
def test_an_origin_that_is_not_there_is_the_operators(origin, home):
    with pytest.raises(Misconfigured):
        Store.open(origin, home)


def test_a_folder_without_a_repository_is_the_operators(tmp_path, home):
    with pytest.raises(Misconfigured, match="git init"):
        Store.open(str(tmp_path), home)


def test_a_sha256_repository_is_refused_clearly(tmp_path, home):
    subprocess.run(["git", "init", "-q", "--object-format=sha256", tmp_path / "r"], check=True)
    git(tmp_path / "r", "commit", "-q", "--allow-empty", "-m", "x")
    with pytest.raises(Misconfigured, match="sha256"):
        Store.open(str(tmp_path / "r"), home)


def test_a_host_that_does_not_answer_is_tried_later(home):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        with pytest.raises(TryLater, match="could not be reached"):
            Store.open(f"git://127.0.0.1:{free.getsockname()[1]}/x", home)


def test_no_password_is_ever_shown(home):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        origin = f"http://me:hunter2@127.0.0.1:{free.getsockname()[1]}/x"
        with pytest.raises(TryLater) as later:
            Store.open(origin, home)
    assert "hunter2" not in str(later.value)


def test_a_revision_means_what_it_means_in_the_origin(store, checkout):
    git(checkout, "commit", "-q", "--allow-empty", "-m", "second")
    git(checkout, "tag", "v1", "HEAD~1")
    git(checkout, "checkout", "-q", "--detach")
    git(checkout, "commit", "-q", "--allow-empty", "-m", "on no branch")
    assert store.commit_of("HEAD~1") == git(checkout, "rev-parse", "main")
    assert store.trees.has(store.commit_of("HEAD"))
    assert store.commit_of("v1") == git(checkout, "rev-parse", "main~1")
    for unknown in ("nothing", "--all", ""):
        with pytest.raises(Misconfigured, match="no revision"):
            store.commit_of(unknown)


def test_an_origin_of_another_user_is_explained(checkout, home, monkeypatch):
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    with pytest.raises(Misconfigured, match=r"safe\.directory"):
        Store.open(f"file://{checkout}", home)
