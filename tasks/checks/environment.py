"""Give a repository an environment of its own, made once; LRA's interpreter never runs its code."""

import os
import shutil
import sys
from collections.abc import Callable, Iterable
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Literal, NamedTuple

import uv
from filelock import FileLock
from packaging.specifiers import InvalidSpecifier, SpecifierSet

from agents.domain.errors import Misconfigured
from agents.domain.value import Value, digest_of
from tasks.checks import sandbox
from tasks.checks.detect import needs_of
from tasks.checks.plain import shortened
from tasks.checks.requirements import Kind, Needs
from tasks.checks.toolbox import runner_digest
from tasks.checks.tools import lend_pytest

BUILD_SECONDS = 900.0
MARKER = "complete"
SYNC = ("--quiet", "--frozen", "--compile-bytecode", "--no-install-project", "--no-install-workspace")
COMPILE = ("-I", "-m", "compileall", "-q", "-x", r"pygments/(lexers|styles)/[a-z]")
NETWORK_SETTINGS = (
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR"),
    *("UV_INDEX", "UV_INDEX_URL", "UV_DEFAULT_INDEX", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS", "UV_OFFLINE"),
)


class Definition(Value):
    """What an environment is made from: equal definitions share one environment, an unrelated edit changes nothing."""

    kind: Literal["uv", "requirements", "pyproject", "plain", "backend"]
    needs: Needs
    python: str
    python_version: str

    @property
    def name(self) -> str:
        """The sha256 that the environment is kept under: what is needed, and every tool that takes part."""
        tools = [f"{tool} {metadata.version(tool)}" for tool in ("uv", "pytest")]
        return digest_of([self.kind, self.needs.content, self.python_version, *tools])


class Environment(NamedTuple):
    """A made environment. `tools` is the folder that lends LRA's pytest to an environment that has none.

    `sources` are the folders of the repository that its own projects are imported from, beside the root and its `src`.
    """

    python: Path
    digest: str
    kind: str
    tools: Path
    sources: tuple[str, ...] = ()


def define(paths: Iterable[str], read: Callable[[str], bytes]) -> Definition:
    """Say what the repository with these files needs.

    Misconfigured when a file cannot be understood, or when no installed Python will do.
    """
    try:
        needs = needs_of(frozenset(paths), read)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        # Files of people, in any shape: what is no text or no list where one must be is theirs to mend.
        why = " ".join(str(error).split())[:300]
        raise Misconfigured(f"what the repository requires cannot be read, mend it: {why}") from None
    python, version = interpreter_for(needs.python)
    return Definition(kind=needs.kind, needs=needs, python=python, python_version=version)


def backend(requirements: tuple[str, ...], python: str) -> Definition:
    """Say what building a wheel needs: an environment with the build backend and nothing of the repository."""
    interpreter, version = interpreter_for(python)
    kind: Kind = "pyproject" if requirements else "plain"
    needs = Needs(kind=kind, python=python, requirements=requirements, content=digest_of(["backend", *requirements]))
    return Definition(kind="backend", needs=needs, python=interpreter, python_version=version)


def find(definition: Definition, home: Path) -> Environment | None:
    """Return the environment when it is there and whole, else None."""
    folder = _folder(definition, home)
    made = Environment(
        python=folder / "bin" / "python",
        digest=definition.name,
        kind=definition.kind,
        tools=folder / "tools",
        sources=definition.needs.sources,
    )
    return made if made.python.exists() and _is_as_made(folder, home) else None


def code_of(root: Path, made: Environment) -> tuple[Path, ...]:
    """Return where a workspace at `root` imports the repository's own modules from: all of them, as they are now."""
    own = (root, root / "src") if (root / "src").is_dir() else (root,)
    return (*own, *(root / source for source in made.sources))


def _is_as_made(folder: Path, home: Path) -> bool:
    """Say whether an environment is whole, still where it was made, and what runs its tests still the same bytes."""
    try:
        return (folder / MARKER).read_text(encoding="utf-8") == _mark(folder, home)
    except OSError:
        return False


def _mark(folder: Path, home: Path) -> str:
    return f"{folder}\n{runner_digest(folder, home)}\n"


def build(definition: Definition, folder: Path, home: Path) -> Environment:
    """Return the environment, made from the files in `folder` when it is not there yet; a half-made one is made anew.

    This alone may use the network. Misconfigured, with what the tool said, when it cannot be made.
    """
    place = _folder(definition, home)
    place.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{place}.lock"):
        if made := find(definition, home):
            return made
        shutil.rmtree(place, ignore_errors=True)
        _make(definition, folder, place, home)
        if definition.kind != "backend" and lend_pytest(place, definition.python_version):
            _tool((str(place / "bin" / "python"), *COMPILE, str(place / "tools")), folder, place, home)
        (place / MARKER).write_text(_mark(place, home), encoding="utf-8")
    made = find(definition, home)
    assert made is not None
    return made


def _folder(definition: Definition, home: Path) -> Path:
    return (home / "environments").resolve() / definition.name[:16]  # one name, however the home is reached


def _make(definition: Definition, folder: Path, place: Path, home: Path) -> None:
    needs, binary = definition.needs, uv.find_uv_bin
    if needs.kind != "uv" and not needs.requirements:
        _tool((definition.python, "-I", "-m", "venv", "--without-pip", str(place)), folder, place, home)
        return
    _tool((binary(), "venv", "--quiet", "--python", definition.python, str(place)), folder, place, home)
    if needs.kind == "uv":
        _tool((binary(), "sync", *SYNC, "--python", definition.python, *needs.options), folder, place, home)
        return
    listed, limits = place / "needs.txt", place / "limits.txt"
    listed.write_text("".join(f"{line}\n" for line in needs.requirements), encoding="utf-8")
    limits.write_text("".join(f"{line}\n" for line in needs.constraints), encoding="utf-8")
    install = (binary(), "pip", "install", "--quiet", "--compile-bytecode", "--python", str(place / "bin" / "python"))
    _tool((*install, "-r", str(listed), "-c", str(limits)), folder, place, home)


def _tool(argv: tuple[str, ...], folder: Path, place: Path, home: Path) -> str:
    ran = sandbox.run(
        sandbox.Command(argv=argv, cwd=folder, env=_env(place, home), seconds=BUILD_SECONDS, network=True)
    )
    if ran.exit == 0:
        return ran.output.strip()
    how = f"did not end within {BUILD_SECONDS:.0f} s" if ran.timed_out else f"ended with {ran.exit}"
    words = " ".join(Path(argv[0]).name if not n else word for n, word in enumerate(argv[:3]))
    raise Misconfigured(
        f"the repository's environment could not be made: {words} {how}:\n"
        f"{shortened(ran.output.strip(), 20, 3000)}\n"
        "Correct what the repository requires, or the network, and run the same command again."
    )


def _env(place: Path, home: Path) -> dict[str, str]:
    """Give the tools that fetch packages the settings of the network, and no other word of LRA's environment."""
    return {
        **{name: os.environ[name] for name in NETWORK_SETTINGS if name in os.environ},
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": os.environ.get("HOME", "/"),
        "LANG": "C.UTF-8",
        "NO_COLOR": "1",
        "UV_CACHE_DIR": str(home.absolute() / "packages"),
        "UV_LINK_MODE": "copy",  # what damages an environment must not damage the next one
        "UV_PROJECT_ENVIRONMENT": str(place),
        "UV_PYTHON_DOWNLOADS": "never",
    }


@cache
def interpreter_for(requires: str) -> tuple[str, str]:
    """Find a Python that `requires` allows, with its full version; the one LRA runs on when it will do."""
    own = ".".join(str(part) for part in sys.version_info[:3])
    base: str = getattr(sys, "_base_executable", sys.executable)
    try:
        if SpecifierSet(requires).contains(own, prereleases=True):
            return base, own
    except InvalidSpecifier as error:
        raise Misconfigured(f"requires-python of the repository cannot be read: {error}") from None
    env = {"PATH": _where_pythons_are(), "HOME": os.environ.get("HOME", "/")}
    ask = (uv.find_uv_bin(), "python", "find", "--no-project", "--no-config", "--no-python-downloads")
    found = sandbox.run(sandbox.Command(argv=(*ask, requires), cwd=Path("/"), env=env, seconds=60))
    paths = [line for line in found.output.splitlines() if line.startswith("/")]
    if found.exit != 0 or not paths:
        raise Misconfigured(
            f"the repository requires Python {requires}, this is {own}, and no other one that fits is installed; "
            f"install one, for example with: uv python install '{requires}'"
        )
    python = paths[-1]
    version = (python, "-I", "-S", "-c", "import platform; print(platform.python_version())")
    return python, sandbox.run(sandbox.Command(argv=version, cwd=Path("/"), env={}, seconds=60)).output.strip()


def _where_pythons_are() -> str:
    """List PATH and what pyenv installed; its shims go, for they stand in the way of the search and start nothing."""
    home = Path(os.environ.get("HOME", "/"))
    folders = [name for name in os.environ.get("PATH", "/usr/bin:/bin").split(":") if not name.endswith("/shims")]
    return ":".join([*folders, *(str(place) for place in sorted(home.glob(".pyenv/versions/3.*/bin")))])
