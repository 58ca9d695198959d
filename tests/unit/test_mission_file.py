"""What does a mission file say, and where exactly is it wrong when it does not say it well?"""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.domain.budget import Budget
from agents.domain.checklist import Checklist, Item, Priority
from agents.domain.errors import Misconfigured
from agents.mission_draft import slug
from agents.mission_file import MissionDraft, parse, write

EXAMPLE = """\
---
target: main
checks: [tests, lint, types, build]        # default: what the repository configures
protect: ["tests/**", "pyproject.toml"]    # default: tests and every tool configuration
budget: {usd: 2.00, tokens: 2000000, hours: 12}
---
# Teach the parser about durations

Why it matters, constraints, what must not change.

- [ ] clock: there is a clock
- [ ] duration: `parse_duration("1h30m")` gives seconds; anything else raises ValueError
  - check: pytest tests/test_duration.py
  - files: src/clock/duration.py
  - needs: clock
  - priority: high
- [ ] docs: describe durations in README.md
  - check: python tools/check_docs.py
"""


def refusal(text: str, path: str = "M.md") -> str:
    with pytest.raises(Misconfigured) as refused:
        parse(text, path)
    return str(refused.value)


def only(text: str) -> Item:
    (item,) = parse(f"# T\n\n{text}", "M.md").items
    return item


def test_the_example_of_the_documentation_is_read_whole() -> None:
    draft = parse(EXAMPLE, "MISSION.md")
    assert (draft.id, draft.target, draft.attempts) == ("teach-the-parser-about-durations", "main", None)
    assert draft.checks == ("tests", "lint", "types", "build")
    assert draft.protect == ("tests/**", "pyproject.toml")
    assert draft.budget == Budget(usd=2.0, tokens=2_000_000, hours=12)
    assert draft.brief == "Why it matters, constraints, what must not change."
    assert draft.items[1] == Item(
        id="duration",
        description='`parse_duration("1h30m")` gives seconds; anything else raises ValueError',
        needs=("clock",),
        priority=Priority.HIGH,
        files=("src/clock/duration.py",),
        checks=("pytest tests/test_duration.py",),
    )


def test_what_was_read_is_written_so_that_it_reads_the_same() -> None:
    draft = parse(EXAMPLE, "MISSION.md")
    assert parse(write(draft), "MISSION.md") == draft


WORDS = st.text(st.characters(codec="ascii", categories=("L", "N")) | st.sampled_from(" ,:'#[]-`é"), min_size=1).filter(
    lambda text: text.strip(" ") == text
)


@given(
    title=WORDS,
    brief=WORDS,
    description=WORDS,
    checks=st.lists(WORDS, max_size=2),
    files=st.lists(WORDS, max_size=3),
    usd=st.none() | st.floats(0.01, 1000),
    target=st.none() | WORDS,
)
def test_a_draft_is_written_faithfully_or_not_at_all(title, brief, description, checks, files, usd, target) -> None:
    item = Item(id="a", description=description, checks=tuple(checks), files=tuple(files))
    draft = MissionDraft(
        title=title, brief=brief, target=target, budget=Budget(usd=usd), checklist=Checklist(items=(item,))
    )
    try:
        text = write(draft)
    except ValueError:
        return
    except Misconfigured:
        pytest.fail("a draft that cannot be written is a ValueError")
    assert parse(text, "M.md") == draft


def test_front_matter_may_be_left_out() -> None:
    draft = parse("# T\n- [ ] a: x\n", "M.md")
    assert (draft.target, draft.checks, draft.protect, draft.budget) == (None, None, None, Budget())


def test_windows_line_ends_and_a_byte_order_mark_do_not_matter() -> None:
    assert parse("\ufeff" + EXAMPLE.replace("\n", "\r\n"), "M.md") == parse(EXAMPLE, "M.md")


def test_an_item_without_an_id_is_named_by_its_description() -> None:
    draft = parse("# T\n- [ ] Fix the parser\n- [ ] Fix the parser!\n- [ ] 修复\n- [ ] see http://a.b\n", "M.md")
    assert [item.id for item in draft.items] == ["fix-the-parser", "fix-the-parser-2", "item", "see-http-a-b"]


def test_a_derived_id_never_takes_one_that_is_written() -> None:
    draft = parse("# T\n- [ ] Clock\n- [ ] clock: y\n", "M.md")
    assert [item.id for item in draft.items] == ["clock-2", "clock"]


def test_checks_repeat_and_the_other_lists_are_separated_by_commas() -> None:
    item = only(
        "- [ ] a: x\n  - check: pytest a, b\n  - check: `ruff check .`\n  - files: a.py, `b,c.py`\n  - files: d\n"
    )
    assert item.checks == ("pytest a, b", "ruff check .")
    assert item.files == ("a.py", "b,c.py", "d")


def test_a_description_goes_on_over_indented_lines_and_code() -> None:
    item = only("- [ ] a: first\n  second\n\n  ```\n  - [ ] no item\n  ```\n  - check: pytest\n    tests\n")
    assert item.description == "first\nsecond\n\n```\n- [ ] no item\n```"
    assert item.checks == ("pytest tests",)


def test_code_and_comments_hold_no_items() -> None:
    text = "# T\n~~~\n- [ ] a: x\n~~~\n<!--\n- [ ] b: y\n-->\n<!-- - [ ] c: z -->\n- [ ] d: w\n"
    draft = parse(text, "M.md")
    assert [item.id for item in draft.items] == ["d"]
    assert draft.brief == "~~~\n- [ ] a: x\n~~~"


def test_text_after_the_list_belongs_to_the_brief() -> None:
    assert (
        parse("# T\nbefore\n- [ ] a: x\n\n## Notes\n- [a link](b)\n", "M.md").brief == "before\n## Notes\n- [a link](b)"
    )


def test_a_ticked_item_is_left_out_and_nobody_waits_for_it() -> None:
    draft = parse("# T\n- [x] a: x\n- [ ] b: y\n  - needs: a\n", "M.md")
    assert [(item.id, item.needs) for item in draft.items] == [("b", ())]
    assert draft.left_out == ("line 2: a is ticked, so it is left out",)


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("", 1, "no title"),
        ("- [ ] a: x\n", 1, "no title"),
        ("# T\n", 2, "no items"),
        ("# T\n- [x] a: x\n", 3, "every item is ticked"),
        ("# T\n- [ ] a: x\n- [ ] a: y\n", 3, "already used on line 2"),
        ("# T\n- [ ] a: x\n  - needs: b\n", 3, "'b', which is no item"),
        ("# T\n- [ ] clock: x\n- [ ] b: y\n  - needs: clok\n", 4, "did you mean 'clock'?"),
        ("# T\n- [ ] a: x\n  - needs: b\n- [ ] b: y\n  - needs: a\n", 2, "a -> b -> a"),
        ("# T\n- [ ] a: x\n  - needs: a\n", 2, "a -> a"),
        ("# T\n- [ ] a: x\n  - chek: pytest\n", 3, "did you mean 'check'?"),
        ("# T\n- [ ] a: x\n  - mind the gap\n", 3, "it must be one of check, files"),
        ("# T\n- [ ] a: x\n  - check:\n", 3, "has no value"),
        ("# T\n- [ ] a: x\n  - [ ] b: y\n", 3, "an item inside an item"),
        ("# T\n- [ ] a: x\n  - priority: hihg\n", 3, "did you mean 'high'?"),
        ("# T\n- [ ] a: x\n  - priority: high\n  - priority: low\n", 4, "already given on line 3"),
        ("# T\n- [-] a: x\n", 2, "is not a box"),
        ("# T\n- [] a: x\n", 2, "is not a box"),
        ("# T\n- [ ] a:\n", 2, "must say what is true"),
        ("# T\n\n```\n- [ ] a: x\n", 3, "never closed by ```"),
        ("# T\n<!-- \n- [ ] a: x\n", 2, "never closed by -->"),
        ("---\ntarget: main\n# T\n- [ ] a: x\n", 1, "never closed"),
        ("---\ntarget: main\nbudgt: 1\n---\n", 3, "did you mean 'budget'?"),
        ("---\ntarget: a\ntarget: b\n---\n", 3, "already given on line 2"),
        ("---\ntarget: a\nchecks: [a\n---\n", 3, "not YAML"),
        ("---\n\nchecks: tests\n---\n", 3, "must be a list"),
        ("---\nchecks: [tests, 3]\n---\n", 2, "must be a list of texts"),
        ("---\ntarget: on\n---\n", 2, "put it in quotes"),
        ("---\n- a\n---\n", 2, "lines of `key: value`"),
        ("---\nattempts: 0\n---\n", 2, "at least 1"),
        ("---\nattempts: true\n---\n", 2, "at least 1"),
        ("---\nbudget: 2\n---\n", 2, "must be like"),
        ("---\nbudget:\n  usd: 1\n  hour: 2\n---\n", 4, "did you mean 'hours'?"),
        ("---\nbudget: {usd: -1}\n---\n", 2, "above 0"),
        ("---\nbudget: {usd: .nan}\n---\n", 2, "above 0"),
        ("---\nbudget: {hours: two}\n---\n", 2, "above 0"),
        ("---\nbudget: {tokens: 1.5}\n---\n", 2, "whole number"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(text: str, line: int, reason: str) -> None:
    said = refusal(text)
    assert said.startswith(f"M.md:{line}: ")
    assert reason in said


def test_a_draft_with_a_title_that_is_no_line_is_not_written() -> None:
    draft = parse("# T\n- [ ] a: x\n", "M.md").model_copy(update={"title": "one\n- [ ] b: two"})
    with pytest.raises(ValueError, match="no form for"):
        write(draft)


def test_an_id_of_a_mission_is_short_ascii_and_never_empty() -> None:
    assert slug("Ärger mit Straße, 100 %!") == "arger-mit-strae-100"
    assert len(slug("word " * 40)) <= 40
    named = [parse(f"# {title}\n- [ ] a: x\n", "M.md").id for title in ("任务", "作业")]
    assert all(name.startswith("mission-") for name in named)
    assert len(set(named)) == 2


def test_a_task_list_becomes_a_mission() -> None:
    tasks = [
        {"id": 1, "title": "Old", "status": "done"},
        {"id": 2, "title": "New", "description": "d", "notes": "n", "priority": "high", "depends_on": [1]},
        {"title": "Last", "depends_on": [2]},
    ]
    for data in (tasks, {"tasks": tasks}):
        draft = parse(json.dumps(data), "dir/tasks.json")
        assert draft.title == "Tasks of tasks"
        assert [(item.id, item.description, item.needs) for item in draft.items] == [
            ("2", "New\nd\nn", ()),
            ("last", "Last", ("2",)),
        ]
        assert draft.items[0].priority is Priority.HIGH
        assert draft.left_out == ("tasks[0]: 1 is done, so it is left out",)


@pytest.mark.parametrize(
    ("data", "place", "reason"),
    [
        ("[\n{]", "2", "not JSON"),
        ("3", "1", "a list of objects"),
        ("[]", "1", "no open task"),
        ('[{"id": 1}]', "tasks[0]", "title or a description"),
        ('[{"title": "a", "statu": "x"}]', "tasks[0]", "did you mean 'status'?"),
        ('[{"title": "a", "status": "complted"}]', "tasks[0]", "did you mean 'completed'?"),
        ('[{"title": "a", "priority": "p1"}]', "tasks[0]", "no priority 'p1'"),
        ('[{"title": "a", "depends_on": "b"}]', "tasks[0]", "list of ids"),
        ('[{"title": "a", "depends_on": ["b"]}]', "tasks[0]", "no item"),
        ('[{"title": "a", "notes": 3}]', "tasks[0]", "must be text"),
        ('[{"id": 1, "title": "a"}, {"id": "1", "title": "b"}]', "tasks[1]", "already used by tasks[0]"),
        ('[{"id": 1, "title": "a", "depends_on": [1]}]', "tasks[0]", "1 -> 1"),
    ],
)
def test_a_task_list_that_does_not_fit_is_refused_with_the_task(data: str, place: str, reason: str) -> None:
    said = refusal(data, "t.json")
    assert said.startswith(f"t.json:{place}: ")
    assert reason in said
