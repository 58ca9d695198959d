"""Does the project say what it means in its documented words, and nothing about how or where it was made?"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from agents.domain.budget import Source
from agents.domain.checklist import Status
from agents.domain.moves import Move

ROOT = Path(__file__).parents[2]
TOPS = ("flows", "tasks", "agents", "analytics", "docs", "tests", ".ci", ".github")
KINDS = {".py", ".md", ".toml", ".yaml", ".yml", ".ini", ".sql", ".sh", ".ipynb", ".json", ".jsonl", ".txt", ""}
NEVER = {
    "unfinished work": re.compile(r"(?<![.\w])(TO" r"DO|FIX" r"ME|XX" r"X)\b(?! = )"),
    "a path of a developer's machine": re.compile(r"(?<![\w.~$}>-])/(work|root|home|Users)/(?!me\b|you\b|user\b)[\w.]"),
    "how the project was made": re.compile(
        r"(?i)\b(issue|ticket|pull request|PR) ?#\d|\b(this|last|previous|earlier|next|our|my|a work|coding) session\b"
    ),
}


def texts() -> Iterator[Path]:
    """Every text of the project: what is in its folders, and the files beside them."""
    beside = [path for path in ROOT.iterdir() if path.is_file() and path.name not in ("uv.lock", ".git")]
    below = [path for top in TOPS for path in (ROOT / top).rglob("*") if path.is_file()]
    for path in sorted((*beside, *below)):
        if path.suffix in KINDS and "__pycache__" not in path.parts:
            yield path


def faults(name: str, text: str) -> Iterator[str]:
    for number, line in enumerate(text.split("\n"), 1):
        yield from (
            f"{name}:{number} speaks of {what}: {found[0]}"
            for what, rule in NEVER.items()
            if (found := rule.search(line))
        )


def glossary() -> dict[str, str]:
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \|", (ROOT / "docs" / "glossary.md").read_text("utf-8"), re.MULTILINE)
    return {word.strip(): meaning.strip() for word, meaning in rows}


def listed(meaning: str) -> list[str]:
    """The words after the colon, as in `one of: this, that`."""
    return [word.strip().replace(" ", "_") for word in re.split(",|;", meaning.partition(":")[2])]


def stages(files: dict[str, str]) -> dict[str, tuple[str, str]]:
    """The name of every Prefect task, with the function that it names and the file where it stands."""
    found = {}
    for path, text in files.items():
        for node in ast.walk(ast.parse(text)):
            for mark in getattr(node, "decorator_list", ()):
                match mark:
                    case ast.Call(func=ast.Name(id="task"), keywords=keywords):
                        given = {word.arg: getattr(word.value, "value", None) for word in keywords}
                        found[str(given.get("name"))] = (node.name, Path(path).stem)
    return found


def task_files() -> dict[str, str]:
    return {path.name: path.read_text("utf-8") for path in sorted((ROOT / "tasks").glob("*.py"))}


def test_nothing_is_left_open_and_nothing_tells_where_it_was_made() -> None:
    read = {path.relative_to(ROOT).as_posix(): path.read_bytes().decode("utf-8", "replace") for path in texts()}
    assert "README.md" in read
    assert [fault for name, text in read.items() for fault in faults(name, text)] == []


def test_every_stage_is_named_by_its_word() -> None:
    found = stages(task_files())
    assert sorted(found) == sorted(listed(glossary()["stage"]))
    assert found == {name: (name, name) for name in found}


def test_the_glossary_names_every_move() -> None:
    kinds = [kind.model_fields["kind"].default for kind in get_args(get_args(Move)[0])]
    assert listed(glossary()["move"]) == kinds


def test_the_glossary_names_every_source_of_a_reply() -> None:
    (row,) = (word for word in glossary() if word.startswith("live"))
    assert tuple(row.split(", ")) == get_args(Source)


@pytest.mark.parametrize(
    "line",
    [
        "x = 1  # TO" + "DO: later",
        "FIX" + "ME",
        "see XX" + "X",
        'open("/wo' + 'rk/main/a.py")',
        "cd /ro" + "ot/x",
        "/ho" + "me/jane/lra",
        "/Us" + "ers/jane/lra",
        "fixes issue " + "#12",
        "as decided in the previous " + "session",
    ],
)
def test_a_wrong_word_is_found(line: str) -> None:
    assert len(list(faults("a.md", f"fine\n{line}\n"))) == 1


@pytest.mark.parametrize(
    "line",
    [
        f"item.status is Status.{Status.TODO.name}",
        '    TODO = "todo"',
        '@pytest.fixture(scope="session")',
        "tests/work/a.py, ~/work/a, $HOME/root/x",
        "/root is closed to it",
        "# 12 items",
    ],
)
def test_a_right_word_is_left_alone(line: str) -> None:
    assert list(faults("a.md", line)) == []


@pytest.mark.parametrize(
    "text",
    [
        '@task(name="engineering")\ndef engineer(): ...',
        "@task()\ndef engineer(): ...",
        '@task(name="engineer")\ndef f(): ...',
    ],
)
def test_a_stage_under_another_name_is_found(text: str) -> None:
    assert stages({"engineer.py": text}) != {"engineer": ("engineer", "engineer")}
