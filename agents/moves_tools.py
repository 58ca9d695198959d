"""Who thinks? Moves as API tool calls, for models that have them."""

import json
from typing import Any

from pydantic import BaseModel, ValidationError

from agents.domain.errors import AskAgain
from agents.domain.events import ToolCall
from agents.domain.moves import MOVE, Check, Delete, Edit, GiveUp, List, Move, Read, Run, Search, Submit, Write

KINDS: tuple[type[BaseModel], ...] = (Read, List, Search, Edit, Write, Delete, Run, Check, Submit, GiveUp)


def schemas() -> list[dict[str, Any]]:
    """Return every move as a function in the form of the OpenAI tools parameter; its docstring is the description."""
    return [_schema(kind) for kind in KINDS]


def parse(calls: tuple[ToolCall, ...]) -> tuple[Move, ...]:
    """Return the moves that were called, in order; a call that is no move is refused with AskAgain."""
    return tuple(_move(call) for call in calls)


def _move(call: ToolCall) -> Move:
    try:
        arguments = json.loads(call.arguments or "{}")
        return MOVE.validate_python({**arguments, "kind": call.name})
    except (ValueError, TypeError, RecursionError) as error:
        what = error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error)
        raise AskAgain(f"the call {call.name}({call.arguments[:200]}) is not a move: {what}") from None


def _schema(kind: type[BaseModel]) -> dict[str, Any]:
    parameters = kind.model_json_schema()
    name = parameters["properties"].pop("kind")["const"]
    parameters.pop("title", None)
    return {
        "type": "function",
        "function": {"name": name, "description": parameters.pop("description", ""), "parameters": parameters},
    }
