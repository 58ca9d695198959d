"""What may a candidate touch, and what needs a grant?"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.domain.mission import PROTECTED
from agents.domain.protect import SUBMODULE, SYMLINK, Change, matches, own_checks, strays, violations

FILE, ABSENT = "100644", "000000"
NAMES = st.text(
    st.characters(codec="utf-8", exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=6
)


def change(path: str, kind: str = "modified", old: str = FILE, new: str = FILE) -> Change:
    ends = {"added": (ABSENT, new), "deleted": (old, ABSENT)}.get(kind, (old, new))
    return Change.model_validate({"path": path, "kind": kind, "old_mode": ends[0], "new_mode": ends[1]})


def refused(one: Change, *grants: str) -> str:
    return "".join(reason.kind for reason in violations((one,), PROTECTED, grants))


@pytest.mark.parametrize(
    ("path", "glob", "fits"),
    [
        ("conftest.py", "**/conftest.py", True),
        ("a/b/conftest.py", "**/conftest.py", True),
        ("myconftest.py", "**/conftest.py", False),
        ("tests/a/b.py", "tests/**", True),
        ("tests", "tests/**", False),
        ("src/tests/a.py", "tests/**", False),
        ("src/a.py", "src/*.py", True),
        ("src/a/b.py", "src/*.py", False),
        ("src/a/b.py", "src/**/*.py", True),
        ("src/b.py", "src/**/*.py", True),
        ("a.py", "?.py", True),
        ("/.py", "?.py", False),
        ("requirements-dev.txt", "requirements*.txt", True),
        ("a+b[1].py", "a+b[1].py", True),
        ("ab1.py", "a+b[1].py", False),
        ("pyprojectXtoml", "pyproject.toml", False),
        ("tests/größe/测试.py", "tests/**", True),
        ("größe.py", "gr*e.py", True),
        ("tests/a\nb.py", "tests/**", True),
        ("a\nb/conftest.py", "**/conftest.py", True),
        ("x\n", "x", False),
        ("pyproject.toml\n", "pyproject.toml", False),
        ("-rf.pth", "**/*.pth", True),
        ("--grant/test_a.py", "**/test_*.py", True),
        ("Tests/a.py", "tests/**", False),
    ],
)
def test_a_glob_fits_whole_paths(path: str, glob: str, fits: bool) -> None:
    assert matches(path, (glob,)) is fits


@settings(max_examples=100, derandomize=True, deadline=None)
@given(st.lists(NAMES, min_size=0, max_size=3), st.lists(NAMES, max_size=2))
def test_double_stars_reach_any_depth_for_any_name(folders: list[str], below: list[str]) -> None:
    assert matches("/".join([*folders, "conftest.py"]), ("**/conftest.py",))
    assert matches("/".join(["tests", *folders, *below, "x"]), ("tests/**",))
    assert matches("/".join([*folders, "x"]), ("*",)) == (not folders)


@settings(max_examples=100, derandomize=True, deadline=None)
@given(st.lists(NAMES, min_size=1, max_size=3).map("/".join))
def test_a_path_without_stars_is_a_glob_for_itself_alone(path: str) -> None:
    if not set(path) & set("*?"):
        assert matches(path, (path,))
        assert not matches(path + "x", (path,))
        assert not matches("x/" + path, (path,))


@pytest.mark.parametrize("path", ["src/a.py", "README.md", "docs/ä.md", "a.txt", "mytests/a.py", "src/contest.py"])
@pytest.mark.parametrize("kind", ["added", "modified", "deleted", "typechange"])
def test_plain_files_may_change(path: str, kind: str) -> None:
    assert refused(change(path, kind)) == ""


@pytest.mark.parametrize("path", ["tests/test_new.py", "test/a/data.json", "src/test_b.py", "src/b_test.py"])
def test_a_new_test_may_be_added_and_no_old_one_touched(path: str) -> None:
    assert refused(change(path, "added")) == ""
    for kind in ("modified", "deleted", "typechange"):
        assert refused(change(path, kind)) == "protected"


@pytest.mark.parametrize(
    "path",
    [
        "conftest.py",
        "tests/conftest.py",
        "tests/a/conftest.py",
        "src/sitecustomize.py",
        "usercustomize.py",
        "tests/x.pth",
        "src/fast.so",
        "src/a.pyc",
        "pyproject.toml",
        "pytest.ini",
        "src/ruff.toml",
        "a/.mypy.ini",
        ".github/workflows/ci.yml",
        "Makefile",
        "lra.toml",
    ],
)
@pytest.mark.parametrize("kind", ["added", "modified", "deleted"])
def test_start_up_files_and_configuration_need_a_grant(path: str, kind: str) -> None:
    assert refused(change(path, kind)) == "protected"
    assert refused(change(path, kind), "docs/**") == "protected"
    assert refused(change(path, kind), path) == ""


def test_start_up_files_are_guarded_whatever_the_mission_protects() -> None:
    assert [r.path for r in violations((change("conftest.py", "added"), change("tests/test_a.py")), (), ())] == [
        "conftest.py"
    ]


@pytest.mark.parametrize("mode", [SYMLINK, SUBMODULE])
@pytest.mark.parametrize("kind", ["added", "typechange"])
def test_a_new_link_or_submodule_is_refused_also_with_a_grant(mode: str, kind: str) -> None:
    assert refused(change("src/a", kind, new=mode), "**") == "odd_file"


@pytest.mark.parametrize("mode", [SYMLINK, SUBMODULE])
def test_a_link_or_submodule_may_go(mode: str) -> None:
    assert refused(change("src/a", "deleted", old=mode)) == ""
    assert refused(change("src/a", "typechange", old=mode)) == ""


@pytest.mark.parametrize("mode", [SYMLINK, SUBMODULE])
def test_a_link_or_submodule_may_not_be_pointed_elsewhere(mode: str) -> None:
    assert refused(change("src/a", "modified", old=mode, new=mode)) == "odd_file"


def test_every_refusal_names_its_path_and_what_happened() -> None:
    reasons = violations(
        (change("src/a.py"), change("tests/test_a.py", "deleted"), change("x.pth", "added")), PROTECTED, ()
    )
    assert [(r.path, r.message) for r in reasons] == [
        ("tests/test_a.py", "tests/test_a.py is protected and was deleted; no grant covers it (may_edit, --grant)"),
        ("x.pth", "x.pth is new and can change how checks run; no grant covers it (may_edit, --grant)"),
    ]


def test_what_an_item_does_not_own_is_outside_and_new_tests_are_not():
    changes = tuple(change(path) for path in ("src/a.py", "src/deep/b.py", "tests/test_a.py", "PWNED.txt"))
    assert [reason.path for reason in strays(changes, ("src/",), ())] == ["PWNED.txt"]
    assert [reason.path for reason in strays(changes, ("src/*.py",), ("PWNED.txt",))] == ["src/deep/b.py"]
    assert strays(changes, (), ()) == ()


@pytest.mark.parametrize(
    "path",
    [
        *(".ignore", "app/pyproject.toml", "GNUmakefile", "x.dist-info/entry_points.txt", "sitecustomize/__init__.py"),
        *("tests/pytest.ini", "pytest.toml", "tests/app/dur.py"),
    ],
)
def test_a_new_file_that_steers_checks_or_shadows_a_module_is_refused(path):
    assert refused(change(path, "added")) == "protected"
    assert refused(change(path, "added"), path) == ""


@pytest.mark.parametrize("path", ["tests/data/a.json", "tests/__init__.py", "tests/deep/test_a.py", "a/x.test.js"])
def test_a_new_file_that_only_adds_tests_is_welcome(path):
    assert refused(change(path, "added")) == ""


@pytest.mark.parametrize("glob", ["golden", "golden/", "./golden/**"])
def test_a_folder_is_protected_however_it_is_written(glob):
    assert violations((change("golden/a.txt"),), (glob,), ())


def test_nobody_marks_their_own_work():
    checks = ("python tools/check_docs.py", "./run.sh --all", "pytest tests/test_a.py", "grep -q x README.md")
    changes = tuple(change(path) for path in ("tools/check_docs.py", "run.sh", "README.md", "src/a.py"))
    assert [reason.path for reason in own_checks(changes, checks, ())] == ["tools/check_docs.py", "run.sh"]
    assert own_checks(changes, checks, ("tools/*", "run.sh")) == ()


@pytest.mark.parametrize("name", ["src/\uefff.py", "src/\udcff.py", "src/a\u200cb.py", "src/a\\b.py", ".git /a"])
def test_a_new_name_that_people_read_otherwise_is_refused(name: str) -> None:
    assert refused(change(name, "added"), "nothing/**") == "odd_name"


@pytest.mark.parametrize("name", ["src/größe.py", "src/数.py", "docs/a b.md", "src/naïve/x.py"])
def test_a_new_name_in_any_language_is_none(name: str) -> None:
    assert refused(change(name, "added"), "nothing/**") == ""
