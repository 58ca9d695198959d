"""When is this machine fit for LRA? Each part is looked at by itself; what is missing comes with the command for it."""

import contextlib
import platform
import re
import shutil
import tempfile
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed
from pathlib import Path
from typing import Literal, NamedTuple

from agents.domain.errors import LraError, Misconfigured
from flows.settings import Settings, read

OLDEST_GIT = (2, 38)
ROOM = 1_000_000_000
APPARMOR = "kernel.apparmor_restrict_unprivileged_userns=0"  # how Ubuntu keeps users from making namespaces
NAMESPACES = "user.max_user_namespaces=15000"
TRY = "bwrap --ro-bind / / --unshare-all true (bubblewrap is here, and does not do what it should: see what this says)"
KNOBS = Path("/proc/sys")
INSTALLS = (
    ("apt-get", "sudo apt-get install bubblewrap"),
    ("dnf", "sudo dnf install bubblewrap"),
    ("pacman", "sudo pacman -S bubblewrap"),
    ("zypper", "sudo zypper install bubblewrap"),
    ("apk", "sudo apk add bubblewrap"),
)


class Finding(NamedTuple):
    """What was found about one part; `mend` is empty when there is nothing to do."""

    part: str
    state: Literal["ok", "warn", "fail"]
    told: str
    mend: str = ""


def examine(repository: Path) -> tuple[Finding, ...]:
    """Look at all parts, in the order in which a run needs them; calls no model and starts no server."""
    found = [Finding("python", "ok", platform.python_version()), _git(), _sandbox(), _uv(), *_tools()]
    try:
        settings = read(repository)
    except Misconfigured as error:
        return (*found, Finding("settings", "fail", str(error), "correct it, then: lra config"))
    return (*found, Finding("settings", "ok", "read"), _home(settings.home), _model(settings), _prefect(settings))


def _git() -> Finding:
    from tasks.git.plumbing import as_user

    mend = "brew install git" if platform.system() == "Darwin" else "sudo apt-get install git"
    try:
        said = as_user("version", seconds=30).required().decode().strip()
    except LraError as error:
        return Finding("git", "fail", str(error), mend)
    number = re.search(r"(\d+)\.(\d+)", said)
    new = number is not None and (int(number[1]), int(number[2])) >= OLDEST_GIT
    return Finding("git", "ok", said) if new else Finding("git", "fail", f"{said}; 2.38 is needed", mend)


def _sandbox() -> Finding:
    from tasks.checks.sandbox import BUBBLEWRAP, backends, describe

    word = describe()
    if word in (BUBBLEWRAP, backends.UNFILTERED[BUBBLEWRAP]):
        return Finding("sandbox", "ok", word)
    if backends.program(backends.BWRAP):
        knob = next((knob for knob in (APPARMOR, NAMESPACES) if _is_on(knob)), "")
        mend = f"sudo sysctl -w {knob} (bubblewrap is here, and may make no namespaces)" if knob else TRY
    else:
        mend = next((install for program, install in INSTALLS if shutil.which(program)), "")
    return Finding("sandbox", "warn", word, mend)


def _is_on(knob: str) -> bool:
    """Say whether a setting of the kernel stands in the way: a restriction is on, or a number is none."""
    name = knob.partition("=")[0]
    with contextlib.suppress(OSError):
        return KNOBS.joinpath(*name.split(".")).read_text(encoding="ascii").strip() == (
            "1" if knob == APPARMOR else "0"
        )
    return False


def _uv() -> Finding:
    import uv

    try:
        return Finding("uv", "ok", uv.find_uv_bin())
    except FileNotFoundError:
        return Finding("uv", "fail", "the uv program is missing", "pip install --force-reinstall uv")


def _tools() -> Iterator[Finding]:
    for tool in ("pytest", "ruff", "mypy"):
        try:
            yield Finding(tool, "ok", installed(tool))
        except PackageNotFoundError:
            yield Finding(tool, "fail", "not installed", f"pip install {tool}")


def _home(home: Path) -> Finding:
    place = next(folder for folder in (home, *home.parents) if folder.exists())
    try:
        with tempfile.TemporaryFile(dir=place):
            free = shutil.disk_usage(place).free
    except OSError as error:
        return Finding(
            "home", "fail", f"{home} cannot be written: {error.strerror}", "export LRA_HOME=/a/folder/of/yours"
        )
    told = f"{home}, {free / 1e9:.1f} GB free"
    return Finding("home", "ok", told) if free > ROOM else Finding("home", "warn", told, "df -h")


def _model(settings: Settings) -> Finding:
    name = settings.model
    if name is None:
        return Finding("model", "warn", "none is set; `lra demo` needs none", "export LRA_MODEL=ollama_chat/NAME")
    kind, colon, where = name.partition(":")
    if colon and kind in ("recorded", "scripted") and not Path(where).expanduser().exists():
        return Finding("model", "fail", f"{name}: there is no {where}", "export LRA_MODEL=... or --model NAME")
    return Finding("model", "ok", f"--model {name} (not called)")


def _prefect(settings: Settings) -> Finding:
    from tasks.server import is_healthy, running

    if settings.prefect_api_url is not None:
        told = f"{settings.prefect_api_url} answers"
        if is_healthy(settings.prefect_api_url):
            return Finding("prefect", "ok", told)
        mend = "unset PREFECT_API_URL (then a local one is used)"
        return Finding("prefect", "fail", f"{settings.prefect_api_url} does not answer", mend)
    server = running(settings.home)
    if server is None:
        return Finding("prefect", "ok", "no local server is running; `lra run` starts it")
    if is_healthy(server.api):
        return Finding("prefect", "ok", f"local server at {server.ui}, process {server.pid}")
    return Finding("prefect", "warn", f"the local server (process {server.pid}) does not answer", f"kill {server.pid}")
