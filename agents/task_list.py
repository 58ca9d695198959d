"""Who thinks what is to be done? Another tool wrote a list of tasks as JSON: it becomes a draft, or is refused."""

import json
from pathlib import PurePath
from typing import Any

from agents.domain.checklist import Checklist, Item, Priority
from agents.mission_draft import MissionDraft, nearest, refuse, refuse_bad_needs, slug, unique

FIELDS = ("id", "title", "description", "status", "priority", "depends_on", "notes")
OPEN = ("pending", "todo", "open", "in_progress", "in-progress", "blocked")
CLOSED = ("done", "completed", "closed", "cancelled", "dropped")
PRIORITIES = {"high": Priority.HIGH, "medium": Priority.NORMAL, "normal": Priority.NORMAL, "low": Priority.LOW}


def parse_tasks(text: str, path: str) -> MissionDraft:
    """Read a list of tasks, or an object with `tasks` and perhaps `title`; what does not fit is Misconfigured.

    A closed task is left out, and what needs it does not wait. Title, description and notes become the description.
    """
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        refuse(path, error.lineno, f"not JSON: {error.msg}")
    tasks = data.get("tasks") if isinstance(data, dict) else data
    if not isinstance(tasks, list) or not all(isinstance(task, dict) for task in tasks):
        refuse(path, 1, 'a task list is a list of objects, or {"tasks": [...]}')
    title = data.get("title") if isinstance(data, dict) else None
    named = _named(tasks, path)
    done = {name for name, (place, task) in named.items() if _is_closed(task, place, path)}
    needs = {name: [(place, need) for need in _needs(task, place, path)] for name, (place, task) in named.items()}
    refuse_bad_needs(needs, {name: place for name, (place, _) in named.items()}, path)
    items = tuple(
        _item(name, task, [need for _, need in needs[name] if need not in done], place, path)
        for name, (place, task) in named.items()
        if name not in done
    )
    if not items:
        refuse(path, 1, "there is no open task")
    return MissionDraft(
        title=title if isinstance(title, str) and title.strip() else f"Tasks of {PurePath(path).stem}",
        checklist=Checklist(items=items),
        left_out=tuple(f"{named[name][0]}: {name} is {named[name][1]['status']}, so it is left out" for name in done),
    )


def _named(tasks: list[dict[str, Any]], path: str) -> dict[str, tuple[str, dict[str, Any]]]:
    places = [f"tasks[{number}]" for number in range(len(tasks))]
    for place, task in zip(places, tasks, strict=True):
        _refuse_odd(task, place, path)
    written = [_name(task.get("id"), place, path) for place, task in zip(places, tasks, strict=True)]
    named: dict[str, tuple[str, dict[str, Any]]] = {}
    for place, task, given in zip(places, tasks, written, strict=True):
        name = given or unique(slug(_description(task)) or "item", {*written, *named})
        if name in named:
            refuse(path, place, f"the id {name!r} is already used by {named[name][0]}")
        named[name] = place, task
    return named


def _refuse_odd(task: dict[str, Any], place: str, path: str) -> None:
    for key, value in task.items():
        if key not in FIELDS:
            refuse(path, place, f"there is no field {key!r}; {nearest(key, FIELDS)}")
        if key not in ("id", "depends_on") and not isinstance(value, str | None):
            refuse(path, place, f"{key} must be text, not {value!r}")
    if not (_text(task, "title") or _text(task, "description")):
        refuse(path, place, "a task needs a title or a description")


def _name(value: Any, place: str, path: str) -> str:
    if value is None or value == "":
        return ""
    if type(value) not in (int, str):
        refuse(path, place, f"an id must be text or a whole number, not {value!r}")
    return slug(str(value), 64) if not str(value).replace("-", "").replace("_", "").isalnum() else str(value)


def _text(task: dict[str, Any], key: str) -> str:
    return (task.get(key) or "").strip()


def _is_closed(task: dict[str, Any], place: str, path: str) -> bool:
    status = _text(task, "status").lower()
    if status and status not in OPEN + CLOSED:
        refuse(path, place, f"there is no status {status!r}; {nearest(status, OPEN + CLOSED)}")
    return status in CLOSED


def _needs(task: dict[str, Any], place: str, path: str) -> list[str]:
    value = task.get("depends_on") or []
    if not isinstance(value, list):
        refuse(path, place, f"depends_on must be a list of ids, not {value!r}")
    return [_name(need, place, path) for need in value]


def _description(task: dict[str, Any]) -> str:
    return "\n".join(part for key in ("title", "description", "notes") if (part := _text(task, key)))


def _item(name: str, task: dict[str, Any], needs: list[str], place: str, path: str) -> Item:
    priority = _text(task, "priority").lower() or "normal"
    if priority not in PRIORITIES:
        refuse(path, place, f"there is no priority {priority!r}; {nearest(priority, tuple(PRIORITIES))}")
    return Item(id=name, description=_description(task), needs=tuple(needs), priority=PRIORITIES[priority])
