"""Let a test ask for the candidate's modules in another process; this is the `conftest.py` beside a held-out test.

An import of a module of the repository, in the held-out file, gives a stand-in. What is called on it is called over
there; plain values come back as themselves, all else as a stand-in that is equal to nothing but itself. When the other
side is gone, or says what is no answer, this process ends at once: no outcome of such a run counts.
"""

import builtins
import importlib
import json
import os
import random
import socket
import sys
import threading
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any, NoReturn

import pytest

crossing = importlib.import_module("crossing")
packed, unpacked, CannotCross = crossing.packed, crossing.unpacked, crossing.CannotCross
HERE = Path(__file__).parent
GIVEN = json.loads((HERE / "given.json").read_text(encoding="utf-8"))
TEST = "test_held_out"
OWN = frozenset(GIVEN["modules"]) - {TEST, "conftest", "crossing"}
JUDGES = frozenset((*sys.stdlib_module_names, "pytest", "_pytest"))
NEEDED = frozenset(("pluggy", "iniconfig", "packaging", "pygments"))
ASKED = frozenset(("__name__", "__qualname__", "__version__", "__all__"))
BUILTINS = {id(value): name for name, value in vars(builtins).items() if callable(value)}
plain_import = builtins.__import__


def lost(why: str) -> NoReturn:
    """Leave word for who started this, and end: no test can catch that."""
    (HERE / "lost").write_text(why, encoding="utf-8")
    os._exit(1)


class Channel:
    """One question at a time to the candidate's process, each with its number."""

    def __init__(self, descriptor: int) -> None:
        os.set_inheritable(descriptor, False)
        self._end = socket.socket(fileno=descriptor)
        self._lines = self._end.makefile("rb")
        self._next = 0
        self._turn = threading.RLock()
        self._stand_ins: dict[int, Any] = {}
        self._numbers: dict[int, int] = {}

    def ask(self, what: str, given: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """Return the answer, or raise what was raised over there; a value that cannot cross fails the test."""
        try:
            words = [packed(one, self._sent) for one in given]
            by_name = {name: packed(one, self._sent) for name, one in named.items()}
        except CannotCross as error:
            pytest.fail(str(error))
        with self._turn:
            answer = self._answer({"what": what, "given": words, "named": by_name})
            try:
                if "value" in answer:
                    return unpacked(answer["value"], self._received)
                raised = None if "refused" in answer else self._error(*answer["raised"])
            except Exception:  # noqa: BLE001  what cannot be read is no answer, whatever makes it so
                lost("garbage")
        if raised is None:
            pytest.fail(str(answer["refused"]))
        raise raised from None

    def _answer(self, question: dict[str, Any]) -> Any:
        number, self._next = self._next, self._next + 1
        try:
            self._end.sendall(json.dumps({"n": number, **question}).encode("ascii") + b"\n")
            line = self._lines.readline()
        except OSError:
            line = b""
        if not line.endswith(b"\n"):
            lost("gone")
        try:
            answer = json.loads(line)
            good = answer.pop("n") == number and list(answer) in (["value"], ["raised"], ["refused"])
        except Exception:  # noqa: BLE001  also JSON that is too deep or too long
            good = False
        return answer if good else lost("garbage")

    def _sent(self, value: Any) -> Any:
        """Return what crosses in place of a value that is not plain: a stand-in, or a builtin by its name."""
        if id(value) in self._numbers:
            return ["object", self._numbers[id(value)]]
        if id(value) in BUILTINS:
            return ["builtin", BUILTINS[id(value)]]
        raise CannotCross(f"a value of the type {type(value).__name__} cannot cross to the candidate's process")

    def _received(self, data: list[Any]) -> Any:
        kind, content = data
        if kind == "builtin":
            return _builtin_error(content)
        if kind not in ("object", "error"):
            raise ValueError(kind)
        number, name = content[0], str(content[1])
        if number not in self._stand_ins:
            if kind == "object":
                made: Any = StandIn(name)
            else:
                bases = tuple(self._received(one) for one in content[2]) or (Exception,)
                made = type(name, bases, {"__str__": _text, "__getattr__": _attribute, "__module__": "candidate"})
            self._stand_ins[number] = made
            self._numbers[id(made)] = number
        return self._stand_ins[number]

    def _error(self, kind: Any, arguments: list[Any], text: str, thing: Any) -> BaseException:
        shown = self._received(kind)
        error = _made(shown, [unpacked(one, self._received) for one in arguments], str(text))
        vars(error).update(_text_of_candidate=str(text), _thing_of_candidate=self._received(thing))
        return error


def _made(kind: type[BaseException], given: list[Any], text: str) -> BaseException:
    """Make the exception, also when it was made in another way over there, or holds others that stay there."""
    if issubclass(kind, BaseExceptionGroup):
        return kind(text, [Exception(text)])
    try:
        return kind(*given)
    except (TypeError, ValueError):
        return kind.__new__(kind, *given)


def _builtin_error(name: str) -> Any:
    kind = getattr(builtins, name, Exception)  # the other Python may be younger
    if not (isinstance(kind, type) and issubclass(kind, BaseException)):
        raise ValueError(name)
    return kind


def _text(error: BaseException) -> str:
    return str(vars(error).get("_text_of_candidate", ""))


def _attribute(error: BaseException, name: str) -> Any:
    thing = vars(error).get("_thing_of_candidate")
    if thing is None or name.startswith("_"):
        raise AttributeError(name)
    return getattr(thing, name)


def ask(what: str, *given: Any) -> Any:
    """Ask the candidate's process."""
    return CHANNEL.ask(what, given, {})


class StandIn:
    """Something of the candidate's, which stays there: equal to nothing but itself, and neither less nor more."""

    def __init__(self, kind: str) -> None:
        object.__setattr__(self, "_kind_of_candidate", kind)

    def __repr__(self) -> str:
        return f"<{self._kind_of_candidate} of the candidate>"

    def __getattr__(self, name: str) -> Any:
        if name.startswith(("__", "_pytest")) and name not in ASKED:
            raise AttributeError(name)
        return ask("get", self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        ask("set", self, name, value)

    def __call__(self, /, *given: Any, **named: Any) -> Any:
        """Call it over there."""
        return CHANNEL.ask("call", (self, *given), named)

    def __getitem__(self, key: Any) -> Any:
        return ask("item", self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        ask("put", self, key, value)

    def __delitem__(self, key: Any) -> None:
        ask("drop", self, key)

    def __iter__(self) -> Iterator[Any]:
        return ask("iter", self)  # type: ignore[no-any-return]

    def __next__(self) -> Any:
        return ask("next", self)

    def __len__(self) -> int:
        return ask("len", self)  # type: ignore[no-any-return]

    def __bool__(self) -> bool:
        return ask("bool", self)  # type: ignore[no-any-return]

    def __str__(self) -> str:
        return ask("str", self)  # type: ignore[no-any-return]

    def __int__(self) -> int:
        return ask("int", self)  # type: ignore[no-any-return]

    def __float__(self) -> float:
        return ask("float", self)  # type: ignore[no-any-return]

    def __instancecheck__(self, thing: Any) -> bool:
        return ask("isinstance", thing, self)  # type: ignore[no-any-return]

    def __enter__(self) -> Any:
        return ask("call", ask("get", self, "__enter__"))

    def __exit__(self, *_: object) -> None:
        ask("call", ask("get", self, "__exit__"), None, None, None)

    def __dir__(self) -> list[str]:
        return ask("dir", self)  # type: ignore[no-any-return]


def imported(name: str, scope: Any = None, near: Any = None, names: Any = (), level: int = 0) -> Any:
    """Import, and for the held-out file nothing but the standard library, pytest, and stand-ins of the candidate's."""
    if level or not scope or scope.get("__name__") != TEST:
        return plain_import(name, scope, near, names, level)
    top = name.partition(".")[0]
    if top in OWN and top not in JUDGES:
        return ask("import", name, list(names or ()))
    if top in OWN:
        raise ImportError(f"{top} is a module of the repository and one of the judge's: which one is meant?")
    if top not in JUDGES:
        raise ModuleNotFoundError(
            f"a held-out test imports the standard library, pytest and the repository, not {name}"
        )
    return plain_import(name, scope, near, names, level)


class Refusing:
    """Keeps a module of the repository from being looked for on this side, where one of LRA's may have its name."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Refuse by error what only an import statement of the held-out file can reach."""
        if name.partition(".")[0] in OWN - JUDGES - NEEDED:
            raise ModuleNotFoundError(f"{name} is the candidate's: a held-out test reaches it by an import statement")
        return None


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Have each test begin with the same luck, which nobody knew while the candidate was written."""
    random.seed(GIVEN["seed"])


CHANNEL = Channel(GIVEN["descriptor"])
random.seed(GIVEN["seed"])
vars(builtins)["__import__"] = imported
sys.meta_path.insert(0, Refusing)
