"""Plant tests whose outcome is known beforehand among those of the repository, and hide which test is under way.

A pytest plugin that is imported by a name made up for one run, also by the workers of xdist. PYTEST_DONT_REWRITE
"""

import ast
import hashlib
import inspect
import random
import types
import unittest
from collections.abc import Iterator
from typing import Any

import _pytest.runner
import pytest

FEWEST = 4
ONE_IN = 25
TOGETHER = 3
# Beside these a failure would be expected, or would change what comes after it.
KEPT_AWAY = {"skip", "skipif", "xfail", "incremental", "dependency", "order", "run", "first", "last", "flaky"}
IN_ORDER = {"order", "run", "first", "last"}
AWAITED = {"asyncio", "anyio", "trio"}
EMPTY = "got empty parameter set"
WORKER_KEY = "run"
MASKED = "_update_current_test_var"

RUN: dict[str, Any] = {"truths": "", "key": "", "seed": None}
TOLD: dict[str, Any] = {}
FROM_WORKERS: list[dict[str, Any]] = []


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_cmdline_main(config: Any) -> Iterator[None]:
    """Let no cache that lies in the repository choose the tests, and no planted failure end the run."""
    config.option.cacheclear = True
    for name in ("stepwise", "stepwise_skip"):
        if hasattr(config.option, name):
            setattr(config.option, name, False)
    yield


def pytest_configure(config: Any) -> None:
    """Learn in a worker what the run is about, and mask the name of the running test."""
    RUN.update(getattr(config, "workerinput", {}).get(WORKER_KEY, {}))
    _mask(str(RUN["key"]))


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker what the run is about: all workers must plant the same."""
    node.workerinput[WORKER_KEY] = dict(RUN)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take what a worker planted; one that crashed cannot say."""
    if told := getattr(node, "workeroutput", {}).get(WORKER_KEY):
        FROM_WORKERS.append(told)


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_collection_finish(session: Any) -> Iterator[None]:
    """Shuffle and plant when every other plugin has had its say about the tests."""
    chance = random.Random(str(RUN["key"]))  # noqa: S311  the workers must draw the same; the key itself is secret
    if RUN["seed"] is not None:
        session.items[:] = shuffled(session.items, random.Random(RUN["seed"]))  # noqa: S311  an order, no secret
    empty = [item.nodeid for item in session.items if _is_empty(item)]
    TOLD.update(empty=empty, canaries=_plant(session.items, str(RUN["truths"]), chance))
    RUN.update(truths="", key="")
    yield


def pytest_sessionfinish(session: Any) -> None:
    """Tell the controller of xdist what this worker planted."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput[WORKER_KEY] = TOLD


def shuffled(items: list[Any], chance: random.Random) -> list[Any]:
    """Return the tests in another order: modules, in them classes, in them functions; parameters stay in theirs."""
    if any(mark.name in IN_ORDER for item in items for mark in item.iter_markers()):
        return list(items)
    return [item for module in _mixed(items, _module, chance) for item in _inside(module, chance)]


def _inside(module: list[Any], chance: random.Random) -> Iterator[Any]:
    scopes = {_scope(scope) for item in module for scope in _scopes(item)}
    marks = {mark.name for item in module for mark in item.iter_markers()}
    if scopes - {"function"} or marks & KEPT_AWAY - {"skip", "skipif", "xfail"}:
        yield from module
        return
    for family in _mixed(module, lambda item: item.parent, chance):
        for function in _mixed(family, lambda item: getattr(item, "originalname", item.name), chance):
            yield from function


def _mixed(items: list[Any], key: Any, chance: random.Random) -> list[list[Any]]:
    groups: dict[Any, list[Any]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    mixed = list(groups.values())
    chance.shuffle(mixed)
    return mixed


def _module(item: Any) -> Any:
    return item.getparent(pytest.Module) or item.parent


def _scopes(item: Any) -> list[Any]:
    return list(getattr(getattr(item, "callspec", None), "_arg2scope", {}).values())


def _scope(scope: Any) -> str:
    return str(getattr(scope, "value", scope))


def _is_empty(item: Any) -> bool:
    reasons = [str(mark.kwargs.get("reason", "")) for mark in item.iter_markers() if mark.name in ("skip", "xfail")]
    return any(reason.startswith(EMPTY) for reason in reasons)


def _plant(items: list[Any], truths: str, chance: random.Random) -> list[list[str]]:
    """Put one test before another for each truth; return their ids. Never at the end: what breaks there is no test's.

    A planted test is a sibling of the one it precedes: same parent, same fixtures, made by the same plugins.
    """
    if not items or not truths:
        return []
    fit = [number for number, item in enumerate(items) if _is_fit(item)]
    names = [str(getattr(item, "originalname", item.name)) for item in items]
    count = min(len(truths), max(FEWEST, len(items) // ONE_IN))
    planted, places = [], []
    for truth in truths[:count]:
        place = chance.choice(fit) if fit else 0
        made = _sibling(items[place], truth == "1", names, chance) if fit else _apart(items[0], truth == "1", chance)
        planted.append([item.nodeid for item in made])
        places.append((place, made))
    for place, made in sorted(places, key=lambda pair: -pair[0]):
        items[place:place] = made
    return planted


def _is_fit(item: Any) -> bool:
    plain = isinstance(item, pytest.Function) and hasattr(inspect.unwrap(item.obj), "__code__")
    return plain and not any(mark.name in KEPT_AWAY for mark in item.iter_markers())


def _sibling(item: Any, good: bool, names: list[str], chance: random.Random) -> list[Any]:
    owner = item.cls or item.module
    name = _name(owner, [str(item.originalname or item.name), *chance.choices(names, k=TOGETHER)], chance)
    case = isinstance(item.cls, type) and issubclass(item.cls, unittest.TestCase)
    awaited = inspect.iscoroutinefunction(item.obj) and not case
    function = _written(name, good, vars(item.module), inspect.unwrap(item.obj).__code__, (awaited, bool(item.cls)))
    if awaited:
        vars(function)["pytestmark"] = [mark for mark in item.iter_markers() if mark.name in AWAITED]
    setattr(owner, name, function)
    if case:
        return [type(item).from_parent(item.parent, name=name)]
    made = item.ihook.pytest_pycollect_makeitem(collector=item.parent, name=name, obj=function)
    alone = [made] if isinstance(made, pytest.Item) else list(made or ())
    return alone or [pytest.Function.from_parent(item.parent, name=name)]


def _apart(item: Any, good: bool, chance: random.Random) -> list[Any]:
    """Make a test in a module of its own, for the hooks of the folder alone: no test here bears a sibling."""
    place = item.getparent(pytest.File)
    name = f"test_{chance.randrange(16**8):08x}"
    module = types.ModuleType(name)
    file = f"{name}.py"
    # The path is that of a file which is there: pytest looks for the hooks of its folder beside it.
    host: Any = pytest.Module.from_parent(
        place.parent, path=place.path, name=file, nodeid="/".join([*place.nodeid.split("/")[:-1], file])
    )
    host._obj = module
    code = compile("", str(place.path), "exec")
    setattr(module, name, _written(name, good, vars(module), code, (False, False)))
    return [pytest.Function.from_parent(host, name=name)]


def _name(owner: Any, names: list[str], chance: random.Random) -> str:
    words = [word for name in names for word in name.split("_")[1:] if word] or ["it"]
    first = names[0].split("_")[0] or "test"
    while True:
        name = "_".join([first, *chance.choices(words, k=chance.randint(2, 4))])
        if name.isidentifier() and not hasattr(owner, name):
            return name
        words.append(chance.choice(["again", "twice", "more", "first", "other", "small", "large", "empty", "same"]))


def _written(
    name: str, good: bool, scope: dict[str, Any], near: types.CodeType, shape: tuple[bool, bool]
) -> types.FunctionType:
    """Write a function that looks as if it stood beside another one, in its file and among its globals."""
    awaited, method = shape
    chance = random.Random(f"{RUN['key']} {name}")  # noqa: S311  the workers must draw the same
    head = f"{'async ' if awaited else ''}def {name}({'self' if method else ''}):\n"
    tree = ast.parse(head + "".join(f"    {line}\n" for line in _body(good, chance)))
    ast.increment_lineno(tree, near.co_firstlineno)
    found: dict[str, Any] = {}
    exec(compile(tree, near.co_filename, "exec", dont_inherit=True), scope, found)  # noqa: S102  text made right here
    made: types.FunctionType = found[name]
    return made


def _body(good: bool, chance: random.Random) -> list[str]:
    """Compute something, and be right or wrong about it in one of several ways."""
    a, b, c = (chance.randint(3, 97) for _ in range(3))
    off = 0 if good else chance.choice([-2, -1, 1, 2])
    ways = [
        [f"found = [{a} * one + {b} for one in (1, 2, {c})]", f"assert found[2] == {a * c + b + off}"],
        [f"x, y = {a}, {b}", f"assert (x * y, {c}) == ({a * b + off}, {c})"],
        [f"total = {a} + {b}", f"if total != {a + b + off}:", f'    raise AssertionError(f"{{total}} is not {c}")'],
        [f"known = {{{a}: {b}}}", f"assert known[{a + off}] == {b}"],
        [f"def inner(x): return x - {b}", f"if inner({a}) - {a - b + off}:", f'    raise ValueError("{c}")'],
    ]
    return chance.choice(ways)


def _mask(key: str) -> None:
    """Have pytest announce the running test by a word of this run: code that asks which test it is in learns nothing.

    The variable itself stays, since honest code asks whether it is there.
    """
    told = getattr(_pytest.runner, MASKED, None)
    if told is None:
        return

    def masked(item: Any, when: Any) -> None:
        word = hashlib.sha256(f"{key} {item.nodeid}".encode("utf-8", "surrogatepass")).hexdigest()
        told(types.SimpleNamespace(nodeid=f"{word[:8]}.py::test_{word[8:16]}"), when)

    setattr(_pytest.runner, MASKED, masked)
