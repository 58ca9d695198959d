"""Read how a project describes itself to those who install it, without running its build."""

import ast
import contextlib
import posixpath
import re
from collections.abc import Callable
from email.parser import HeaderParser
from typing import Any

from agents.domain.value import Value
from tasks.checks.constants import called, constants_of, value_of
from tasks.checks.requirements import ini, lines_of, toml

Read = Callable[[str], str]
Points = dict[str, dict[str, str]]

UNKNOWN = "0.0.0"
VERSIONS = ("__version__", "VERSION", "version")
VERSION_FILES = ("__init__.py", "_version.py", "version.py", "__version__.py", "__about__.py")
IN_SETUP = ("name", "version", "description", "author", "author_email", "url", "license", "entry_points")
SETUPTOOLS = (
    *(("description", "Summary"), ("url", "Home-page"), ("author", "Author"), ("author_email", "Author-email")),
    ("license", "License"),
)
POINT = re.compile(r"\s*([^=\s][^=]*?)\s*=\s*(\S.*?)\s*")


class Described(Value):
    """What metadata of an installed project would say: the fields in their order, and its entry points by group."""

    name: str
    version: str
    fields: tuple[tuple[str, str], ...] = ()
    points: Points = {}

    @property
    def scripts(self) -> dict[str, str]:
        """Return the commands, each with the function that it calls."""
        return {**self.points.get("gui_scripts", {}), **self.points.get("console_scripts", {})}


def described(folder: str, read: Read) -> Described | None:
    """Return what the project in `folder` says of itself, None when it has no name; `read` gives "" for no file.

    A version that its build would compute is taken from its code, else from the metadata of a source archive.
    """
    texts = {name: read(posixpath.join(folder, name)) for name in ("pyproject.toml", "setup.cfg", "setup.py")}
    data = toml(texts["pyproject.toml"].encode())
    project, tool = data.get("project", {}), data.get("tool", {})
    told = [_of_project(project), _of_poetry(tool.get("poetry", {})), _of_setup_cfg(texts["setup.cfg"])]
    told.append(_of_setup_py(texts["setup.py"]))
    name = next((str(one["name"]) for one in told if one.get("name")), "")
    if not name:
        return None
    version = next((str(one["version"]) for one in told if one.get("version")), "")
    if not version or version.startswith(("attr:", "file:")):
        version = _computed(folder, name, tool, version, read)
    fields = next((one["fields"] for one in told if one.get("fields")), ())
    points: Points = {}
    for one in reversed(told):
        points |= one.get("points", {})
    return Described(name=name, version=version, fields=fields, points=points)


def _of_project(project: dict[str, Any]) -> dict[str, Any]:
    license_ = project.get("license", "")
    fields = [("Summary", project.get("description", "")), ("Requires-Python", project.get("requires-python", ""))]
    fields.append(("License-Expression", license_) if isinstance(license_, str) else ("License", license_.get("text")))
    fields += [("Keywords", ",".join(project.get("keywords", ())))]
    for role in ("Author", "Maintainer"):
        people = project.get(f"{role.lower()}s", ())
        fields += [(role, ", ".join(one["name"] for one in people if "email" not in one))]
        mails = (
            f"{one['name']} <{one['email']}>" if "name" in one else one["email"] for one in people if "email" in one
        )
        fields += [(f"{role}-email", ", ".join(mails))]
    fields += [("Classifier", line) for line in project.get("classifiers", ())]
    fields += [("Project-URL", f"{label}, {url}") for label, url in project.get("urls", {}).items()]
    fields += [("Requires-Dist", line) for line in project.get("dependencies", ())]
    points = {"console_scripts": project.get("scripts", {}), "gui_scripts": project.get("gui-scripts", {})}
    return {**_plain(project), "fields": _said(fields), "points": _some(points | project.get("entry-points", {}))}


def _of_poetry(poetry: dict[str, Any]) -> dict[str, Any]:
    fields = [("Summary", poetry.get("description", "")), ("Author", ", ".join(poetry.get("authors", ())))]
    fields += [("Home-page", poetry.get("homepage", "")), ("License", poetry.get("license", ""))]
    scripts = {name: said for name, said in poetry.get("scripts", {}).items() if isinstance(said, str)}
    points = {"console_scripts": scripts, **poetry.get("plugins", {})}
    return {**_plain(poetry), "fields": _said(fields), "points": _some(points)}


def _of_setup_cfg(text: str) -> dict[str, Any]:
    parser = ini(text)
    about = dict(parser["metadata"]) if parser.has_section("metadata") else {}
    groups = parser["options.entry_points"] if parser.has_section("options.entry_points") else {}
    return {**_about(about), "points": _some({group: _points(lines_of(said)) for group, said in groups.items()})}


def _of_setup_py(text: str) -> dict[str, Any]:
    said: dict[str, Any] = {}
    with contextlib.suppress(SyntaxError, ValueError):
        tree = ast.parse(text)
        known = constants_of(tree)
        call = next((n for n in ast.walk(tree) if isinstance(n, ast.Call) and called(n) == "setup"), None)
        for keyword in (one for one in (call.keywords if call else ()) if one.arg in IN_SETUP):
            with contextlib.suppress(ValueError, TypeError):
                said[str(keyword.arg)] = value_of(keyword.value, known)
    points = said.pop("entry_points", {})
    if isinstance(points, str):
        parser = ini(points)
        points = {section: [f"{name}={to}" for name, to in parser.items(section)] for section in parser.sections()}
    groups = {
        group: _points(lines_of(lines) if isinstance(lines, str) else lines or ()) for group, lines in points.items()
    }
    return {**_about(said), "points": _some(groups)}


def _about(said: dict[str, Any]) -> dict[str, Any]:
    """Say what setuptools is told, in the words of metadata."""
    found = {key.replace("-", "_"): value for key, value in said.items()}
    return {
        **_plain(found),
        "fields": _said([(word, found.get(key, "")) for key, word in SETUPTOOLS]),
    }


def _plain(said: dict[str, Any]) -> dict[str, Any]:
    return {key: said[key] for key in ("name", "version") if isinstance(said.get(key), str)}


def _said(fields: list[tuple[str, Any]]) -> tuple[tuple[str, str], ...]:
    return tuple((name, " ".join(str(value).split())) for name, value in fields if value)


def _some(points: Points) -> Points:
    return {group: named for group, named in points.items() if named}


def _points(lines: Any) -> dict[str, str]:
    found = (POINT.fullmatch(str(line)) for line in lines)
    return {each[1]: each[2] for each in found if each}


def _computed(folder: str, name: str, tool: dict[str, Any], said: str, read: Read) -> str:
    """Find the version where setuptools, hatch and flit look for it, all without running the code."""
    dynamic = tool.get("setuptools", {}).get("dynamic", {}).get("version", {})
    attribute = str(dynamic.get("attr", "")) or said.partition("attr:")[2].strip()
    named = dynamic.get("file", said.partition("file:")[2].strip())
    for file in [named] if isinstance(named, str) else named:
        if text := read(posixpath.join(folder, file)).strip():
            return text
    module = attribute.rpartition(".")[0].replace(".", "/")
    package = tool.get("flit", {}).get("module", {}).get("name", "") or name
    places = [tool.get("hatch", {}).get("version", {}).get("path", "")]
    places += [f"{module}{end}" for end in (".py", "/__init__.py") if module]
    package = re.sub(r"[-.]+", "_", package)
    places += [f"{package}/{file}" for file in VERSION_FILES] + [f"{package}.py"]
    names = (attribute.rpartition(".")[2], *VERSIONS) if attribute else VERSIONS
    for place in filter(None, places):
        for start in ("", "src"):
            if found := _constant(read(posixpath.join(folder, start, place)), names):
                return found
    return HeaderParser().parsestr(read(posixpath.join(folder, "PKG-INFO"))).get("Version", UNKNOWN)


def _constant(text: str, names: tuple[str, ...]) -> str:
    """Return the first of these names that the module binds to a text; tried imports and conditions hide nothing."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return ""
    bound: dict[str, str] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=targets, value=ast.Constant(value=str(value))):
                bound |= {target.id: value for target in targets if isinstance(target, ast.Name)}
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.Constant(value=str(value))):
                bound[name] = value
    return next((bound[name] for name in names if bound.get(name, "").lstrip("v")[:1].isdigit()), "")
