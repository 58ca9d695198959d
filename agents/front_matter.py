"""Who thinks which limits hold? A human, in the YAML that opens a mission file: each key and value is checked here."""

from collections.abc import Callable, Sequence
from math import isfinite
from typing import Any

import yaml

from agents.domain.budget import Budget
from agents.mission_draft import nearest, refuse

Lines = dict[tuple[str, ...], int]


def load(lines: Sequence[str], path: str) -> tuple[dict[str, Any], int]:
    """Return the fields of the front matter and how many lines it takes; a file without it gives no fields, 0 lines."""
    if not lines or lines[0].rstrip() != "---":
        return {}, 0
    end = next((n for n, line in enumerate(lines[1:], 1) if line.rstrip() == "---"), None)
    if end is None:
        refuse(path, 1, "the front matter that opens here is never closed; end it with a line ---")
    data, where = _parse("\n".join(lines[1:end]), path)
    fields: dict[str, Any] = {}
    for key, value in data.items():
        if key not in FIELDS:
            refuse(path, where.get((str(key),), 2), f"there is no key {key!r} here; {nearest(str(key), tuple(FIELDS))}")
        fields[key] = FIELDS[key](value, path, key, where)
    return fields, end + 1


def dump(fields: dict[str, Any]) -> str:
    """Write the fields as front matter, or nothing when there are none."""
    if not fields:
        return ""
    text = yaml.safe_dump(fields, default_flow_style=None, sort_keys=False, allow_unicode=True, width=10_000)
    return f"---\n{text}---\n"


def _parse(text: str, path: str) -> tuple[dict[Any, Any], Lines]:
    try:
        where: Lines = {}
        _locate(yaml.compose(text, Loader=yaml.SafeLoader), (), where, path)
        data = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        reason = getattr(error, "problem", None) or str(error)
        refuse(path, (mark.line if mark else 0) + 2, f"the front matter is not YAML: {reason}")
    if data is not None and not isinstance(data, dict):
        refuse(path, 2, "the front matter must be lines of `key: value`")
    return data or {}, where


def _locate(node: yaml.Node | None, above: tuple[str, ...], where: Lines, path: str) -> None:
    if not isinstance(node, yaml.MappingNode):
        return
    for key, value in node.value:
        name, line = (*above, str(key.value)), key.start_mark.line + 2
        if name in where:
            refuse(path, line, f"{key.value!r} was already given on line {where[name]}")
        where[name] = line
        _locate(value, name, where, path)


def _text(value: Any, path: str, key: str, where: Lines) -> str:
    if not isinstance(value, str) or not value.strip():
        refuse(path, where[(key,)], f"{key} must be text, not {value!r}; put it in quotes")
    return value


def _texts(value: Any, path: str, key: str, where: Lines) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(one, str) and one.strip() for one in value):
        refuse(path, where[(key,)], f"{key} must be a list of texts, like [one, two]; put odd ones in quotes")
    return tuple(value)


def _attempts(value: Any, path: str, key: str, where: Lines) -> int:
    if type(value) is not int or value < 1:
        refuse(path, where[(key,)], f"{key} must be a whole number of at least 1, not {value!r}")
    return value


def _budget(value: Any, path: str, key: str, where: Lines) -> Budget:
    if not isinstance(value, dict):
        refuse(path, where[(key,)], f"budget must be like {{usd: 2.00, tokens: 2000000, hours: 12}}, not {value!r}")
    known = tuple(Budget.model_fields)
    for name, limit in value.items():
        line = where.get((key, str(name)), where[(key,)])  # YAML may read a name as another: yes is True
        if name not in known:
            refuse(path, line, f"there is no budget {name!r}; {nearest(str(name), known)}")
        if type(limit) not in (int, float) or not isfinite(limit) or limit <= 0:
            refuse(path, line, f"budget {name} must be a number above 0, not {limit!r}; leave it out for no limit")
        if name == "tokens" and type(limit) is not int:
            refuse(path, line, f"budget tokens must be a whole number, not {limit!r}")
    return Budget(**value)


FIELDS: dict[str, Callable[[Any, str, str, Lines], Any]] = {
    "target": _text,
    "checks": _texts,
    "protect": _texts,
    "budget": _budget,
    "attempts": _attempts,
}
