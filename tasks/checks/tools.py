"""Lend LRA's pytest to an environment that has none, and nothing else of what LRA has installed."""

import shutil
from importlib import metadata
from pathlib import Path

DISTRIBUTIONS = ("pytest", "pluggy", "iniconfig", "packaging", "pygments")
SHIM = '#!/bin/sh\nexec "{python}" -m pytest "$@"\n'


def lend_pytest(environment: Path, version: str) -> bool:
    """Make pytest importable at the very end of the environment's path; False when it has a whole one of its own.

    Whatever the repository installed comes first. The copies hold exactly the files of five distributions. A repository
    that is one of these itself has it not installed: its pytest is lent what it lacks.
    """
    tools = environment / "tools"
    tools.mkdir(exist_ok=True)
    site = environment / "lib" / f"python{'.'.join(version.split('.')[:2])}" / "site-packages"
    own = (site / "pytest").exists()
    lacking = [name for name in DISTRIBUTIONS if not own or not _is_there(site, name)]
    for name in lacking:
        _copy(metadata.distribution(name), tools)
    if not lacking:
        return False
    (site / "lra-tools.pth").write_text(f"{tools}\n", encoding="utf-8")
    if own:
        return True
    shim = environment / "bin" / "pytest"
    shim.write_text(SHIM.format(python=environment / "bin" / "python"), encoding="utf-8")
    shim.chmod(0o755)
    return True


def _is_there(site: Path, name: str) -> bool:
    """Say whether a module of this name is installed, in whatever form."""
    return any(place.exists() for place in (site / name, site / f"{name}.py"))


def _copy(distribution: metadata.Distribution, tools: Path) -> None:
    """Copy the recorded files, but no scripts (they lie above) and no bytecode (it is made for another Python)."""
    for file in distribution.files or ():
        if ".." in file.parts or "__pycache__" in file.parts:
            continue
        target = tools / file
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(str(distribution.locate_file(file)), target)
