"""Let a repository be found under its own name, version and scripts, as if installed, without running its build."""

import shlex
from pathlib import Path
from typing import Any

from tasks.checks.requirements import toml

SCRIPT = '#!/bin/sh\nexec {python} -c {code} "$@"\n'
CODE = "import sys; from {module} import {name}; sys.argv[0] = {script!r}; sys.exit({call}())"


def introduce(root: Path, python: Path, folder: Path) -> None:
    """Write metadata and scripts of the project at `root` below `folder`; a project without a name has none."""
    file = root / "pyproject.toml"
    project = toml(file.read_bytes()).get("project", {}) if file.is_file() else {}
    name = project.get("name")
    if not isinstance(name, str) or "/" in name or folder.exists():
        return
    version = str(project.get("version", "0"))
    about = folder / f"{name.replace('-', '_')}-{version.replace('/', '_')}.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", encoding="utf-8")
    (about / "entry_points.txt").write_text(_entry_points(project), encoding="utf-8")
    for script, target in project.get("scripts", {}).items():
        if "/" not in script:
            _write_script(folder / "bin" / script, python, target)


def _entry_points(project: dict[str, Any]) -> str:
    groups = {"console_scripts": project.get("scripts", {}), **project.get("entry-points", {})}
    return "".join(
        f"[{group}]\n" + "".join(f"{name} = {target}\n" for name, target in named.items())
        for group, named in groups.items()
    )


def _write_script(file: Path, python: Path, target: str) -> None:
    module, _, call = target.partition("[")[0].strip().partition(":")
    code = CODE.format(module=module, name=call.partition(".")[0], script=file.name, call=call)
    file.parent.mkdir(exist_ok=True)
    file.write_text(SCRIPT.format(python=shlex.quote(str(python)), code=shlex.quote(code)), encoding="utf-8")
    file.chmod(0o755)
