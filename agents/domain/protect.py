"""What may a candidate touch? Decided from the names that changed, before anything of it runs."""

import re
import unicodedata
from functools import cache
from typing import Literal

from agents.domain.gate import Reason
from agents.domain.programs import programs_of
from agents.domain.value import Value

ALWAYS_OURS = (
    "**/conftest.py",
    "**/sitecustomize.py",
    "**/usercustomize.py",
    "**/sitecustomize/**",
    "**/usercustomize/**",
    "**/*.pth",
    "**/*.pyc",
    "**/*.so",
    "**/*.dist-info/**",
    "**/*.egg-info/**",
    "**/.ignore",
    "**/gnumakefile",
    "**/makefile",
    "**/conftest/**",
    "**/pyproject.toml",
    "**/tox.toml",
)
TEST_FILES = ("**/test_*.py", "**/*_test.py", "**/*.test.*", "**/*.spec.*", "**/__tests__/**")
TESTS = ("tests/**", "test/**", *TEST_FILES)
PACKAGE = "/__init__.py"
STEERS_PYTEST = ("**/pytest.*", "**/.pytest.*", "**/pyproject.toml", "**/tox.ini", "**/setup.cfg")
SECRETS = ("**/.env", "**/.env.*", "**/*.pem", "**/*.key", "**/id_rsa", "**/id_ed25519", "**/.netrc", "**/.npmrc")
SYMLINK, SUBMODULE = "120000", "160000"


class Change(Value):
    """One path that differs between two trees; modes are git's octal text, "000000" where the path is absent."""

    path: str
    kind: Literal["added", "modified", "deleted", "typechange"]
    old_mode: str
    new_mode: str


def violations(changes: tuple[Change, ...], protect: tuple[str, ...], grants: tuple[str, ...]) -> tuple[Reason, ...]:
    """Return what the changes touch without a grant; a glob that names a folder means all that is in it.

    Existing files under `protect` may not change. New tests may be added; new start-up files, new configuration, links
    and submodules may not.
    """
    protect = tuple(found for glob in protect for found in _meant(glob))
    return tuple(reason for change in changes if (reason := _violation(change, protect, grants)) is not None)


def own_checks(changes: tuple[Change, ...], checks: tuple[str, ...], grants: tuple[str, ...]) -> tuple[Reason, ...]:
    """Return the existing programs that an acceptance command runs and the candidate changed."""
    run = {word for check in checks if not check.startswith("pytest ") for word in programs_of(check)}
    return tuple(
        Reason(kind="protected", path=c.path, message=f"{c.path} is what checks this item, and was {c.kind}")
        for c in changes
        if c.path in run and c.kind != "added" and not matches(c.path, grants)
    )


def strays(changes: tuple[Change, ...], files: tuple[str, ...], grants: tuple[str, ...]) -> tuple[Reason, ...]:
    """Return what changed beyond the files that an item owns, when it names any; new tests may always be added."""
    owned = (*files, *(f"{name.rstrip('/')}/**" for name in files), *grants)
    strange = [change.path for change in changes if files and not matches(change.path, owned)]
    return tuple(
        Reason(kind="outside", path=path, message=f"{path} is not among the files of this item")
        for path in strange
        if not _is_new_test(path)
    )


def guards(path: str, protect: tuple[str, ...]) -> bool:
    """Say whether a path is under protection; a glob that names a folder means all that is in it."""
    return matches(path, tuple(found for glob in protect for found in _meant(glob)))


def matches(path: str, globs: tuple[str, ...]) -> bool:
    """Say whether a path fits one of the globs: `*` stays inside a folder, `**/` is any number of folders or none."""
    return any(_pattern(glob).fullmatch(path) for glob in globs)


def _is_new_test(path: str) -> bool:
    """Say whether a new file can only add tests: other Python there may stand in front of a module of the same name."""
    is_test = matches(path, TEST_FILES) or (matches(path, TESTS) and not path.endswith(".py")) or path.endswith(PACKAGE)
    return is_test and matches(path, TESTS) and not matches(path, STEERS_PYTEST)


def _meant(glob: str) -> tuple[str, str]:
    name = glob.removeprefix("./").strip("/")
    return name, f"{name}/**"


def _violation(change: Change, protect: tuple[str, ...], grants: tuple[str, ...]) -> Reason | None:
    path = change.path
    if change.new_mode in (SYMLINK, SUBMODULE):
        return Reason(kind="odd_file", path=path, message=f"{path} is a link or a submodule, and was changed")
    if change.kind == "added" and (odd := _oddity(path)):
        return Reason(kind="odd_name", path=path, message=f"{path!r} is new and {odd}")
    if matches(path, grants):
        return None
    if change.kind == "added":
        guarded = matches(path.lower(), ALWAYS_OURS) or (matches(path, protect) and not _is_new_test(path))
        what = "is new and can change how checks run"
    else:
        guarded = matches(path, protect) or matches(path.lower(), ALWAYS_OURS)
        what = f"is protected and was {change.kind}"
    return (
        Reason(kind="protected", path=path, message=f"{path} {what}; no grant covers it (may_edit, --grant)")
        if guarded
        else None
    )


def _oddity(path: str) -> str:
    """Say what a new name has that people or another system read otherwise; a space or a foreign letter is nothing."""
    if any(unicodedata.category(letter) in ("Cc", "Cf", "Zl", "Zp") for letter in path):
        return "has a letter that cannot be seen"
    if "\\" in path or any(part.rstrip(". ").lower() in (".git", "git~1") for part in path.split("/")):
        return "is a folder or a part of git's own on another system"
    # Bytes that are no UTF-8 come as letters that mean nothing to anybody: for private use, or halves of others.
    no_text = any(unicodedata.category(letter) in ("Co", "Cs") for letter in path)
    return "has bytes or letters that are no text" if no_text else ""


@cache
def _pattern(glob: str) -> re.Pattern[str]:
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", glob)
    meaning = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.compile("".join(meaning.get(part) or re.escape(part) for part in parts), re.DOTALL)
