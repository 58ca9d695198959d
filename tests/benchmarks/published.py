"""Ten libraries as their authors published them, each with a fault that one of its own tests notices."""

import subprocess
import tarfile
from pathlib import Path
from typing import NamedTuple

import uv

from tasks.git.example import make_repository
from tasks.git.trees import Trees


class Package(NamedTuple):
    """A pinned source archive; `sound` stands once in `file` and becomes `faulty`, which `noticing` turns red for."""

    name: str
    version: str
    file: str
    sound: str
    faulty: str
    noticing: str


PACKAGES = (
    # setup.py alone, flat, tests inside of the package
    Package("toolz", "1.0.0", "toolz/itertoolz.py", "islice(seq, 0, None, n)", "islice(seq, 1, None, n)",
            "toolz/tests/test_itertoolz.py"),
    # setuptools with a version in the code, src, tests of unittest, lint
    Package("cachetools", "8.0.2", "src/cachetools/__init__.py", "if link.count != 1:", "if link.count == 1:",
            "tests/test_lfu.py"),
    # flit, flat, doctests as tests
    Package("boltons", "26.2.0", "boltons/strutils.py", "hnbytes = float(nbytes) / size", "hnbytes = float(nbytes)",
            "tests/test_strutils.py"),
    # hatchling with its version from git, src, conftest, metadata that is tested, lint and types
    Package("structlog", "26.1.0", "src/structlog/processors.py", '"true" if value else "false"',
            '"false" if value else "true"', "tests/processors/test_renderers.py"),
    # Poetry with groups, flat, conftest, lint and types
    Package("tomlkit", "0.15.2", "tomlkit/_utils.py", "offset = -offset", "offset = +offset", "tests/test_utils.py"),
    # setuptools, options of a plugin that nothing requires, doctests of a README
    Package("parse", "1.22.4", "parse/__init__.py", "sign = -1", "sign = 1", "tests/test_parse.py"),
    # flit, tox.toml, unittest; the other tests of this file pass in one order alone
    Package("pathspec", "1.1.1", "pathspec/util.py", "out_index = index", "out_index = index + 1",
            "tests/test_01_util.py::CheckMatchFileTest"),
    # flit, src, a folder of requirement files, lint and types
    Package("itsdangerous", "2.2.0", "src/itsdangerous/encoding.py", "bytestr.rjust(8", "bytestr.ljust(8",
            "tests/test_itsdangerous/test_encoding.py"),
    # setuptools, src, uv.lock, conftest, doctests, lint and types
    Package("semver", "3.1.2", "src/semver/version.py", "cls(self._major, self._minor + 1)",
            "cls(self._major, self._minor + 2)", "tests/test_bump.py"),
    # setuptools with a setup.cfg, dev.requirements.txt, tests of unittest that start the command, types
    Package("python-slugify", "9.2.0", "slugify/_legacy.py", "if not word_boundary:", "if word_boundary:",
            "tests/test_legacy.py"),
)  # fmt: skip


def fetch(packages: tuple[Package, ...], folder: Path) -> None:
    """Bring the source archives by the ordinary client, as it is set up on this machine."""
    pinned = [f"{package.name}=={package.version}" for package in packages]
    sources = ("--no-deps", "--no-binary", ",".join(package.name for package in packages))
    argv = (uv.find_uv_bin(), "tool", "run", "--quiet", "pip", "download", "--quiet", *sources, *pinned)
    subprocess.run([*argv, "--dest", folder], check=True, capture_output=True)


def repository(package: Package, archives: Path, place: Path) -> None:
    """Make a repository of an archive; it has a branch `faulty`, and `noted` with one more text."""
    archive = archives / f"{package.name.replace('-', '_')}-{package.version}.tar.gz"
    with tarfile.open(archive) as held:
        files = {
            member.name.partition("/")[2]: held.extractfile(member).read()
            for member in held
            if member.isfile() and ".git" not in member.name.split("/")  # a submodule's, which git itself never holds
        }
    make_repository(place, files, "As published\n")
    source = files[package.file].decode()
    assert source.count(package.sound) == 1, (package.name, source.count(package.sound))
    trees = Trees(place / ".git")
    main = trees.git.run("rev-parse", "main").decode().strip()
    changed = {
        "faulty": (package.file, source.replace(package.sound, package.faulty)),
        "noted": ("NOTES.md", "# Notes\n\nNothing else is changed.\n"),
    }
    for branch, (path, text) in changed.items():
        tree = trees.write(trees.tree_of(main), path, text.encode())
        trees.git.run("update-ref", f"refs/heads/{branch}", trees.commit(tree, (main,), f"{branch}\n"))
    trees.close()
