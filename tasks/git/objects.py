"""Do it: one object database, read through one lasting git process and written without any."""

import hashlib
import os
import threading
import zlib
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from agents.domain.errors import Misconfigured
from tasks.git.plumbing import Git

if TYPE_CHECKING:
    import git

FILE, EXECUTABLE, SYMLINK, TREE, SUBMODULE = "100644", "100755", "120000", "040000", "160000"
_NODES = 20_000
_OID_BYTES = 20

Change = Mapping[tuple[bytes, ...], "Entry | None"]
Answer = TypeVar("Answer", bound=tuple[object, ...])


class Entry(NamedTuple):
    """What a tree holds under one path: git's mode, six digits, and the object; a tuple, for a tree has thousands."""

    mode: str
    oid: str


class Objects:
    """Git objects by name. Safe to share between threads; a written object exists before its name is returned."""

    def __init__(self, git_dir: Path) -> None:
        self.git_dir = git_dir.absolute()
        self._turn = threading.Lock()
        self._nodes: dict[str, Mapping[bytes, Entry]] = {}

    @cached_property
    def _reader(self) -> "git.Git":
        import git  # here, for it costs a tenth of a second that `lra status` has no use for

        reader = git.Git(str(self.git_dir))
        # GitPython adds to the process environment and cannot take away: what would bend it is set to our own.
        ours = {"GIT_COMMON_DIR": str(self.git_dir), "GIT_OBJECT_DIRECTORY": str(self.git_dir / "objects")}
        none = dict.fromkeys(("GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE", "GIT_CONFIG_PARAMETERS"), "")
        reader.update_environment(**Git(self.git_dir).environment() | ours | none)
        return reader

    def header(self, name: str) -> tuple[str, str] | None:
        """Return the oid and kind of an object (an oid, a ref, `rev^{tree}`), None if there is none."""
        found = self._ask(name, lambda: self._reader.get_object_header(name))
        return (_text(found[0]), _text(found[1])) if found else None

    def read(self, name: str, kind: str) -> bytes | None:
        """Return the content of an object, None if there is none of that kind."""
        found = self._ask(name, lambda: self._reader.get_object_data(name))
        return found[3] if found and _text(found[1]) == kind else None

    def write(self, kind: str, data: bytes) -> str:
        """Write an object and return its oid."""
        whole = b"%s %d\0%s" % (kind.encode(), len(data), data)
        oid = hashlib.sha1(whole, usedforsecurity=False).hexdigest()
        place = self.git_dir / "objects" / oid[:2] / oid[2:]
        try:
            # An empty file is what a power cut leaves of an object. A tree is mostly hashes, which do not compress.
            if not place.exists() or not place.stat().st_size:
                self._put(place, zlib.compress(whole, 0 if kind == "tree" else 1))
        except OSError as error:
            raise Misconfigured(
                f"cannot write to {self.git_dir}: {error.strerror}; make room, or check its rights"
            ) from error
        return oid

    def node(self, oid: str) -> Mapping[bytes, Entry]:
        """Return one level of a tree by name; Misconfigured if it is not here."""
        known = self._nodes.get(oid)
        if known is None:
            data = self.read(oid, "tree")
            if data is None:
                raise Misconfigured(f"{self.git_dir} has no tree {oid}; remove it and it is fetched again")
            known = parse_tree(data)
            self._remember(oid, known)
        return known

    def write_tree(self, node: Mapping[bytes, Entry]) -> str:
        """Write one level of a tree, in git's order: a folder sorts as if its name ended with a slash."""
        rows = sorted((name + b"/" if entry.mode == TREE else name, name, entry) for name, entry in node.items())
        data = b"".join(
            b"%s %s\0%s" % (entry.mode.lstrip("0").encode(), name, bytes.fromhex(entry.oid)) for _, name, entry in rows
        )
        return self._remember(self.write("tree", data), node)

    def rewrite(self, tree: str | None, changes: Change) -> str | None:
        """Return the tree with entries put or (None) taken away; only folders on a changed path are written anew.

        A folder that ends up empty is gone; None is the tree with nothing in it.
        """
        node = dict(self.node(tree)) if tree else {}
        below: dict[bytes, dict[tuple[bytes, ...], Entry | None]] = {}
        for parts, entry in changes.items():
            if len(parts) > 1:
                below.setdefault(parts[0], {})[parts[1:]] = entry
            elif entry is None:
                node.pop(parts[0], None)
            else:
                node[parts[0]] = entry
        for name, inner in below.items():
            old = node.get(name)
            folder = old.oid if old and old.mode == TREE else None
            new = self.rewrite(folder, inner)
            if new is not None:
                node[name] = Entry(TREE, new)
            elif folder is not None:
                del node[name]
        return self.write_tree(node) if node else None

    def differences(self, one: str, other: str) -> Iterator[tuple[bytes, Entry | None, Entry | None]]:
        """Yield every path whose entry differs between two trees, before and after; equal folders are not read."""
        ahead: list[tuple[bytes, str | None, str | None]] = [(b"", one, other)]
        while ahead:
            above, left, right = ahead.pop()
            before, after = (self.node(oid) if oid else {} for oid in (left, right))
            for name in before.keys() | after.keys():
                old, new = before.get(name), after.get(name)
                if old == new:
                    continue
                folders = [entry.oid if entry and entry.mode == TREE else None for entry in (old, new)]
                if any(folders):
                    ahead.append((above + name + b"/", folders[0], folders[1]))
                old, new = (None if entry and entry.mode == TREE else entry for entry in (old, new))
                if old or new:
                    yield above + name, old, new

    def close(self) -> None:
        """End the lasting processes; the next read starts them again."""
        with self._turn:
            if "_reader" in self.__dict__:
                self._reader.clear_cache()

    def _put(self, place: Path, content: bytes) -> None:
        place.parent.mkdir(exist_ok=True)
        # The name is one that git's gc takes for rubbish, should this process die here.
        with NamedTemporaryFile(dir=place.parent, prefix="tmp_obj_", delete=False) as unfinished:
            unfinished.write(content)
            os.fchmod(unfinished.fileno(), 0o444)
        Path(unfinished.name).rename(place)

    def _remember(self, oid: str, node: Mapping[bytes, Entry]) -> str:
        if len(self._nodes) >= _NODES:
            self._nodes.clear()
        self._nodes[oid] = node
        return oid

    def _ask(self, name: str, question: Callable[[], Answer]) -> Answer | None:
        if not name or "\n" in name or "\0" in name or not _is_encodable(name):
            return None
        with self._turn:
            for _ in range(2):  # an interrupt of the terminal may have ended the process: a new one answers
                try:
                    return question()
                except ValueError as unknown:
                    if "SHA is empty" not in str(unknown):
                        return None
                except BrokenPipeError:
                    pass
                self._reader.clear_cache()
        raise Misconfigured(f"git cannot read {self.git_dir}; if it was removed, start again and it is made anew")


def parse_tree(data: bytes) -> dict[bytes, Entry]:
    """Read the content of one tree object."""
    node: dict[bytes, Entry] = {}
    at = 0
    while at < len(data):
        space = data.index(b" ", at)
        nul = data.index(b"\0", space)
        end = nul + 1 + _OID_BYTES
        node[data[space + 1 : nul]] = Entry(data[at:space].decode().zfill(6), data[nul + 1 : end].hex())
        at = end
    return node


def _text(word: str | bytes) -> str:
    return word.decode() if isinstance(word, bytes) else word


def _is_encodable(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
