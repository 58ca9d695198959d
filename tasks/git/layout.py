"""Do it: put a tree on disk byte for byte, and read back what a folder has become."""

import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from agents.domain.errors import AskAgain, Misconfigured
from tasks.git.objects import EXECUTABLE, FILE, SUBMODULE, SYMLINK, Entry, Objects
from tasks.git.paths import bytes_of, is_safe_name, on_disk, shown, text_of
from tasks.git.plumbing import Git

CACHES = ("__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis")
_LINKS_FOLLOWED = 40
LARGEST_FILE = 100_000_000


def lay_out(git: Git, entries: Mapping[str, Entry], folder: Path) -> tuple[str, ...]:
    """Write every file of a tree into an empty folder and return the paths that were left out.

    Contents are the stored bytes: no filter, no line-ending rule, no hook runs, and there is no .git. Left out are
    submodules, symbolic links that lead out of the folder, and names that no file system may be given.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise Misconfigured(f"{folder} is not empty: a tree is laid out into an empty folder only")
    left_out = absent(git, entries)
    wanted = {path: entry for path, entry in entries.items() if path not in left_out}
    for parent in sorted({path.rpartition("/")[0] for path in wanted}):
        (folder / on_disk(parent)).mkdir(parents=True, exist_ok=True)
    contents = zip(wanted.items(), git.blobs(entry.oid for entry in wanted.values()), strict=True)
    links: list[tuple[Path, bytes]] = []
    for (path, entry), content in contents:
        if content is None:
            raise Misconfigured(f"{git.git_dir} has lost the content of {path!r}; remove it and it is fetched again")
        if entry.mode == SYMLINK:
            links.append((folder / on_disk(path), content))
        else:
            _create(folder / on_disk(path), content, 0o755 if entry.mode == EXECUTABLE else 0o644)
    # Links come last: while files are written there is no link that a hostile tree could make them go through.
    for place, target in links:
        place.symlink_to(os.fsdecode(target))
    return tuple(sorted(left_out))


def absent(git: Git, entries: Mapping[str, Entry]) -> frozenset[str]:
    """Return the paths of a tree that `lay_out` never puts on disk."""
    unsafe = {path for path in entries if not all(map(is_safe_name, _parts(path)))}
    modules = {path for path, entry in entries.items() if entry.mode == SUBMODULE}
    linked = [path for path, entry in entries.items() if entry.mode == SYMLINK and path not in unsafe]
    targets = zip(linked, git.blobs(entries[path].oid for path in linked), strict=True) if linked else ()
    links = {path.casefold(): text_of(target or b"") for path, target in targets}
    escaping = {path for path in linked if not _stays_inside(path.casefold(), links)}
    return frozenset(unsafe | modules | escaping)


def changes_in(
    git: Git, objects: Objects, tree: str, entries: Mapping[str, Entry], folder: Path
) -> Iterator[tuple[tuple[bytes, ...], Entry | None]]:
    """Yield what differs between a tree and the folder it was laid out in: changed, deleted and new files.

    New files that the folder's .gitignore rules ignore, caches, and anything that is no file are not seen. No
    repository is touched: git reads the folder through an index of its own that is thrown away.
    """
    never_there = absent(git, entries)
    folders: dict[str, bool] = {"": True}
    for path, entry in entries.items():
        if path in never_there:
            continue
        now = _entry_at(objects, folder, path, entry) if _is_folder(folder, path.rpartition("/")[0], folders) else None
        if now != entry:
            yield _parts(path), now
    for path in _new_files(git, tree, folder):
        parts = _parts(path)
        if path in entries or not all(map(is_safe_name, parts)):
            continue
        if (found := _entry_at(objects, folder, path, None)) is not None:
            yield parts, found


def _parts(path: str) -> tuple[bytes, ...]:
    return tuple((bytes_of(path) or b"").split(b"/"))


def _new_files(git: Git, tree: str, folder: Path) -> list[str]:
    with TemporaryDirectory(prefix="lra-index-") as private:
        env = {"GIT_INDEX_FILE": str(Path(private) / "index"), "GIT_WORK_TREE": str(folder.absolute())}
        git.run("read-tree", tree, env=env)
        rules = ("--exclude-per-directory=.gitignore", *(f"--exclude={name}/" for name in CACHES))
        listed = git.run("ls-files", "-z", "--others", *rules, env=env, cwd=folder)
    return [text_of(raw) for raw in listed.split(b"\0") if raw and not raw.endswith(b"/")]


def _entry_at(objects: Objects, folder: Path, path: str, before: Entry | None) -> Entry | None:
    """Return what is at a path now, None if no file or link; the object is written only when it is not `before`'s."""
    place = folder / on_disk(path)
    try:
        info = place.lstat()
        if stat.S_ISLNK(info.st_mode):
            mode, content = SYMLINK, os.fsencode(place.readlink())
        elif stat.S_ISREG(info.st_mode):
            if info.st_size > LARGEST_FILE:
                raise AskAgain(f"{shown(path)} has {info.st_size} bytes, more than the {LARGEST_FILE} a file may have")
            mode, content = (EXECUTABLE if info.st_mode & stat.S_IXUSR else FILE), _content_of(place)
        else:
            return None
    except (FileNotFoundError, NotADirectoryError):
        return None
    if before is not None and before.oid == _blob_oid(content):
        return Entry(before.mode if before.mode == mode else mode, before.oid)
    return Entry(mode, objects.write("blob", content))


def _content_of(place: Path) -> bytes:
    with os.fdopen(os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
        return file.read()


def _blob_oid(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def _is_folder(folder: Path, path: str, known: dict[str, bool]) -> bool:
    """Say whether a path is a true folder all the way down: a link put in its place must not be read through."""
    if path not in known:
        place = folder / on_disk(path)
        above = _is_folder(folder, path.rpartition("/")[0], known)
        known[path] = above and place.is_dir() and not place.is_symlink()
    return known[path]


def _create(place: Path, content: bytes, mode: int) -> None:
    opened = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode)
    with os.fdopen(opened, "wb") as file:
        file.write(content)


def _stays_inside(path: str, links: Mapping[str, str]) -> bool:
    """Follow a link as the system would, through the tree's other links; say whether it never leaves the root."""
    at = path.split("/")[:-1]
    ahead = links[path].split("/")[::-1]
    if links[path].startswith("/") or bytes_of(links[path]) is None:
        return False
    followed = 0
    while ahead:
        match ahead.pop():
            case "" | ".":
                pass
            case "..":
                if not at:
                    return False
                at.pop()
            case name:
                at.append(name.casefold())
                target = links.get("/".join(at))
                if target is None:
                    continue
                followed += 1
                if target.startswith("/") or followed > _LINKS_FOLLOWED:
                    return False
                at.pop()
                ahead.extend(target.split("/")[::-1])
    return True
