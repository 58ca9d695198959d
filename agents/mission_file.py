"""Who thinks what a mission is? A human wrote it as Markdown: text in, a draft out, and back; nothing is touched."""

import re
from collections.abc import Sequence
from textwrap import dedent
from typing import Literal

from agents.domain.checklist import Checklist, Item, Priority
from agents.front_matter import dump, load
from agents.mission_draft import MissionDraft, nearest, refuse, refuse_bad_needs, slug, unique
from agents.task_list import parse_tasks

__all__ = ["MissionDraft", "parse", "write"]

BOX = re.compile(r"(?:[-*+]|\d+[.)])\s+\[(?P<box>[^\]]?)\](?!\()\s*(?P<text>.*)")
BULLET = re.compile(r"\s+(?:[-*+]|\d+[.)])\s+(?P<text>.*)")
KEY = re.compile(r"(?P<key>[\w-]+):(?:\s+(?P<value>.*))?$")
NAMED = re.compile(r"(?P<id>[A-Za-z0-9][A-Za-z0-9._-]{0,63}):(?:\s+(?P<text>.*))?$")
FENCE = re.compile(r"\s*(?P<run>`{3,}|~{3,})(?P<rest>[^`]*)$")
LISTED = re.compile(r"\s*`([^`]*)`\s*(?=,|$)|([^,]+)")
KEYS = ("check", "files", "needs", "priority", "may_edit")


def parse(text: str, path: str) -> MissionDraft:
    """Read a mission file, or a task list when `path` ends in .json.

    One that is not right as a whole is Misconfigured, with `path`, line and reason.
    """
    if path.endswith(".json"):
        return parse_tasks(text, path)
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    fields, begin = load(lines, path)
    body = _Body(path)
    for number, line in enumerate(lines[begin:], begin + 1):
        body.take(number, line.rstrip())
    body.end()
    if not body.title:
        refuse(path, begin + 1, "there is no title; begin with a line `# What the mission is about`")
    items, left_out = _items(body.found, path)
    if not items:
        reason = "every item is ticked, so nothing is to do" if left_out else "there are no items"
        refuse(path, len(lines), f"{reason}; write one as `- [ ] id: what is true when it is done`")
    brief = "\n".join(body.brief).strip("\n")
    return MissionDraft(title=body.title, brief=brief, checklist=Checklist(items=items), left_out=left_out, **fields)


def write(draft: MissionDraft) -> str:
    """Write a draft as a text that `parse` reads back as the same draft, but for `left_out`; else raise ValueError."""
    fields = draft.model_dump(mode="json", include={"target", "checks", "protect", "budget", "attempts"})
    fields["budget"] = {name: limit for name, limit in fields["budget"].items() if limit is not None}
    front = dump({key: value for key, value in fields.items() if value not in (None, {})})
    brief = f"{draft.brief}\n\n" if draft.brief else ""
    text = f"{front}# {draft.title}\n\n{brief}" + "".join(_item_text(item) for item in draft.items)
    if parse(text, "MISSION.md") != draft.model_copy(update={"left_out": ()}):
        raise ValueError(f"mission {draft.title!r} holds text that the mission file has no form for")
    return text


class _Found:
    """An item as it is being read; `values` holds each key's values with their lines."""

    def __init__(self, line: int, ticked: bool, text: str) -> None:
        named = NAMED.match(text)
        self.line = line
        self.ticked = ticked
        self.id = named["id"] if named else ""
        self.first = ((named["text"] or "") if named else text).strip()
        self.more: list[str] = []
        self.values: dict[str, list[tuple[int, str]]] = {}
        self.last: str = ""

    @property
    def description(self) -> str:
        more = dedent("\n".join(self.more)).strip("\n")
        return f"{self.first}\n{more}".strip("\n") if more else self.first


class _Body:
    """Reads the lines after the front matter, one at a time; fenced code and comments are never taken for items."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.title = ""
        self.brief: list[str] = []
        self.found: list[_Found] = []
        self.item: _Found | None = None
        self.inside: tuple[Literal["fence", "comment"], str, int] | None = None

    def take(self, number: int, line: str) -> None:
        if self.inside is not None:
            self._go_on_inside(line)
        elif line.lstrip().startswith("<!--"):
            self.inside = None if "-->" in line else ("comment", "-->", number)
        elif fence := FENCE.match(line):
            self.inside = ("fence", fence["run"], number)
            self._text(line)
        elif box := BOX.match(line):
            self._begin_item(number, box["box"], box["text"])
        elif self.item and line[:1].isspace():
            self._nested(self.item, number, line)
        elif not self.title and line.startswith("# "):
            self.title = line[2:].strip()
        else:
            self._text(line)

    def end(self) -> None:
        if self.inside is not None:
            what, mark, line = self.inside
            refuse(self.path, line, f"the {what} that opens here is never closed by {mark}")

    def _go_on_inside(self, line: str) -> None:
        assert self.inside is not None
        what, mark, _ = self.inside
        if what == "comment":
            self.inside = None if mark in line else self.inside
            return
        self._text(line)
        end = line.strip()
        if end.startswith(mark) and not end.strip(mark[0]):
            self.inside = None

    def _text(self, line: str) -> None:
        if self.item and (not line or line[:1].isspace()):
            self.item.more.append(line)
            return
        self.item = None
        self.brief.append(line)

    def _begin_item(self, number: int, box: str, text: str) -> None:
        if box not in (" ", "x", "X"):
            refuse(self.path, number, f"[{box}] is not a box; write [ ], or [x] for an item that is done already")
        self.item = _Found(number, box != " ", text)
        self.found.append(self.item)
        if not self.item.first:
            refuse(self.path, number, "an item must say what is true when it is done: `- [ ] id: description`")

    def _nested(self, item: _Found, number: int, line: str) -> None:
        bullet = BULLET.match(line)
        if bullet is None:
            if item.last:
                at, value = item.values[item.last].pop()
                item.values[item.last].append((at, f"{value} {line.strip()}"))
            else:
                item.more.append(line)
            return
        if BOX.match(line.lstrip()):
            refuse(
                self.path, number, "an item inside an item; write it at the margin, with `- needs:` if it has to wait"
            )
        pair = KEY.match(bullet["text"])
        if pair is None or pair["key"] not in KEYS:
            word = pair["key"] if pair else bullet["text"]
            refuse(self.path, number, f"an item has no line {word!r}; {nearest(word, KEYS)}")
        if not (pair["value"] or "").strip():
            refuse(self.path, number, f"`{pair['key']}:` has no value; write one or leave the line out")
        if pair["key"] == "priority" and "priority" in item.values:
            refuse(self.path, number, f"the priority was already given on line {item.values['priority'][0][0]}")
        item.last = pair["key"]
        item.values.setdefault(item.last, []).append((number, pair["value"].strip()))


def _items(found: Sequence[_Found], path: str) -> tuple[tuple[Item, ...], tuple[str, ...]]:
    _name(found, path)
    done = {one.id for one in found if one.ticked}
    needs = {one.id: [(n, need) for n, text in one.values.get("needs", ()) for need in _listed(text)] for one in found}
    refuse_bad_needs(needs, {one.id: one.line for one in found}, path)
    items = tuple(_item(one, path, done) for one in found if not one.ticked)
    return items, tuple(f"line {one.line}: {one.id} is ticked, so it is left out" for one in found if one.ticked)


def _name(found: Sequence[_Found], path: str) -> None:
    taken: dict[str, int] = {}
    for one in found:
        if one.id in taken:
            refuse(path, one.line, f"the id {one.id!r} is already used on line {taken[one.id]}")
        if one.id:
            taken[one.id] = one.line
    for one in found:
        if not one.id:
            one.id = unique(slug(one.first) or "item", taken)
            taken[one.id] = one.line


def _item(one: _Found, path: str, done: set[str]) -> Item:
    line, priority = one.values.get("priority", [(one.line, "normal")])[0]
    if priority not in tuple(Priority):
        refuse(path, line, f"there is no priority {priority!r}; {nearest(priority, tuple(Priority))}")
    many = {key: [part for _, value in one.values.get(key, ()) for part in _listed(value)] for key in KEYS}
    return Item(
        id=one.id,
        description=one.description,
        needs=tuple(need for need in many["needs"] if need not in done),
        priority=Priority(priority),
        files=tuple(many["files"]),
        checks=tuple(_bare(value) for _, value in one.values.get("check", ())),
        may_edit=tuple(many["may_edit"]),
    )


def _bare(value: str) -> str:
    quoted = len(value) > 2 and value[0] == value[-1] == "`" and "`" not in value[1:-1]
    return value[1:-1] if quoted else value


def _listed(value: str) -> list[str]:
    return [part for quoted, plain in LISTED.findall(value) if (part := quoted or plain.strip())]


def _item_text(item: Item) -> str:
    first, *more = item.description.split("\n")
    text = [f"- [ ] {item.id}: {first}", *(f"  {line}".rstrip() for line in more)]
    text += [f"  - check: {check}" for check in item.checks]
    for key, values in (("files", item.files), ("needs", item.needs), ("may_edit", item.may_edit)):
        if values:
            text.append(f"  - {key}: " + ", ".join(f"`{one}`" if "," in one else one for one in values))
    if item.priority is not Priority.NORMAL:
        text.append(f"  - priority: {item.priority}")
    return "\n".join(text) + "\n"
