"""Does a folder hold a tree byte for byte, and can nothing get out of it or be lost on the way back?"""

import os
from pathlib import Path

import pytest
from repositories import make_trees, put

from agents.domain.errors import Misconfigured
from tasks.git.objects import Entry


@pytest.fixture
def trees(tmp_path):
    opened = make_trees(tmp_path / "store.git")
    yield opened
    opened.close()


@pytest.fixture
def tree(trees):
    return trees.from_files({"a.txt": b"one\ntwo\n", "src/run.sh": b"#!/bin/sh\n", "src/deep/b.py": b"x = 1\n"})


def test_a_layout_is_byte_for_byte(trees, tmp_path):
    tree = trees.from_files(
        {".gitattributes": b"* text eol=crlf ident filter=x\n", "a.txt": b"$Id$\n", "b.txt": b"x\r\n"}
    )
    tree = put(trees, tree, b"run", "100755", b"#!")
    tree = put(trees, tree, b"link", "120000", b"a.txt")
    assert trees.lay_out(tree, tmp_path / "out") == ()
    assert (tmp_path / "out/a.txt").read_bytes() == b"$Id$\n"
    assert os.access(tmp_path / "out/run", os.X_OK)
    assert not os.access(tmp_path / "out/a.txt", os.X_OK)
    assert (tmp_path / "out/link").readlink() == Path("a.txt")
    assert trees.snapshot(tree, tmp_path / "out") == tree


@pytest.mark.parametrize(
    "target", [b"/etc/passwd", b"../x", b"in/../../x", b"d/hop/hop/../../..", b"self", b"D/HOP/HOP/../../.."]
)
def test_a_link_out_of_the_layout_is_left_out_and_reported(trees, tree, tmp_path, target):
    linked = put(trees, put(trees, tree, b"d/hop", "120000", b"."), b"self", "120000", target)
    assert trees.lay_out(linked, tmp_path / "out") == ("self",)
    assert not (tmp_path / "out/self").is_symlink()
    assert trees.snapshot(linked, tmp_path / "out") == linked


def test_a_hostile_tree_cannot_write_outside(trees, tmp_path):
    victim = tmp_path / "victim"
    victim.mkdir()
    blob = trees.objects.write("blob", b"evil")
    link = trees.objects.write("blob", os.fsencode(victim))
    inner = trees.objects.write_tree({b"x": Entry("100644", blob)})
    rows = [(b"120000", b"a", link), (b"40000", b"a", inner), (b"40000", b"..", inner), (b"40000", b".git", inner)]
    tree = trees.objects.write("tree", b"".join(b"%s %s\0%s" % (m, n, bytes.fromhex(o)) for m, n, o in rows))
    trees.lay_out(tree, tmp_path / "deep/out")
    assert list(victim.iterdir()) == []
    assert not (tmp_path / "deep/x").exists()
    assert not (tmp_path / "deep/out/.git").exists()


def test_a_layout_needs_an_empty_folder(trees, tree, tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(Misconfigured, match="not empty"):
        trees.lay_out(tree, tmp_path)


def test_a_snapshot_sees_changes_deletions_modes_and_new_files(trees, tree, tmp_path):
    out = tmp_path / "out"
    trees.lay_out(tree, out)
    (out / "a.txt").write_bytes(b"changed\r\n")
    (out / "src/deep/b.py").unlink()
    (out / "src/run.sh").chmod(0o755)
    (out / "new").mkdir()
    (out / "new/file").write_bytes(b"n")
    changes = trees.diff(tree, trees.snapshot(tree, out))
    assert [(c.path, c.kind, c.new_mode) for c in changes] == [
        ("a.txt", "modified", "100644"),
        ("new/file", "added", "100644"),
        ("src/deep/b.py", "deleted", "000000"),
        ("src/run.sh", "modified", "100755"),
    ]


def test_a_snapshot_leaves_out_what_is_ignored_and_caches(trees, tmp_path):
    tree = trees.from_files({".gitignore": b"*.log\nbuild/\n", "kept.log": b"tracked"})
    out = tmp_path / "out"
    trees.lay_out(tree, out)
    for path in ("x.log", "build/y", "__pycache__/z.pyc", "p/.pytest_cache/v", ".git/config", "sub/.git/HEAD"):
        (out / path).parent.mkdir(parents=True, exist_ok=True)
        (out / path).write_text("rubbish")
    os.mkfifo(out / "pipe")
    (out / "kept.log").write_bytes(b"changed")
    assert [change.path for change in trees.diff(tree, trees.snapshot(tree, out))] == ["kept.log"]


def test_a_snapshot_does_not_read_through_a_link_put_in_place_of_a_folder(trees, tree, tmp_path):
    out, outside = tmp_path / "out", tmp_path / "outside"
    trees.lay_out(tree, out)
    (out / "src").rename(outside)
    (out / "src").symlink_to(outside)
    after = trees.snapshot(tree, out)
    assert trees.entries(after)["src"].mode == "120000"
    assert "src/run.sh" not in trees.entries(after)


def test_a_file_that_becomes_a_folder_is_a_deletion_and_an_addition(trees, tree, tmp_path):
    trees.lay_out(tree, tmp_path / "out")
    (tmp_path / "out/a.txt").unlink()
    (tmp_path / "out/a.txt").mkdir()
    (tmp_path / "out/a.txt/b").write_bytes(b"")
    after = trees.snapshot(tree, tmp_path / "out")
    assert [(c.path, c.kind) for c in trees.diff(tree, after)] == [("a.txt", "deleted"), ("a.txt/b", "added")]
