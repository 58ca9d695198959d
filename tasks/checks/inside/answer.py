"""Answer for the candidate: what its modules hold, and what its functions return; asked by tests that it cannot see.

`answer.py FD PATH...`. Each line on FD is a question in JSON, and each gets one line with the same number. Runs in the
repository's own Python, which may be as old as 3.8, and ends when the other side does.
"""

from __future__ import annotations

import builtins
import importlib
import json
import operator
import os
import socket
import sys
from typing import Any

EXCEPTIONS = {
    name for name, value in vars(builtins).items() if isinstance(value, type) and issubclass(value, BaseException)
}


def import_module(name: str, names: list[str]) -> Any:
    """Import as the statement does: the outermost package, or with `names` the module that has them."""
    does_it = vars(builtins)["__import__"]  # a module of the candidate's, in whose process this runs
    return does_it(name, {}, {}, names, 0)


def call(function: Any, /, *given: Any, **named: Any) -> Any:
    """Call what the other side holds."""
    return function(*given, **named)


def put(owner: Any, key: Any, value: Any) -> None:
    """Set an item."""
    owner[key] = value


WHAT = {
    "import": import_module,
    "call": call,
    "get": getattr,
    "set": setattr,
    "item": operator.getitem,
    "put": put,
    "drop": operator.delitem,
    "isinstance": isinstance,
    **{kind.__name__: kind for kind in (bool, str, int, float, len, iter, next, dir)},
}


class Held:
    """What the other side holds by number: the same thing has the same number for as long as this process lives."""

    def __init__(self, packed: Any, unpacked: Any, refusal: type[Exception]) -> None:
        self.refusal = refusal
        self._things: list[Any] = []
        self._numbers: dict[int, int] = {}
        self._packed, self._unpacked = packed, unpacked

    def told(self, value: Any) -> Any:
        """Return what crosses in place of a value."""
        return self._packed(value, self._named)

    def meant(self, data: Any) -> Any:
        """Return the value that the other side means."""
        return self._unpacked(data, self._known)

    def _known(self, data: Any) -> Any:
        kind, content = data
        return getattr(builtins, content) if kind == "builtin" else self._things[content]

    def _named(self, value: Any) -> Any:
        if isinstance(value, type) and issubclass(value, BaseException):
            return self._error(value)
        return ["object", [self._number(value), type.__dict__["__name__"].__get__(type(value))]]

    def _error(self, kind: Any) -> Any:
        name = type.__dict__["__name__"].__get__(kind)
        if name in EXCEPTIONS and getattr(builtins, name) is kind:
            return ["builtin", name]
        bases = [self._error(one) for one in kind.__bases__ if issubclass(one, BaseException)]
        return ["error", [self._number(kind), name, bases]]

    def _number(self, value: Any) -> int:
        if id(value) not in self._numbers:
            self._numbers[id(value)] = len(self._things)
            self._things.append(value)
        return self._numbers[id(value)]


def answered(held: Held, question: dict[str, Any]) -> dict[str, Any]:
    """Do what is asked; what it raises is an answer as well."""
    try:
        given = [held.meant(one) for one in question["given"]]
        named = {name: held.meant(one) for name, one in question["named"].items()}
        return {"value": held.told(WHAT[question["what"]](*given, **named))}
    except held.refusal as error:
        return {"refused": str(error)}
    except BaseException as error:  # noqa: BLE001  whatever the candidate raises, the test that asked has to see it
        return {"raised": [held.told(type(error)), _arguments(held, error), _text(error), held.told(error)]}


def _arguments(held: Held, error: BaseException) -> Any:
    try:
        return [held.told(one) for one in BaseException.args.__get__(error)]  # type: ignore[attr-defined]
    except Exception:  # noqa: BLE001  arguments without an end; the text must do
        return []


def _text(error: BaseException) -> str:
    try:
        return str.__str__(str(error))
    except Exception:  # noqa: BLE001  the candidate's own __str__ may do anything
        return ""


def serve(end: socket.socket, held: Held) -> None:
    """Answer until the other side is gone; a child that the candidate forked says nothing."""
    owner = os.getpid()
    for line in end.makefile("r", encoding="ascii"):
        question = json.loads(line)
        answer = json.dumps({"n": question["n"], **answered(held, question)})
        if os.getpid() != owner:
            os._exit(1)
        end.sendall(answer.encode("ascii") + b"\n")


def main() -> None:
    """Take the channel, let the candidate's modules be found, and answer."""
    crossing = importlib.import_module("crossing")
    here = os.path.realpath(os.path.dirname(__file__))  # noqa: PTH120  as cheap as it can be
    sys.path[:] = [*sys.argv[2:], *(entry for entry in sys.path if os.path.realpath(entry) != here)]
    del sys.modules["crossing"]  # the candidate may have a module of this name
    descriptor = int(sys.argv[1])
    os.set_inheritable(descriptor, False)
    serve(socket.socket(fileno=descriptor), Held(crossing.packed, crossing.unpacked, crossing.CannotCross))
    os._exit(0)  # no thread and no exit function of the candidate holds up the end


if __name__ == "__main__":
    main()
