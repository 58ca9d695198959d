"""Is a tree a value that can be read, searched, changed, compared and merged without a working copy?"""

import os
import subprocess
import time

import pytest
from repositories import make_trees, put

from agents.domain.errors import AskAgain, Misconfigured
from tasks.git.paths import text_of
from tasks.git.trees import Match, Trees

ODD = (
    "with space.txt",
    "\u00fcn\u00ef/c\u00f6de.txt",
    "-leading-dash",
    'quo"te',
    "tab\there",
    "line\nfeed",
    os.fsdecode(b"caf\xe9"),
)


@pytest.fixture
def trees(tmp_path):
    opened = make_trees(tmp_path / "store.git")
    yield opened
    opened.close()


@pytest.fixture
def tree(trees):
    return trees.from_files({"a.txt": b"one\ntwo\n", "src/run.sh": b"#!/bin/sh\n", "src/deep/b.py": b"x = 1\n"})


def test_what_is_written_is_what_git_reads(trees, tree):
    listed = trees.git.run("ls-tree", "-r", "--name-only", tree).decode().split()
    assert listed == sorted(trees.entries(tree)) == ["a.txt", "src/deep/b.py", "src/run.sh"]
    assert trees.git.run("fsck", "--strict", "--no-dangling") == b""


def test_folders_sort_as_git_sorts_them(trees):
    tree = trees.from_files({"a": b"", "a.b/x": b"", "a-b": b"", "ab/y": b"", "a0": b""})
    commit = trees.commit(tree, (), "sorted")
    trees.git.run("update-ref", "refs/heads/x", commit)
    assert trees.git.run("fsck", "--strict") == b""


def test_a_write_changes_one_file_and_keeps_its_mode(trees, tree):
    script = put(trees, tree, b"src/run.sh", "100755", b"old")
    after = trees.write(script, "src/run.sh", b"new")
    assert trees.read(after, "src/run.sh") == b"new"
    assert trees.entries(after)["src/run.sh"].mode == "100755"
    assert [(change.path, change.kind) for change in trees.diff(script, after)] == [("src/run.sh", "modified")]
    assert trees.read(script, "src/run.sh") == b"old"


def test_a_folder_is_gone_with_its_last_file(trees, tree):
    after = trees.delete(trees.delete(tree, "src/deep/b.py"), "src/run.sh")
    assert after == trees.from_files({"a.txt": b"one\ntwo\n"})
    assert trees.entries(trees.delete(after, "a.txt")) == {}


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "../up",
        "a/../../up",
        "a//b",
        "",
        "a/",
        "./a",
        ".git/config",
        "x/.GIT/hooks/post",
        "git~1/x",
        ".git. /x",
        ".g\u200cit/x",
        ".git::$INDEX/x",
        "a\nb",
        "a\x00b",
        "a\\b",
        "half\ud800",
        "n" * 300,
        "a/" * 600 + "b",
    ],
)
def test_a_path_out_of_the_tree_or_into_git_is_refused(trees, tree, path):
    with pytest.raises(AskAgain):
        trees.write(tree, path, b"")


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("src", "a folder"),
        ("a.txt/b", "a file"),
        ("link", "a symbolic link"),
        ("link/x", "a symbolic link"),
        ("sub/x", "a submodule"),
    ],
)
def test_a_file_takes_the_place_of_nothing_else(trees, tree, path, why):
    full = put(trees, put(trees, tree, b"link", "120000", b"/etc"), b"sub", "160000", oid="1" * 40)
    with pytest.raises(AskAgain, match=why):
        trees.write(full, path, b"")


@pytest.mark.parametrize("path", ["src", "sub", "nothing", "a.txt/x", "\ud800"])
def test_only_a_file_can_be_deleted(trees, tree, path):
    with pytest.raises(AskAgain):
        trees.delete(put(trees, tree, b"sub", "160000", oid="1" * 40), path)


def test_a_missing_file_names_the_nearest(trees, tree):
    with pytest.raises(AskAgain, match=r'nearest: "src/deep/b.py"'):
        trees.read(tree, "b.py")


def test_paths_of_any_spelling_survive(trees, tmp_path):
    tree = trees.from_files({})
    for path in ODD:
        tree = put(trees, tree, os.fsencode(path), "100644", os.fsencode(path))
    odd = tuple(sorted(text_of(os.fsencode(path)) for path in ODD))
    assert trees.listing(tree) == odd
    assert trees.lay_out(tree, tmp_path / "out") == ()
    assert trees.snapshot(tree, tmp_path / "out") == tree
    assert {change.path for change in trees.diff(trees.from_files({}), tree)} == set(odd)
    assert {match.path for match in trees.search(tree, ".", 50)} == set(odd)


def test_listing_stays_below_its_folder(trees, tree):
    assert trees.listing(tree, "src/") == ("src/deep/b.py", "src/run.sh")
    with pytest.raises(AskAgain, match="nearest"):
        trees.listing(tree, "src/dep")


def test_search_finds_lines_by_path(trees, tree):
    assert trees.search(tree, r"^t\w+$", 5) == (Match("a.txt", 2, "two"),)
    assert trees.search(tree, "never", 5) == ()
    many = trees.write(tree, "many.txt", b"hit\n" * 1000)
    assert len(trees.search(many, "hit", 7)) == 7


def test_search_skips_binary_files(trees, tree):
    assert trees.search(trees.write(tree, "x.bin", b"two\0two\n"), "two", 5) == (Match("a.txt", 2, "two"),)


@pytest.mark.parametrize("pattern", ["(", "", "a\nb", "\0", "\ud800", "(?<x"])
def test_a_wrong_expression_is_asked_again(trees, tree, pattern):
    with pytest.raises(AskAgain):
        trees.search(tree, pattern, 5)


def test_a_catastrophic_expression_ends(trees, tree):
    hard = trees.write(tree, "hard.txt", b"a" * 5000 + b"!\n")
    started = time.monotonic()
    with pytest.raises(AskAgain):
        trees.search(hard, "^(a+)+$", 5)
    assert time.monotonic() - started < 10


def test_a_file_that_becomes_a_link_is_a_change_of_type(trees, tree):
    (change,) = trees.diff(tree, put(trees, tree, b"a.txt", "120000", b"src"))
    assert (change.kind, change.old_mode, change.new_mode) == ("typechange", "100644", "120000")


def test_changes_of_different_files_merge(trees, tree):
    base = trees.commit(tree, (), "base")
    ours, theirs = trees.write(tree, "a.txt", b"ours\n"), trees.delete(tree, "src/run.sh")
    merged = trees.merge(base, ours, trees.commit(theirs, (base,), "theirs"))
    assert merged == (trees.delete(ours, "src/run.sh"), ())


def test_a_conflict_names_its_files(trees, tree):
    merged = trees.merge(tree, trees.write(tree, "a.txt", b"1\n"), trees.write(tree, "a.txt", b"2\n"))
    assert merged.conflicts == ("a.txt",)
    assert b"<<<<<<<" in trees.read(merged.tree, "a.txt")


def test_a_commit_holds_exactly_its_message(trees, tree):
    message = "  Title\r\n\n\n# not a comment\u00e9\n\nLRA-Item: x\n\n"
    oid = trees.commit(tree, (), message)
    assert trees.git.run("cat-file", "commit", oid).split(b"\n\n", 1)[1] == message.encode()
    assert trees.git.run("log", "-1", "--format=%an <%ae>|%cn", oid) == b"LRA <lra@localhost>|LRA\n"
    assert trees.tree_of(oid) == tree


def test_what_is_not_there_is_said(trees):
    assert not trees.has("1" * 40)
    assert not trees.has("x\ny")
    with pytest.raises(Misconfigured, match="names no revision"):
        trees.tree_of("nowhere")


def test_an_object_that_a_power_cut_left_empty_is_written_again(trees, tree):
    oid = trees.objects.write("blob", b"precious")
    place = trees.git.git_dir / "objects" / oid[:2] / oid[2:]
    place.chmod(0o644)
    place.write_bytes(b"")
    assert not trees.has(oid)
    assert trees.objects.write("blob", b"precious") == oid
    assert trees.blob(oid) == b"precious"


def test_a_store_that_cannot_be_written_is_the_operators(trees, tree):
    (trees.git.git_dir / "objects").rename(trees.git.git_dir / "gone")
    with pytest.raises(Misconfigured, match="cannot write"):
        trees.objects.write("blob", b"x")


def test_the_environment_of_a_surrounding_git_changes_nothing(tmp_path, monkeypatch):
    subprocess.run(["git", "init", "-q", "--bare", tmp_path / "r.git"], check=True)
    for name in ("GIT_DIR", "GIT_OBJECT_DIRECTORY", "GIT_INDEX_FILE", "GIT_WORK_TREE", "GIT_COMMON_DIR"):
        monkeypatch.setenv(name, str(tmp_path / "nowhere"))
    trees = Trees(tmp_path / "r.git")
    tree = trees.from_files({"a/b": b"1\n"})
    assert trees.search(tree, "1", 1) == (Match("a/b", 1, "1"),)
    assert Trees(tmp_path / "r.git").read(tree, "a/b") == b"1\n"


def test_reading_goes_on_after_its_git_process_was_interrupted(trees, tree):
    assert trees.has(tree)
    trees.objects._reader.cat_file_header.proc.kill()
    trees.objects._reader.cat_file_header.proc.wait()
    assert trees.has(tree)


def test_an_edit_among_2000_files_costs_under_3_ms_and_no_process(trees, monkeypatch):
    tree = trees.from_files({f"d{n % 100}/s{n % 7}/f{n}.py": b"%d\n" % n for n in range(2000)})
    trees.has(tree)
    monkeypatch.setattr(subprocess, "Popen", None)
    costs = []
    for n in range(50):
        started = time.perf_counter()
        tree = trees.write(tree, f"d{n}/s{n % 7}/f{n}.py", b"new %d\n" % n)
        costs.append(time.perf_counter() - started)
    assert min(costs) < 0.003  # the best of 50: others may keep both cores and the disk busy
