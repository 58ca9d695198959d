"""What is a role told, and does it stay within bounds whatever the mission holds?"""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.briefing import BRIEF_CHARS, LISTED, Material, brief, cut
from agents.domain.checklist import Item
from agents.domain.cycle import CycleResult, Knobs, Pin
from agents.domain.gate import Reason
from agents.domain.mission import Mission
from agents.prompt import fill, text_of

LIMIT = 5000
KNOBS = Knobs(briefing_chars=LIMIT)
NOTHING = Material(listing=(), texts={})
PIN = Pin(
    cycle=3,
    item="one",
    attempt=1,
    base="b",
    base_tree="t",
    variant="default",
    model="m",
    source="live",
    wire="text",
    epoch=1,
    begun_at="now",
)


def mission(text: str = "Why it matters.") -> Mission:
    return Mission(id="m", title="Teach $HOME", brief=text, target="main", checks=(), created_by="me", created_at="now")


def item(**fields: object) -> Item:
    return Item.model_validate({"id": "one", "description": "say ${what}", **fields})


def told(material: Material = NOTHING, previous: CycleResult | None = None, **fields: object) -> str:
    return brief(mission(), item(**fields), material, previous, KNOBS)


def test_mission_item_checks_and_files_are_told_as_they_are() -> None:
    text = told(checks=("pytest tests/a.py", "ruff"), files=("src/*.py", "docs/a b.md"))
    assert "# Mission: Teach $HOME\n\nWhy it matters.\n" in text
    assert "# Your item: one\n\nsay ${what}\n" in text
    assert "Checks that must pass:\n- pytest tests/a.py\n- ruff\n" in text
    assert "You may change: src/*.py, docs/a b.md\n" in text


def test_what_was_not_given_is_said() -> None:
    text = brief(mission(""), item(), NOTHING, None, KNOBS)
    assert "(no more was said)" in text
    assert "- none was given" in text
    assert "You may change: whatever the item needs" in text
    assert "attempt before" not in text


def test_the_attempt_before_is_told_by_its_reasons() -> None:
    reasons = tuple(Reason(kind="acceptance", message=f"red {n}") for n in range(20))
    text = told(previous=CycleResult(pin=PIN, ending="refused", reasons=reasons))
    assert "# Your last attempt ended: refused\n\nThis was wrong with it:\n- acceptance: red 0\n" in text
    assert "red 7" in text
    assert "red 8" not in text


def test_an_attempt_without_reasons_is_told_by_its_summary() -> None:
    text = told(previous=CycleResult(pin=PIN, ending="gave_up", summary="impossible: the test asks for $5"))
    assert "ended: gave_up\n\nThis was wrong with it:\n- impossible: the test asks for $5\n" in text


@settings(max_examples=100, derandomize=True, deadline=None)
@given(st.lists(st.sampled_from(["a", "", "``", "```", "````", "  ```", "```py"]), max_size=6).map("\n".join))
def test_a_text_cannot_leave_its_fence(text: str) -> None:
    shown = told(Material(listing=("a",), texts={"a": text}))
    block = re.search(r"^a\n(`{3,})\n(.*?)\n\1\n", shown, re.MULTILINE | re.DOTALL)
    assert block is not None
    assert block[2] == text.rstrip("\n")


def test_a_text_that_is_too_long_is_named_and_a_shorter_one_after_it_shown() -> None:
    shown = told(Material(listing=(), texts={"big.py": "x" * LIMIT, "small.py": "y = 1\n"}))
    assert "big.py is too long to show here: READ it." in shown
    assert "small.py\n```\ny = 1\n```" in shown
    assert "xxx" not in shown


def test_a_long_listing_ends_with_how_many_more_there_are() -> None:
    shown = told(Material(listing=tuple(f"f{n}" for n in range(LISTED + 7)), texts={}))
    assert f"- f{LISTED - 1}\n- and 7 more\n" in shown
    assert f"- f{LISTED}\n" not in shown


def test_a_name_cannot_pretend_to_be_other_lines() -> None:
    shown = told(Material(listing=("a\n# Your item: two", "größe.py"), texts={}))
    assert "- 'a\\n# Your item: two'\n- größe.py\n" in shown
    assert shown.count("# Your item") == 2
    assert "\n# Your item: two" not in shown


def test_known_failures_are_no_concern_of_the_item() -> None:
    assert "not your concern:\n- tests/a.py::b\n" in told(
        Material(listing=(), texts={}, known_failures=("tests/a.py::b",))
    )


@pytest.mark.parametrize("size", [1, 1000])
def test_a_briefing_does_not_grow_with_what_it_is_made_of(size: int) -> None:
    reasons = tuple(Reason(kind="acceptance", message="m" * 10 * size) for _ in range(size))
    material = Material(
        listing=tuple(f"src/{n:08}" for n in range(size)),
        texts={f"src/{n:08}": "x" * 100 for n in range(size)},
        known_failures=tuple(f"tests/{n:08}" for n in range(size)),
    )
    previous = CycleResult(pin=PIN, ending="refused", reasons=reasons)
    text = brief(mission("b" * 100 * size), item(), material, previous, KNOBS)
    named = 60 * size  # each text that is not shown is still named
    assert len(text) < LIMIT + BRIEF_CHARS + 2 * LISTED * 20 + 8 * 700 + 2000 + named


@settings(max_examples=100, derandomize=True, deadline=None)
@given(st.text(max_size=60), st.integers(3, 50))
def test_a_cut_keeps_both_ends_and_says_how_much_is_gone(text: str, limit: int) -> None:
    short = cut(text, limit)
    if len(text) <= limit:
        assert short == text
    else:
        gone = re.search(r"\n\[(\d+) characters left out\]\n", short)
        assert gone is not None
        assert len(short) - len(gone[0]) + int(gone[1]) == len(text)
        assert text.startswith(short[: gone.start()])
        assert text.endswith(short[gone.end() :])


@pytest.mark.parametrize("values", [{}, {"moves": "m", "more": "x"}, {"move": "m"}])
def test_a_prompt_takes_exactly_its_placeholders(values: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=r"prompt lead_engineer: placeholders \['moves'\]"):
        fill("lead_engineer", **values)


@pytest.mark.parametrize("name", ["briefing", "lead_engineer", "moves_text", "moves_tools"])
def test_every_prompt_is_there(name: str) -> None:
    assert text_of(name).strip()


def test_the_next_attempt_sees_what_the_last_one_wrote() -> None:
    previous = CycleResult(pin=PIN, ending="refused", written={"a.py": "x = '```'\n"})
    assert "it was not kept:\n\na.py\n````\nx = '```'\n````\n" in told(previous=previous)
    blind = brief(mission(), item(), NOTHING, previous, Knobs(show_work=False))
    assert "ended: refused" in blind
    assert "a.py" not in blind
