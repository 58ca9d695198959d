"""Do it: a git tree as a value to read, search, edit, lay out, compare and merge; a change is a new tree."""

from collections import OrderedDict
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from agents.domain.errors import AskAgain, Misconfigured
from agents.domain.protect import Change
from tasks.git import layout
from tasks.git.objects import EXECUTABLE, FILE, SUBMODULE, SYMLINK, TREE, Entry, Objects
from tasks.git.paths import bytes_of, nearest, parts_of, shown, text_of, utf8
from tasks.git.plumbing import Git, GitFailed, Outcome, TooSlow

__all__ = ["EXECUTABLE", "FILE", "SUBMODULE", "SYMLINK", "TREE", "Change", "Entry", "Match", "Merged", "Trees"]

ABSENT = "000000"
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
SEARCH_SECONDS = 5.0
_SEARCH_BYTES, _LINE_LETTERS = 4_000_000, 300
_LISTINGS = 8
_AUTHOR = "LRA <lra@localhost>"


class Match(NamedTuple):
    """One line that a search found; `line` counts from 1, `text` is cut when long."""

    path: str
    line: int
    text: str


class Merged(NamedTuple):
    """A three-way merge; with `conflicts`, the tree holds git's conflict markers in those paths."""

    tree: str
    conflicts: tuple[str, ...]


class Trees:
    """The trees of one git directory. Nothing here moves a ref, needs a working copy or runs the repository's code."""

    def __init__(self, git_dir: Path) -> None:
        self.git = Git(git_dir)
        self.objects = Objects(git_dir)
        self._listed: OrderedDict[str, Mapping[str, Entry]] = OrderedDict()

    def has(self, oid: str) -> bool:
        """Say whether an object of this name exists here."""
        return self.objects.header(oid) is not None

    def tree_of(self, rev: str) -> str:
        """Return the tree of a commit, tag, ref or tree; Misconfigured if there is no such revision."""
        found = self.objects.header(f"{rev}^{{tree}}")
        if found is None:
            raise Misconfigured(f"{shown(rev)} names no revision in {self.git.git_dir}; name a branch or a commit")
        return found[0]

    def blob(self, oid: str) -> bytes:
        """Return the content of a blob by its oid."""
        content = self.objects.read(oid, "blob")
        if content is None:
            raise Misconfigured(f"{self.git.git_dir} has no file content {oid}; remove it and it is fetched again")
        return content

    def entries(self, tree: str) -> Mapping[str, Entry]:
        """Return every file, link and submodule of a tree by its path, folders not among them."""
        if tree not in self._listed:
            self._listed[tree] = MappingProxyType(self._flatten(tree))
            while len(self._listed) > _LISTINGS:
                self._listed.popitem(last=False)
        return self._listed[tree]

    def read(self, tree: str, path: str) -> bytes:
        """Return the content of a file; AskAgain, naming the nearest paths, if there is no such file."""
        entry = self._find(tree, path)
        if entry is None:
            raise AskAgain(f"there is no file {shown(path)}{nearest(path, self.entries(tree))}")
        if entry.mode == TREE:
            raise AskAgain(f"{shown(path)} is a folder; LIST it, or read a file below it")
        if entry.mode == SUBMODULE:
            raise AskAgain(f"{shown(path)} is a submodule, and its files are not part of this repository")
        if entry.mode == SYMLINK:
            target = text_of(self.blob(entry.oid))
            raise AskAgain(f"{shown(path)} is a symbolic link to {shown(target)}; read the file it leads to")
        return self.blob(entry.oid)

    def listing(self, tree: str, folder: str = "") -> tuple[str, ...]:
        """Return the full paths of all files below a folder, sorted; "" is the root. AskAgain if there is none."""
        name = folder.removeprefix("./").strip("/")
        below = "" if name in ("", ".") else f"{name}/"
        paths = self.entries(tree)
        found = tuple(sorted(path for path in paths if path.startswith(below) or path == name))
        if not found and below:
            folders = {path[:end] for path in paths for end, letter in enumerate(path) if letter == "/"}
            raise AskAgain(f"there is no folder {shown(folder)}{nearest(name, sorted(folders))}")
        return found

    def search(self, tree: str, pattern: str, limit: int) -> tuple[Match, ...]:
        """Return at most `limit` lines of text files that match a Perl regular expression, by path and line.

        AskAgain if the expression is wrong, or so costly that it was ended after SEARCH_SECONDS.
        """
        if utf8(pattern) is None or not pattern or any(letter in pattern for letter in "\n\0"):
            raise AskAgain("FIND needs a regular expression for one line; it is empty or spans lines")
        try:
            found = self._grep(tree, "-P", pattern, limit)
            if "USE_LIBPCRE" in found.err:
                found = self._grep(tree, "-E", pattern, limit)
        except TooSlow:
            raise AskAgain(f"the expression {shown(pattern)} takes too long; write a simpler one") from None
        if found.exit > 1 and not found.cut:
            raise AskAgain(f"the expression {shown(pattern)} cannot be used: {found.err.strip()}")
        return _matches(found.out, len(tree) + 1)[:limit]

    def write(self, tree: str, path: str, content: bytes, mode: str | None = None) -> str:
        """Return the tree with one file made or replaced; no process is started. An existing file keeps its mode.

        AskAgain for a path that would leave the tree or enter a .git folder, go through a symbolic link or a submodule,
        or take the place of a folder.
        """
        parts = parts_of(path)
        before = self._place_for(tree, path, parts)
        kept = before.mode if before else FILE
        entry = Entry(mode or kept, self.objects.write("blob", content))
        return self._changed(tree, {parts: entry})

    def delete(self, tree: str, path: str) -> str:
        """Return the tree without one file or link; AskAgain if there is none."""
        entry = self._find(tree, path)
        if entry is None:
            raise AskAgain(f"there is no file {shown(path)} to delete{nearest(path, self.entries(tree))}")
        if entry.mode in (TREE, SUBMODULE):
            what = "a folder; delete its files one by one" if entry.mode == TREE else "a submodule; it stays"
            raise AskAgain(f"{shown(path)} is {what}")
        return self._changed(tree, {tuple((bytes_of(path) or b"").split(b"/")): None})

    def from_files(self, files: Mapping[str, bytes]) -> str:
        """Return the tree that holds exactly these files."""
        entries = {parts_of(path): Entry(FILE, self.objects.write("blob", data)) for path, data in files.items()}
        return self._changed(EMPTY_TREE, entries)

    def lay_out(self, tree: str, folder: Path) -> tuple[str, ...]:
        """Write a tree into an empty folder, byte for byte, and return the paths left out; see `layout.lay_out`."""
        return layout.lay_out(self.git, self.entries(tree), folder)

    def snapshot(self, tree: str, folder: Path) -> str:
        """Return what a laid-out tree has become in its folder; see `layout.changes_in` for what is not seen."""
        changes = layout.changes_in(self.git, self.objects, tree, self.entries(tree), folder)
        return self._changed(tree, dict(changes))

    def diff(self, one: str, other: str) -> tuple[Change, ...]:
        """Return every path that differs between two trees, sorted; a renamed file is deleted and added."""
        found = sorted(self.objects.differences(one, other), key=lambda row: row[0])
        return tuple(_change(text_of(path), old, new) for path, old, new in found)

    def merge(self, base: str, ours: str, theirs: str) -> Merged:
        """Merge two changes of one base (commits or trees) without a working copy; a conflict is no error."""
        fixed = datetime.fromtimestamp(0, UTC)
        root = self.commit(self.tree_of(base), (), "base", fixed)
        sides = (self.commit(self.tree_of(rev), (root,), "side", fixed) for rev in (ours, theirs))
        done = self.git.attempt("merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", *sides)
        if done.exit > 1:
            raise GitFailed(done)
        oid, *conflicts = [part for part in done.out.split(b"\0") if part]
        return Merged(oid.decode().strip(), tuple(map(text_of, conflicts)) if done.exit else ())

    def is_ancestor(self, old: str, new: str) -> bool:
        """Say whether the history of `new` holds the commit `old`."""
        return self.git.attempt("merge-base", "--is-ancestor", old, new).exit == 0

    def commit(self, tree: str, parents: tuple[str, ...], message: str, when: datetime | None = None) -> str:
        """Return a new commit by LRA with exactly this message; equal arguments give the equal commit."""
        text = utf8(message)
        if text is None or b"\0" in text:
            raise AskAgain("a commit message is Unicode text without NUL characters")
        seconds = int((when or datetime.now(UTC)).timestamp())
        heads = [f"tree {tree}", *(f"parent {oid}" for oid in parents)]
        heads += [f"{role} {_AUTHOR} {seconds} +0000" for role in ("author", "committer")]
        return self.objects.write("commit", "\n".join(heads).encode() + b"\n\n" + text)

    def close(self) -> None:
        """End the git processes that were kept for reading; a later read starts them again."""
        self.objects.close()

    def _changed(self, tree: str, changes: Mapping[tuple[bytes, ...], Entry | None]) -> str:
        if not changes:
            return tree
        return self.objects.rewrite(tree, changes) or self.objects.write_tree({})

    def _grep(self, tree: str, dialect: str, pattern: str, limit: int) -> Outcome:
        args = ("grep", "-z", "-n", "-I", "--no-color", f"--max-count={limit}", dialect, "-e", pattern, tree, "--")
        return self.git.bounded(*args, limit=_SEARCH_BYTES, seconds=SEARCH_SECONDS)

    def _find(self, tree: str, path: str) -> Entry | None:
        """Return what is at a path: a file, a link, a submodule or a folder; None if nothing is."""
        found: Entry | None = Entry(TREE, tree)
        for part in (bytes_of(path) or b"").split(b"/"):
            if found is None or found.mode != TREE:
                return None
            found = self.objects.node(found.oid).get(part)
        return found

    def _place_for(self, tree: str, path: str, parts: tuple[bytes, ...]) -> Entry | None:
        """Return the file that a write would replace, None for a new one; AskAgain where no file can be put."""
        found: Entry | None = Entry(TREE, tree)
        for depth, part in enumerate(parts, 1):
            found = self.objects.node(found.oid).get(part) if found else None
            last = depth == len(parts)
            if found is None or (found.mode in (FILE, EXECUTABLE) and last) or (found.mode == TREE and not last):
                continue
            there = shown(text_of(b"/".join(parts[:depth])))
            what = {TREE: "a folder", SYMLINK: "a symbolic link", SUBMODULE: "a submodule"}.get(found.mode, "a file")
            raise AskAgain(f"cannot write {shown(path)}: {there} is {what}; choose another path")
        return found

    def _flatten(self, tree: str) -> dict[str, Entry]:
        flat: dict[str, Entry] = {}
        ahead = [(b"", tree)]
        while ahead:
            above, oid = ahead.pop()
            for name, entry in self.objects.node(oid).items():
                if entry.mode == TREE:
                    ahead.append((above + name + b"/", entry.oid))
                else:
                    flat[text_of(above + name)] = entry
        return flat


def _matches(out: bytes, prefix: int) -> tuple[Match, ...]:
    """Read `tree:path NUL line NUL text LF` rows; a path may itself hold line feeds, a last row cut off is dropped."""
    found: list[Match] = []
    at = 0
    while (name_end := out.find(b"\0", at)) > 0 and (line_end := out.find(b"\0", name_end + 1)) > 0:
        end = out.find(b"\n", line_end)
        if end < 0:
            break
        text = out[line_end + 1 : end].decode(errors="replace")[:_LINE_LETTERS]
        found.append(Match(text_of(out[at + prefix : name_end]), int(out[name_end + 1 : line_end]), text))
        at = end + 1
    return tuple(found)


def _change(path: str, old: Entry | None, new: Entry | None) -> Change:
    if old is None or new is None:
        return Change(
            path=path,
            kind="added" if old is None else "deleted",
            old_mode=old.mode if old else ABSENT,
            new_mode=new.mode if new else ABSENT,
        )
    same_type = old.mode[:3] == new.mode[:3]
    return Change(path=path, kind="modified" if same_type else "typechange", old_mode=old.mode, new_mode=new.mode)
