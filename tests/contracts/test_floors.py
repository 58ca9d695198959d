"""Do imports only point down, and does each outside library stay on its floor?"""

import ast
import sys
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
FLOORS = ("agents.domain", "agents", "analytics", "tasks", "flows")
BELOW = {
    "agents.domain": {"agents.domain"},
    "agents": {"agents.domain", "agents"},
    "analytics": {"agents.domain", "agents", "analytics"},
    "tasks": {"agents.domain", "agents", "tasks"},
    "flows": set(FLOORS),
}
NEVER = {
    "agents": {"prefect", "git", "subprocess", "duckdb", "pandas", "scipy", "rich", "typer", "pydantic_settings"},
    "analytics": {"prefect", "git", "litellm", "subprocess", "typer", "pydantic_settings"},
    "tasks": {"litellm", "duckdb", "pandas", "scipy", "rich", "typer", "pydantic_settings"},
    "flows": {"litellm", "openai", "git", "subprocess"},
}
ONLY_IN = {
    "litellm": {"agents/models/live.py"},
    "openai": {"agents/models/live.py"},
    "prefect": {"tasks/engineer.py", "tasks/integrate.py", "tasks/orient.py", "tasks/verify.py"},
}
ENVIRONMENT = {"environ", "environb", "getenv", "getenvb", "putenv", "unsetenv"}
MAY_SEE_THE_ENVIRONMENT = {
    "flows/settings.py",  # the settings of a user
    "flows/wiring.py",  # sets Prefect's and litellm's own variables
    "tasks/git/plumbing.py",  # the environment of a git process
    "tasks/checks/environment.py",  # the environment of pip and uv
    "tasks/checks/inside/run_pytest.py",  # runs inside of a sandbox, on what it was given
}

Sources = Mapping[str, str]


class Import(NamedTuple):
    """A module that a file names, anywhere in it, and where."""

    module: str
    line: int


def sources() -> dict[str, str]:
    files = (path for top in ("flows", "tasks", "agents", "analytics") for path in sorted((ROOT / top).rglob("*.py")))
    named = {path.relative_to(ROOT).as_posix(): path for path in files}
    return {
        name: path.read_text(encoding="utf-8")
        for name, path in named.items()
        if not name.startswith("flows/demo/project/")
    }


def module_of(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def floor_of(module: str) -> str | None:
    return next((floor for floor in FLOORS if f"{module}.".startswith(f"{floor}.")), None)


def imports(path: str, text: str, modules: set[str]) -> Iterator[Import]:
    """Every import, at the top, in a function or for type checking alone, also one that is spelled as a text."""
    package = path.removesuffix(".py").split("/")[:-1]
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Import(names=names):
                yield from (Import(alias.name, node.lineno) for alias in names)
            case ast.ImportFrom(module=module, names=names, level=level):
                above = package[: len(package) - level + 1] if level else []
                origin = ".".join([*above, *([module] if module else [])])
                for alias in names:
                    whole = f"{origin}.{alias.name}"
                    yield Import(whole if whole in modules else origin, node.lineno)
            case ast.Call(func=called, args=[name, *_]) if getattr(called, "attr", getattr(called, "id", "")) in (
                "import_module",
                "__import__",
            ):
                yield from (Import(module, node.lineno) for module in spelled(name, modules))


def spelled(name: ast.expr, modules: set[str]) -> list[str]:
    """The modules that a text can name: one, or those of a package when only the last part is open."""
    match name:
        case ast.Constant(value=str(module)):
            return [module]
        case ast.JoinedStr(values=[ast.Constant(value=str(package)), ast.FormattedValue()]) if package.endswith("."):
            return sorted(module for module in modules if module.startswith(package))
    return ["(computed)"]


def import_faults(files: Sources) -> list[str]:
    modules = {module_of(path) for path in files}
    found = ((path, one) for path, text in files.items() for one in imports(path, text, modules))
    return [
        f"{path}:{one.line} imports {one.module}: {why}" for path, one in found if (why := why_not(path, one.module))
    ]


def why_not(path: str, module: str) -> str:
    floor = floor_of(module_of(path))
    assert floor is not None
    top, target = module.partition(".")[0], floor_of(module)
    if target is not None:
        return "" if target in BELOW[floor] else f"{floor} stands below or beside {target}"
    if module == "(computed)":
        return "nobody can say what this imports"
    if top == "tests":
        return "the product does not know its tests"
    if floor == "agents.domain":
        plain = top in sys.stdlib_module_names and top != "subprocess"
        return "" if top == "pydantic" or plain else "floor 0 knows pydantic and the standard library"
    if top in NEVER[floor]:
        return f"{floor} never imports {top}"
    if top in ONLY_IN and floor != "flows" and path not in ONLY_IN[top]:
        return f"{top} is imported in {', '.join(sorted(ONLY_IN[top]))} alone"
    return ""


def environment_faults(files: Sources) -> list[str]:
    return [
        f"{path}:{node.lineno} sees the environment of the process"
        for path, text in files.items()
        if path not in MAY_SEE_THE_ENVIRONMENT
        for node in ast.walk(ast.parse(text))
        if sees_environment(node)
    ]


def sees_environment(node: ast.AST) -> bool:
    match node:
        case ast.Attribute(value=ast.Name(id="os"), attr=attribute):
            return attribute in ENVIRONMENT
        case ast.ImportFrom(module="os", names=names):
            return any(alias.name in ENVIRONMENT for alias in names)
    return False


def cycle_of(files: Sources) -> list[str]:
    modules = {module_of(path) for path in files}
    graph = {
        module_of(path): {one.module for one in imports(path, text, modules)} & (modules - {module_of(path)})
        for path, text in files.items()
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_imports_point_down_and_libraries_stay_on_their_floor() -> None:
    assert import_faults(sources()) == []


def test_the_environment_is_seen_where_it_is_meant_to_be() -> None:
    assert environment_faults(sources()) == []


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert cycle_of(sources()) == []


def test_every_exception_made_here_is_still_used() -> None:
    files = sources()
    named = {(path, one.module.partition(".")[0]) for path in files for one in imports(path, files[path], set(files))}
    assert {(path, top) for top in ("litellm", "prefect") for path in ONLY_IN[top]} <= named
    idle = {
        path for path in MAY_SEE_THE_ENVIRONMENT if not any(map(sees_environment, ast.walk(ast.parse(files[path]))))
    }
    assert idle == set()


EMPTY = dict.fromkeys(sources(), "")


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("agents/domain/x.py", "import yaml"),
        ("agents/domain/x.py", "import subprocess"),
        ("agents/domain/x.py", "from agents import briefing"),
        ("agents/domain/x.py", "from agents.briefing import cut"),
        ("agents/domain/x.py", "from .. import briefing"),
        ("agents/x.py", "from tasks.act import act"),
        ("agents/x.py", "def f():\n    import tasks.act"),
        ("agents/x.py", "if TYPE_CHECKING:\n    from flows import mission"),
        ("agents/x.py", "import litellm"),
        ("agents/x.py", "from litellm.exceptions import Timeout"),
        ("agents/x.py", "import importlib\nimportlib.import_module('litellm')"),
        ("agents/x.py", "from importlib import import_module\nimport_module('lite' + 'llm')"),
        ("agents/x.py", "__import__('git')"),
        ("agents/x.py", "import importlib\nimportlib.import_module(f'lite{x}')"),
        ("agents/x.py", "from prefect import task"),
        ("agents/models/live.py", "import prefect"),
        ("tasks/x.py", "from prefect import task"),
        ("tasks/git/x.py", "def f():\n    from prefect.runtime import flow_run"),
        ("tasks/x.py", "from analytics import warehouse"),
        ("tasks/x.py", "from flows.settings import Settings"),
        ("tasks/engineer.py", "import litellm"),
        ("tasks/engineer.py", "import pandas as pd"),
        ("analytics/x.py", "import tasks.journal"),
        ("analytics/x.py", "import prefect"),
        ("analytics/x.py", "import litellm"),
        ("flows/x.py", "import subprocess"),
        ("flows/cli/x.py", "def f():\n    import git"),
        ("flows/x.py", "from importlib import import_module as load\nimport litellm.utils"),
        ("flows/x.py", "from tests.unit import test_edits"),
    ],
)
def test_a_wrong_import_is_found(path: str, text: str) -> None:
    assert len(import_faults({**EMPTY, path: text})) == 1


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("agents/models/live.py", "import importlib\nimportlib.import_module('litellm')"),
        ("tasks/engineer.py", "from prefect import task"),
        ("flows/x.py", "import prefect, rich\nfrom analytics import warehouse\nfrom tasks import act"),
        ("analytics/x.py", "import duckdb\nfrom agents.domain.events import Row"),
        ("flows/x.py", "from importlib import import_module\nimport_module(f'flows.cli.{name}')"),
        ("agents/domain/x.py", "import re\nfrom pydantic import Field\nfrom agents.domain.value import Value"),
    ],
)
def test_a_right_import_is_left_alone(path: str, text: str) -> None:
    assert import_faults({**EMPTY, path: text}) == []


@pytest.mark.parametrize(
    "text", ["import os\nos.environ['A']", "import os\nos.getenv('A')", "from os import environ as e"]
)
def test_a_look_at_the_environment_is_found(text: str) -> None:
    assert len(environment_faults({"tasks/x.py": text, "flows/settings.py": text})) == 1


def test_a_circle_is_found_also_when_half_of_it_hides_in_a_function() -> None:
    files = {"tasks/a.py": "from tasks import b", "tasks/b.py": "def f():\n    from tasks.c import x", "tasks/c.py": ""}
    assert cycle_of(files) == []
    assert "tasks.c" in cycle_of({**files, "tasks/c.py": "import_module(f'tasks.{x}')"})
    assert set(cycle_of({**files, "tasks/c.py": "import tasks.a"})) == {"tasks.a", "tasks.b", "tasks.c"}
