"""Real repositories for the tests of the git room."""

import subprocess
from pathlib import Path

from tasks.git.objects import Entry
from tasks.git.store import Store
from tasks.git.trees import Trees

RECORD = "refs/heads/lra/m/record"
MAIN = "refs/heads/main"


def git(where: Path, *args: str) -> str:
    ident = ("-c", "user.name=A", "-c", "user.email=a@b")
    done = subprocess.run(["git", *ident, *args], cwd=where, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def make_checkout(place: Path) -> Path:
    """A checkout of main with a.txt, one line, in one commit."""
    place.mkdir()
    git(place, "init", "-q", "-b", "main")
    (place / "a.txt").write_text("one\n")
    git(place, "add", "a.txt")
    git(place, "commit", "-q", "-m", "first")
    return place


def make_trees(place: Path) -> Trees:
    subprocess.run(["git", "init", "-q", "--bare", place], check=True)
    return Trees(place)


def fetched(origin: str, home: Path) -> Store:
    store = Store.open(origin, home)
    store.fetch()
    return store


def next_commit(store: Store, path: str = "a.txt", text: bytes = b"two\n") -> str:
    base = store.head("main")
    assert base is not None
    return store.trees.commit(store.trees.write(store.trees.tree_of(base), path, text), (base,), "next")


def record_commit(store: Store, text: bytes = b"{}") -> str:
    return store.trees.commit(store.trees.from_files({"mission.json": text}), (), "record")


def refs(where: Path) -> dict[str, str]:
    rows = git(where, "for-each-ref", "--format=%(refname) %(objectname)").splitlines()
    return dict(row.split() for row in rows)


def put(trees: Trees, tree: str, path: bytes, mode: str, content: bytes = b"", oid: str = "") -> str:
    entry = Entry(mode, oid or trees.objects.write("blob", content))
    changed = trees.objects.rewrite(tree, {tuple(path.split(b"/")): entry})
    assert changed is not None
    return changed
