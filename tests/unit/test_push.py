"""Does a push change the origin only as a whole, only forwards, and never at a person's cost?"""

import os
import shutil
import socket
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from repositories import MAIN, RECORD, fetched, git, make_checkout, next_commit, record_commit, refs

from agents.domain.errors import Misconfigured, NeedsHuman, TryLater
from tasks.git.store import Moved, Store


@pytest.fixture
def checkout(tmp_path):
    return make_checkout(tmp_path / "my project")


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


@pytest.fixture
def store(checkout, home):
    return fetched(str(checkout), home)


def test_a_push_moves_both_refs_and_updates_a_clean_checkout(store, checkout):
    target, record = next_commit(store), record_commit(store)
    store.push({MAIN: target, RECORD: record})
    assert refs(checkout) == {MAIN: target, RECORD: record}
    assert (checkout / "a.txt").read_text() == "two\n"
    assert git(checkout, "status", "--porcelain") == ""
    assert (store.head("main"), store.head("lra/m/record")) == (target, record)


def test_a_push_to_what_is_there_already_changes_nothing(store, checkout):
    target = next_commit(store)
    store.push({MAIN: target})
    store.push({MAIN: target})
    assert refs(checkout) == {MAIN: target}


def test_a_push_that_is_not_forwards_moves_neither_ref(store, checkout):
    target, record = next_commit(store), record_commit(store)
    (checkout / "b.txt").write_text("meanwhile")
    git(checkout, "add", "b.txt")
    git(checkout, "commit", "-q", "-m", "meanwhile")
    before = refs(checkout)
    with pytest.raises(Moved):
        store.push({RECORD: record, MAIN: target})
    assert refs(checkout) == before


def test_a_record_that_somebody_else_began_is_moved(store, checkout, tmp_path):
    other = fetched(str(checkout), tmp_path / "other home")
    other.push({RECORD: record_commit(other, b"theirs")})
    before = refs(checkout)
    with pytest.raises(Moved):
        store.push({RECORD: record_commit(store), MAIN: next_commit(store)})
    assert refs(checkout) == before
    store.fetch()
    with pytest.raises(Moved):
        store.push({RECORD: record_commit(store)})


def spoil_unstaged(checkout: Path) -> None:
    (checkout / "a.txt").write_text("mine\n")


def spoil_staged(checkout: Path) -> None:
    (checkout / "a.txt").write_text("mine\n")
    git(checkout, "add", "a.txt")


@pytest.mark.parametrize("spoil", [spoil_unstaged, spoil_staged])
@pytest.mark.parametrize("scheme", ["", "file://"])
def test_a_dirty_checkout_refuses_and_loses_nothing(checkout, home, spoil, scheme):
    store = fetched(scheme + str(checkout), home)
    spoil(checkout)
    before = refs(checkout)
    with pytest.raises(NeedsHuman, match=r"staged changes.*Nothing was lost.*Commit, stash"):
        store.push({MAIN: next_commit(store), RECORD: record_commit(store)})
    assert refs(checkout) == before
    assert (checkout / "a.txt").read_text() == "mine\n"


def test_an_untracked_file_in_the_way_is_never_overwritten(store, checkout):
    (checkout / "new.txt").write_text("mine")
    before = refs(checkout)
    with pytest.raises(NeedsHuman, match=r"new\.txt"):
        store.push({MAIN: next_commit(store, "new.txt"), RECORD: record_commit(store)})
    assert refs(checkout) == before
    assert (checkout / "new.txt").read_text() == "mine"


def test_a_checkout_that_git_updated_half_can_be_put_back(store, checkout):
    target = next_commit(store, "new.txt")
    (checkout / ".git/refs/heads/main.lock").write_text("")
    with pytest.raises(NeedsHuman, match=f"git read-tree -m -u {target} HEAD"):
        store.push({MAIN: target, RECORD: record_commit(store)})
    git(checkout, "read-tree", "-m", "-u", target, "HEAD")
    assert git(checkout, "status", "--porcelain") == ""
    assert RECORD not in refs(checkout)


def test_a_lock_left_by_another_git_is_tried_later(store, checkout):
    lock = checkout / ".git/refs/heads/lra/m/record.lock"
    lock.parent.mkdir(parents=True)
    lock.write_text("")
    with pytest.raises(TryLater, match="another git process"):
        store.push({RECORD: record_commit(store)})


@pytest.mark.parametrize("hook", ["pre-receive", "update"])
def test_a_hook_that_refuses_is_quoted(store, checkout, hook):
    place = checkout / ".git/hooks" / hook
    place.parent.mkdir(exist_ok=True)
    place.write_text("#!/bin/sh\necho not on a Friday >&2\nexit 1\n")
    place.chmod(0o755)
    before = refs(checkout)
    with pytest.raises(NeedsHuman, match="not on a Friday"):
        store.push({MAIN: next_commit(store), RECORD: record_commit(store)})
    assert refs(checkout) == before


def test_a_linked_worktree_follows_the_push_and_shows_trouble(store, checkout, tmp_path):
    linked = tmp_path / "linked"
    git(checkout, "worktree", "add", "-q", "-b", "side", str(linked))
    store.fetch()
    store.push({"refs/heads/side": next_commit(store)})
    assert (linked / "a.txt").read_text() == "two\n"
    (linked / "a.txt").write_text("mine")
    assert str(linked) in (store.checkout_trouble("side") or "")
    assert store.checkout_trouble("main") is None


def test_trouble_is_told_before_any_work_and_touches_nothing(store, checkout):
    assert store.checkout_trouble("main") is None
    (checkout / "untracked").write_text("")
    assert store.checkout_trouble("main") is None
    spoil_unstaged(checkout)
    index = (checkout / ".git/index").read_bytes()
    assert "uncommitted changes in a.txt" in (store.checkout_trouble("main") or "")
    git(checkout, "add", "a.txt")
    index = (checkout / ".git/index").read_bytes()
    os.utime(checkout / "a.txt")
    assert "staged changes in a.txt" in (store.checkout_trouble("main") or "")
    assert (checkout / ".git/index").read_bytes() == index
    assert store.checkout_trouble("other") is None


def test_an_origin_that_went_away_is_the_operators(store, checkout):
    shutil.rmtree(checkout)
    with pytest.raises(Misconfigured, match="not there"):
        store.push({RECORD: record_commit(store)})


@pytest.fixture
def served(tmp_path, checkout):
    """A bare repository behind a real git daemon that takes pushes."""
    root = tmp_path / "served"
    subprocess.run(["git", "clone", "-q", "--bare", checkout, root / "r.git"], check=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    argv = ["git", "daemon", "--listen=127.0.0.1", f"--port={port}", "--export-all", "--enable=receive-pack"]
    daemon = subprocess.Popen([*argv, f"--base-path={root}", str(root)], process_group=0, stderr=subprocess.DEVNULL)
    for _ in range(200):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.02)
    yield root / "r.git", f"git://127.0.0.1:{port}/r.git"
    os.killpg(daemon.pid, 15)
    daemon.wait()


def test_a_remote_origin_works_like_a_local_one(served, home):
    bare, url = served
    store = fetched(url, home)
    assert store.default_branch() == "main"
    assert store.checkout_trouble("main") is None
    target, record = next_commit(store), record_commit(store, b"spec")
    store.push({MAIN: target, RECORD: record})
    assert refs(bare) == {MAIN: target, RECORD: record}


def test_a_remote_origin_refuses_like_a_local_one(served, home, tmp_path):
    bare, url = served
    store, other = fetched(url, home), fetched(url, tmp_path / "other")
    other.push({MAIN: next_commit(other, text=b"theirs")})
    before = refs(bare)
    with pytest.raises(Moved):
        store.push({MAIN: next_commit(store), RECORD: record_commit(store)})
    assert refs(bare) == before
    (bare / "hooks/pre-receive").write_text("#!/bin/sh\necho no >&2\nexit 1\n")
    (bare / "hooks/pre-receive").chmod(0o755)
    with pytest.raises(NeedsHuman, match="a hook of"):
        store.push({RECORD: record_commit(store)})
    with pytest.raises(Misconfigured):
        Store.open(url.replace("r.git", "other.git"), home)


def test_of_runs_that_push_at_once_exactly_one_wins(checkout, tmp_path):
    stores = [fetched(str(checkout), tmp_path / f"home{n}") for n in range(4)]
    together = threading.Barrier(4)

    def push(store: Store) -> bool:
        updates = {RECORD: record_commit(store, str(store.path).encode()), "refs/heads/side": next_commit(store)}
        together.wait()
        try:
            store.push(updates)
        except (Moved, TryLater):  # the second when git's own lock files met
            return False
        return True

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(push, stores)) == 1
