"""What does the diff policy refuse, and does honest work pass?"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.domain.diff_policy import FileChange, inspect

CODE = b"import os\n\n\ndef size(path):\n    return os.stat(path).st_size\n"
LEAVE = b"\n\ndef leave():\n    os._exit(0)\n"
MARKED = b"\n\ndef read(x):\n    return x.y  # type: ignore[attr-defined]  # noqa: S101\n"
TEST = b"import pytest\n\n\ndef test_one():\n    assert 1\n"
SKIP = b"\n\n@pytest.mark.skip\ndef test_two():\n    assert 0\n"


def kinds(*changes: tuple[str, bytes | None, bytes | None], grants: str = "", typed: bool = True) -> list[str]:
    files = tuple(FileChange(path=path, before=before, after=after) for path, before, after in changes)
    return [reason.kind for reason in inspect(files, tuple(grants.split()), typed, True)]


@pytest.mark.parametrize(
    ("path", "before", "after", "kind"),
    [
        ("pyproject.toml", b"[tool.ruff]\n", b"[tool.ruff]\nselect = []\n", "configuration"),
        ("pyproject.toml", b"[project]\ndependencies = []", b'[project]\ndependencies = ["x"]', "dependencies"),
        ("src/ruff.toml", None, b"", "configuration"),
        ("src/a.py", CODE, CODE + LEAVE, "capability"),
        ("src/a.py", None, CODE + LEAVE, "capability"),
        ("src/tool", None, b"#!/usr/bin/env python3\nimport os\nos._exit(0)\n", "capability"),
        ("src/a.py", CODE, b"def f(:\n", "capability"),
        ("src/a.py", None, b"def f(:\n", "capability"),
        ("src/a.py", CODE, b"# coding: none\n" + CODE, "capability"),
        ("src/a.py", CODE, b"# coding: utf-7\n" + CODE + b"# +AAo-os._exit(0)\n", "capability"),
        ("src/a.py", CODE, CODE + b"# \r\nos._exit(0)\r\n", "capability"),
        ("src/a.py", CODE, CODE + b"# \ros._exit(0)\n", "capability"),
        ("src/a_test.py", CODE, CODE + LEAVE, "capability"),
        ("src/a.py", CODE, CODE + b"x = 1  # noqa\n", "suppression"),
        ("src/a.py", CODE, b"# mypy: ignore-errors\n" + CODE, "suppression"),
        ("src/a.py", CODE, CODE + b"x = 1  # pragma: no cover\n", "suppression"),
        ("src/a.py", b"x = 1  # noqa: E501\n", b"x = 1  # noqa\n", "suppression"),
        ("tests/test_a.py", TEST, TEST + SKIP, "suppression"),
        ("src/a.pyi", None, b"x: int\n", "shadowing"),
        ("pytest.py", None, b"", "shadowing"),
        ("src/random.py", None, b"", "shadowing"),
        ("build/__main__.py", None, b"", "shadowing"),
        ("_pytest/__init__.py", None, b"", "shadowing"),
    ],
)
def test_a_cheat_is_refused_for_what_it_is_unless_a_human_grants_it(
    path: str, before: bytes | None, after: bytes, kind: str
) -> None:
    assert kinds((path, before, after)) == [kind]
    assert kinds((path, before, after), grants=path) == []
    assert kinds((path, before, after), grants=f"x/{path}") == [kind]


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("pyproject.toml", b"[project]\nversion = '1'\n", b"[project]\nversion = '2'\n"),
        ("src/a.py", CODE, CODE.replace(b"size", b"length")),
        ("src/a.py", CODE + LEAVE, b"# a word\n" + CODE + LEAVE.replace(b"leave", b"stop")),
        ("src/a.py", CODE + MARKED, MARKED + CODE),
        ("src/a.py", CODE + LEAVE, None),
        ("src/a.py", b"print 1\n", b"print 2\n"),
        ("src/a.py", b"x = 1  # noqa\n", b"x = 1  # noqa: E501\n"),
        ("tests/test_a.py", None, TEST + b"x: int = 'a'  # type: ignore\n"),
        ("tests/test_a.py", None, TEST + b"import sys\n@pytest.mark.skipif(sys.platform == 'x')\ndef test(): ...\n"),
        ("src/pkg/tests/test_a.py", None, TEST + b"import os, signal\nsignal.signal(1, os.abort)\n"),
        ("src/a_test.py", None, TEST),
        ("README.md", b"", b"os._exit(0)  # noqa\n"),
        ("run.sh", None, b"#!/bin/sh\nexec python x.py\n"),
        ("src/pkg/types.py", None, b"x = 1\n"),
        ("scripts/random.py", None, b"x = 1\n"),
        ("test/__init__.py", None, b""),
        ("src/random.py", b"", b"x = 1\n"),
        ("src/a.py", CODE, b"# coding: latin-1\n" + CODE + b"NAME = '\xe4'\n"),
        ("data.bin", b"\xff\0", b"\0\xff"),
    ],
)
def test_honest_work_passes(path: str, before: bytes | None, after: bytes | None) -> None:
    assert kinds((path, before, after)) == []


def test_only_checks_in_force_can_be_silenced() -> None:
    change = FileChange(path="a.py", before=CODE, after=CODE + MARKED)
    assert {typed: len(inspect((change,), (), typed, True)) for typed in (True, False)} == {True: 2, False: 1}
    assert inspect((change,), (), False, False) == ()
    uncovered = FileChange(path="a.py", before=CODE, after=CODE + b"x = 1  # pragma: no cover\n")
    assert inspect((uncovered,), (), True, True, covered=False) == ()
    assert kinds(("a.pyi", None, b"x: int"), typed=False) == []


def test_a_reason_names_file_line_and_way_out() -> None:
    (reason,) = inspect((FileChange(path="a b.py", before=CODE, after=CODE + LEAVE),), (), True, True)
    assert reason.message == "a b.py newly has: os._exit (line 9); undo it, or a human grants it (may_edit, --grant)"


@pytest.mark.parametrize("extra", [b"", b"x = 2\n"])
def test_a_renamed_file_brings_what_it_had(extra: bytes) -> None:
    old = b"# ruff: noqa\n" + CODE + LEAVE + MARKED + b"\nos.abort()\n"
    assert kinds(("a.py", old, None), ("b/c.py", None, old + extra)) == []
    assert kinds(("a.py", old, None), ("b/c.py", None, old + b"os.abort()\n")) == ["capability"]


def test_a_moved_function_brings_what_it_had() -> None:
    parts = (("a.py", CODE + LEAVE + MARKED, CODE), ("b.py", b"import os\n", b"import os\n" + LEAVE + MARKED))
    assert kinds(*parts) == []
    assert kinds(("a.py", CODE + LEAVE, CODE), ("b.py", b"", b"import os\n" + LEAVE + LEAVE)) == ["capability"]
    assert kinds(("a.py", CODE + LEAVE, CODE + LEAVE), ("b.py", b"", b"import os\n" + LEAVE)) == ["capability"]


def test_a_removed_use_pays_for_no_other() -> None:
    other = b"import os\n\n\ndef answer():\n    os._exit(0)\n    return 4\n"
    assert kinds(("old.py", CODE + LEAVE, None), ("new.py", None, other)) == ["capability"]
    assert kinds(("a.py", CODE + b"os._exit(0)\n", CODE), ("b.py", CODE, CODE + b"os._exit(0)\n")) == ["capability"]
    assert kinds(("a.py", b"# ruff: noqa\n", None), ("b.py", CODE, b"# ruff: noqa\n" + CODE)) == ["suppression"]
    assert kinds(("tests/test_a.py", TEST + SKIP, None), ("a.py", None, b"import pytest\n")) == ["capability"]


def test_a_copied_function_is_new_also_when_the_first_was_touched() -> None:
    touched = LEAVE.replace(b"leave", b"stay")
    assert kinds(("a.py", CODE + LEAVE, CODE + touched), ("b.py", CODE, CODE + LEAVE)) == ["capability"]


PATHS = st.sampled_from(
    ["a.py", "tests/test_a.py", "pyproject.toml", "a.pyi", "setup.cfg", "pytest.py", "x/package.json"]
)
CONTENTS = st.binary(max_size=30) | st.sampled_from([CODE, LEAVE, MARKED, TEST, SKIP, CODE + LEAVE, TEST + SKIP])


@settings(max_examples=200, derandomize=True, deadline=None)
@given(st.lists(st.tuples(PATHS, CONTENTS), max_size=5, unique_by=lambda one: one[0]))
def test_what_did_not_change_is_never_refused(files: list[tuple[str, bytes]]) -> None:
    assert kinds(*((path, content, content) for path, content in files)) == []


@settings(max_examples=200, derandomize=True, deadline=None)
@given(st.lists(st.tuples(PATHS, st.none() | CONTENTS, st.none() | CONTENTS), max_size=5, unique_by=lambda one: one[0]))
def test_a_grant_for_all_refuses_nothing_and_removal_needs_none(
    files: list[tuple[str, bytes | None, bytes | None]],
) -> None:
    assert kinds(*files, grants="**") == []
    assert set(kinds(*((path, before, None) for path, before, _ in files))) <= {"configuration", "dependencies"}


ANY = b"from typing import Any\n\n\ndef one(x: Any) -> None: ...\n\n\nclass A:\n    size: int = 1\n"
NEW_ANY = (
    b"\n    def more(self, y: Any) -> Any: ...\n\n\nCOUNT: Any = 1\n\n\n@mark(Any)\ndef two(x: Any) -> None: ...\n"
)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"size = 1\n", ANY),
        (None, ANY),
        (ANY, ANY.replace(b"-> None", b"-> Any")),
        (ANY, ANY.replace(b"None: ...", b"None:\n    def inner(y: Any): ...")),
        (ANY, ANY.replace(b"size: int", b"size: Any")),
        (ANY, ANY + b"\n\nif Any:\n    print(1)\n"),
        (ANY + b"B: int = 2", ANY + b"A: int = 1; B: Any = 2"),
    ],
)
def test_any_is_refused_where_the_file_had_none_or_the_name_a_type(before: bytes | None, after: bytes) -> None:
    assert kinds(("src/a.py", before, after)) == ["suppression"]
    assert kinds(("src/a.py", before, after), typed=False) == []


def test_any_is_free_in_new_code_of_a_file_that_says_it_already() -> None:
    assert kinds(("src/a.py", ANY, ANY + NEW_ANY)) == []
    assert kinds(("src/a.py", ANY, ANY + NEW_ANY + b"x = 1  # type: ignore\n")) == ["suppression"]
