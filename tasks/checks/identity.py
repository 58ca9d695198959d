"""Let a repository be found under its own names, versions and scripts, as if installed, without running its build."""

import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from tasks.checks.described import Described, Points, described
from tasks.checks.detect import members
from tasks.checks.requirements import PROJECT

SCRIPT = '#!/bin/sh\nexec {python} -c {code} "$@"\n'
CODE = "import sys; from {module} import {name}; sys.argv[0] = {script!r}; sys.exit({call}())"
NAME = re.compile(r"[^/\x00-\x1f\x7f]{1,100}")
NO_TEXT = re.compile("[\x00\ud800-\udfff]")
DEPTH = 3
NO_PROJECTS = ("node_modules", "venv", "__pycache__")


def introduce(root: Path, python: Path, folder: Path) -> None:
    """Write metadata and scripts of the projects below `root` into `folder`; a project without a name has none.

    The root's own come first: a member that takes its name, or that of one of its scripts, is left out of it. A project
    that describes itself in words nobody understands is left out too: what needs them then fails, and says so.
    """
    if folder.exists():
        return
    folder.mkdir(parents=True)

    def read(path: str) -> str:
        file = (root / path).resolve()
        inside = file.is_relative_to(root.resolve()) and file.is_file()  # a project could name a secret of the host
        return file.read_text(encoding="utf-8", errors="replace") if inside else ""

    for place in ("", *members(_files_of(root), lambda path: read(path).encode())):
        try:
            project = described(place, read)
        except (AttributeError, KeyError, TypeError, ValueError):
            continue
        if project and _is_plain(project):
            _write(project, python, folder)


def _is_plain(project: Described) -> bool:
    """Say whether name, version and scripts are names of files, and all texts such as a file can hold."""
    names = (project.name, project.version, *project.scripts)
    texts = (*names, *(text for field in project.fields for text in field), _entry_points(project.points))
    return all(NAME.fullmatch(name) for name in names) and not any(map(NO_TEXT.search, texts))


def _files_of(root: Path) -> Iterator[str]:
    """List the files that make a folder a project, as deep as projects of one repository lie."""
    for place, below, files in os.walk(root):
        here = Path(place).relative_to(root)
        below[:] = [n for n in below if n not in NO_PROJECTS and n[0] != "." and len(here.parts) < DEPTH]
        yield from (str(here / name) for name in PROJECT if name in files)


def _write(project: Described, python: Path, folder: Path) -> None:
    name = re.sub(r"[-_.]+", "_", project.name)
    if any(there.name.partition("-")[0].lower() == name.lower() for there in folder.glob("*.dist-info")):
        return
    about = folder / f"{name}-{project.version}.dist-info"
    about.mkdir()
    fields = (("Metadata-Version", "2.1"), ("Name", project.name), ("Version", project.version), *project.fields)
    (about / "METADATA").write_text("".join(f"{key}: {said}\n" for key, said in fields), encoding="utf-8")
    (about / "entry_points.txt").write_text(_entry_points(project.points), encoding="utf-8")
    for script, target in project.scripts.items():
        if "/" not in script and not (folder / "bin" / script).exists():
            _write_script(folder / "bin" / script, python, target)


def _entry_points(points: Points) -> str:
    return "".join(
        f"[{group}]\n" + "".join(f"{name} = {target}\n" for name, target in named.items())
        for group, named in points.items()
    )


def _write_script(file: Path, python: Path, target: str) -> None:
    module, _, call = target.partition("[")[0].strip().partition(":")
    code = CODE.format(module=module, name=call.partition(".")[0], script=file.name, call=call)
    file.parent.mkdir(exist_ok=True)
    file.write_text(SCRIPT.format(python=shlex.quote(str(python)), code=shlex.quote(code)), encoding="utf-8")
    file.chmod(0o755)
