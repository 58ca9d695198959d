"""Which moves does a written reply hold, and which replies are refused?"""

import re
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.domain.edits import text_to_bytes
from agents.domain.errors import AskAgain
from agents.domain.moves import Check, Delete, Edit, GiveUp, Hunk, List, Move, Read, Run, Search, Submit, Write
from agents.moves_text import parse
from agents.prompt import text_of

HUNK = "<<<<<<< SEARCH\nold\n=======\nnew\n>>>>>>> REPLACE"
CHANGED = (Hunk(search="old\n", replace="new\n"),)


def only(text: str) -> Move:
    (move,) = parse(text)
    return move


def refusal(text: str) -> str:
    with pytest.raises(AskAgain) as refused:
        parse(text)
    return str(refused.value)


@pytest.mark.parametrize(
    ("line", "move"),
    [
        ("DELETE: src/a.py", Delete(path="src/a.py")),
        ("READ: src/a.py", Read(path="src/a.py")),
        ("READ: src/a.py 10-80", Read(path="src/a.py", first=10, last=80)),
        ("READ: src/a.py lines 10 - 80", Read(path="src/a.py", first=10, last=80)),
        ("READ: my notes/a 1.md", Read(path="my notes/a 1.md")),
        ("READ: my notes/a.md 3-4", Read(path="my notes/a.md", first=3, last=4)),
        ("LIST: src/", List(path="src")),
        ("LIST: ./src", List(path="src")),
        ("LIST: .github/", List(path=".github")),
        ("LIST: .", List(path="")),
        ("LIST: /", List(path="")),
        ("LIST:", List(path="")),
        ("FIND: def \\w+\\(`", Search(pattern="def \\w+\\(`")),
        ("RUN: python -m tool --x 'a: b'", Run(command="python -m tool --x 'a: b'")),
        ("RUN: echo `date`", Run(command="echo `date`")),
        ("CHECK", Check()),
        ("CHECK:", Check()),
        ("SUBMIT: it works: all of it", Submit(summary="it works: all of it")),
        ("GIVE UP: the test asks for the *impossible*", GiveUp(reason="the test asks for the *impossible*")),
    ],
)
def test_every_one_line_move_is_read(line: str, move: Move) -> None:
    assert only(f"I think.\n\n{line}\n\nThat is it.") == move


@pytest.mark.parametrize(
    ("line", "move"),
    [
        ("**READ:** `src/a.py`", Read(path="src/a.py")),
        ("**READ: src/a.py 1-2**", Read(path="src/a.py", first=1, last=2)),
        ("**READ**: ./src/a.py", Read(path="src/a.py")),
        ("`READ: src/a.py`", Read(path="src/a.py")),
        ("READ: `src/a.py 1-2`", Read(path="src/a.py", first=1, last=2)),
        ("READ: **src/a.py**", Read(path="src/a.py")),
        ('- DELETE: "src/a.py"', Delete(path="src/a.py")),
        ("### READ: src/a.py  ", Read(path="src/a.py")),
        ("> * READ: src/a.py", Read(path="src/a.py")),
        ("* RUN: ls *.py", Run(command="ls *.py")),
        ("RUN: `pytest -q`", Run(command="pytest -q")),
        ("`RUN`: echo `date`", Run(command="echo `date`")),
        ("**SUBMIT:** done", Submit(summary="done")),
        ("**GIVE UP:** no way", GiveUp(reason="no way")),
        ("**CHECK**", Check()),
        ("`CHECK`", Check()),
    ],
)
def test_the_dress_that_weak_models_put_on_moves_is_taken_off(line: str, move: Move) -> None:
    assert only(line) == move


@pytest.mark.parametrize(
    "prose",
    [
        "Check the file",
        "CHECK the file",
        "CHECK: the tests will pass now",
        "READ the docs",
        "READ",
        "## FILE",
        "SUBMIT",
        "CHECKS: all",
        "File: src/a.py",
        "I will READ: nothing",
        "the FILE: a.py",
        "",
    ],
)
def test_prose_is_no_move(prose: str) -> None:
    assert parse(f"{prose}\nDELETE: a\n{prose}") == (Delete(path="a"),)
    assert "holds no move" in refusal(prose)


@pytest.mark.parametrize("word", ["FILE", "EDIT", "DELETE", "READ", "FIND", "RUN", "SUBMIT", "GIVE UP"])
def test_a_move_without_its_argument_is_refused_by_name(word: str) -> None:
    assert refusal(f"{word}: \n").startswith(f"{word}: needs something")


def test_several_moves_come_in_their_order() -> None:
    text = f"First:\nREAD: a\n\nEDIT: b\n{HUNK}\nthen\nFILE: c\n```\nx\n```\nCHECK\nSUBMIT: done\n"
    assert [move.kind for move in parse(text)] == ["read", "edit", "write", "check", "submit"]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("language", ["", "python", "c++", " text title=a"])
def test_a_file_is_the_block_that_follows(language: str, newline: str) -> None:
    text = f"FILE: src/a.py\n\n```{language}\nif x:\n\n    y\n```\n".replace("\n", newline)
    assert only(text) == Write(path="src/a.py", text="if x:\n\n    y\n")


def test_an_empty_block_is_an_empty_file() -> None:
    assert only("FILE: pkg/__init__.py\n```python\n```") == Write(path="pkg/__init__.py", text="")


def test_a_longer_fence_holds_shorter_ones_and_moves_that_are_none() -> None:
    body = "# T\n```python\nx\n```\nFILE: b.py\n```\nEDIT: c\n<<<<<<< SEARCH\nDELETE: d\n"
    assert only(f"FILE: README.md\n````markdown\n{body}````\n") == Write(path="README.md", text=body)


def test_a_fence_ends_at_the_same_run_alone() -> None:
    assert parse("FILE: a\n```\nx\n````\n``` y\n```z\n ```\n```\nCHECK") == (
        Write(path="a", text="x\n````\n``` y\n```z\n ```\n"),
        Check(),
    )


def test_blocks_with_a_language_inside_an_equal_fence_belong_to_the_file() -> None:
    body = "# T\n```sh\nls\n```\nand\n```python\nx\n```\nend\n"
    text = f"FILE: README.md\n```markdown\n{body}```\nFILE: b.py\n```python\ny\n```\n"
    assert parse(text) == (Write(path="README.md", text=body), Write(path="b.py", text="y\n"))


def test_an_indented_block_inside_an_equal_fence_belongs_to_the_file() -> None:
    body = "- one\n  ```\n  ls\n  ```\n"
    assert only(f"FILE: a.md\n```\n{body}```\n") == Write(path="a.md", text=body)


@pytest.mark.parametrize("inside", ["if x:\n    y\n", "if x:\n\n    y\n"])
def test_an_indented_fence_gives_its_indentation_away(inside: str) -> None:
    shifted = "".join(f"  {line}" if line.strip() else line for line in inside.splitlines(keepends=True))
    assert only(f"- FILE: a.py\n  ```python\n{shifted}  ```\n") == Write(path="a.py", text=inside)
    assert only(f"- FILE: a.py\n  ```python\n{inside}```\n") == Write(path="a.py", text=inside)


@pytest.mark.parametrize("text", ["FILE: a.py\n```python\nx = 1\n", "FILE: a.py\n````\nx\n```\n"])
def test_a_file_whose_fence_never_ends_is_refused(text: str) -> None:
    assert "FILE: a.py never ends" in refusal(text)


@pytest.mark.parametrize("text", ["FILE: a.py", "FILE: a.py\nx = 1\n", "FILE: a.py\nCHECK\n```\nx\n```\n"])
def test_a_file_without_a_block_is_refused(text: str) -> None:
    assert "FILE: a.py must be followed by a fenced block" in refusal(text)


def test_moves_inside_a_block_of_prose_are_none() -> None:
    assert parse("For example\n```\nDELETE: everything\n```\nCHECK\n") == (Check(),)


def test_a_stray_fence_hides_no_move() -> None:
    assert parse("FILE: a\n```\nx\n```\n```\nCHECK\n") == (Write(path="a", text="x\n"), Check())


@pytest.mark.parametrize(
    "text",
    [
        f"EDIT: a\n{HUNK}",
        f"EDIT: a\n\n{HUNK}\n",
        f"EDIT: a\nI change it so:\n{HUNK}\n",
        f"EDIT: a\n```python\n{HUNK}\n```",
        f"EDIT: a\r\n```\r\n{HUNK}\r\n```\r\n".replace("\n", "\r\n").replace("\r\r", "\r"),
        f"**EDIT:** `a`\n````\n{HUNK}\n````\n",
    ],
)
def test_an_edit_is_its_hunks_bare_or_in_a_fence(text: str) -> None:
    assert only(text) == Edit(path="a", hunks=CHANGED)


@pytest.mark.parametrize(
    "between",
    ["\n", "\n\n", "\nand\n", "\n```\n\n```python\n", "\n```\nand\n```\n"],
)
def test_an_edit_takes_all_its_hunks(between: str) -> None:
    wrapped = ("```\n", "\n```") if "```" in between else ("", "")
    text = f"EDIT: a\n{wrapped[0]}{HUNK}{between}{HUNK}{wrapped[1]}\nCHECK\n"
    assert parse(text) == (Edit(path="a", hunks=CHANGED * 2), Check())


def test_what_follows_a_fenced_edit_is_read() -> None:
    text = f"EDIT: a\n```\n{HUNK}\n```\nEDIT: b\n```\n{HUNK}\n```\n```\nDELETE: c\n```\nSUBMIT: done"
    assert parse(text) == (Edit(path="a", hunks=CHANGED), Edit(path="b", hunks=CHANGED), Submit(summary="done"))


def test_a_hunk_keeps_every_space() -> None:
    text = "EDIT: a\n<<<<<<< SEARCH\n  x = 1  \n\t\n=======\n>>>>>>> REPLACE\n"
    assert only(text) == Edit(path="a", hunks=(Hunk(search="  x = 1  \n\t\n", replace=""),))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("EDIT: a\nx = 1\n", "must be followed by <<<<<<< SEARCH"),
        ("EDIT: a\nCHECK\n", "must be followed by <<<<<<< SEARCH"),
        ("EDIT: a\n<<<<<<< SEARCH\nold\n", "without its line '======='"),
        ("EDIT: a\n<<<<<<< SEARCH\nold\n=======\nnew\n", "without its line '>>>>>>> REPLACE'"),
        (f"EDIT: a\n<<<<<<< SEARCH\nold\n>>>>>>> REPLACE\n{HUNK}\n", "where '=======' must come first"),
        (f"EDIT: a\n<<<<<<< SEARCH\nold\n=======\nnew\n{HUNK}\n", "where '>>>>>>> REPLACE' must come first"),
        ("EDIT: a\n<<<<<<< SEARCH\nT\n=======\n=======\nU\n=======\n>>>>>>> REPLACE\n", "send the file with FILE"),
        (f"CHECK\n{HUNK}\n", "belongs to no file"),
        (f"CHECK\n```\n{HUNK}\n```\n", "belongs to no file"),
    ],
)
def test_an_edit_that_could_mean_two_things_is_refused(text: str, why: str) -> None:
    assert why in refusal(text)


def test_the_prompt_teaches_what_is_read() -> None:
    taught = text_of("moves_text")
    named = "\n\n".join(re.findall(r"`([A-Z ]+(?:: [^`]+)?)`", taught))  # the moves that stand in a sentence there
    kinds = {move.kind for move in (*parse(taught), *parse(named))}
    assert kinds == {"write", "edit", "delete", "read", "list", "search", "run", "check", "submit", "give_up"}


LINES = st.lists(
    st.one_of(
        st.text(max_size=12),
        st.sampled_from(["```", "````", "  ```", "```python", "FILE: x", "CHECK", HUNK, "\x0c", "a\x85b\u2028c", "\t"]),
    ),
    max_size=8,
)
NAMES = st.from_regex(r"[\w. +#=-]*[\w+#=-]", fullmatch=True).filter(lambda name: not name.startswith((" ", "./")))


@settings(max_examples=150, derandomize=True, deadline=None)
@given(path=st.lists(NAMES, min_size=1, max_size=3).map("/".join), text=LINES.map("\n".join), language=NAMES)
def test_a_file_written_with_a_long_enough_fence_is_read_back(path: str, text: str, language: str) -> None:
    fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`+", text))])
    body = f"{text}\n" if text else ""
    found = only(f"Prose.\nFILE: {path}\n{fence}{language}\n{body}{fence}\nMore prose.\n")
    assert isinstance(found, Write)
    assert found.path == path
    assert found.text == body.replace("\r\n", "\n")
    assert text_to_bytes(found.text, None) == text_to_bytes(text, None)


@settings(max_examples=150, derandomize=True, deadline=None)
@given(LINES.map("\n".join))
def test_any_reply_gives_moves_or_one_refusal(text: str) -> None:
    with suppress(AskAgain):
        assert parse(text)
