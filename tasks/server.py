"""Do it, durably: one lasting Prefect server for this home, started once, detached, used by later commands."""

import json
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path

from filelock import FileLock

from agents.domain.errors import Misconfigured
from agents.domain.value import Value
from tasks.alive import is_alive

START_SECONDS = 120
QUIET = {
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_SERVER_UI_SHOW_PROMOTIONAL_CONTENT": "false",
    "PREFECT_SERVER_EPHEMERAL_ENABLED": "false",
}


class Server(Value):
    """A Prefect server on this machine: its process, the port of its API and UI, when it was started (Unix time)."""

    pid: int
    port: int
    started: float

    @property
    def api(self) -> str:
        """The address for PREFECT_API_URL."""
        return f"http://127.0.0.1:{self.port}/api"

    @property
    def ui(self) -> str:
        """The address for a browser."""
        return f"http://127.0.0.1:{self.port}"


def running(home: Path) -> Server | None:
    """Return the server of this home when its process is alive, else None; asks no network."""
    try:
        server = Server.model_validate_json((_folder(home) / "server.json").read_text())
    except (OSError, ValueError):
        return None
    return server if is_alive(server.pid) else None


def launch(home: Path, environment: Mapping[str, str]) -> Server:
    """Return the server of this home, starting it in the background when it is not there; does not wait for it."""
    folder = _folder(home)
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / "server.lock"):
        if (server := running(home)) is not None and (is_healthy(server.api) or _is_starting(server)):
            return server
        port = _free_port()
        argv = [sys.executable, "-m", "prefect", "server", "start", "--host", "127.0.0.1", "--port", str(port)]
        with (folder / "server.log").open("ab") as log:
            process = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=folder,
                env={
                    **environment,
                    **QUIET,
                    "PREFECT_HOME": str(folder),
                    "PREFECT_API_URL": f"http://127.0.0.1:{port}/api",
                },
                start_new_session=True,
            )
        process.returncode = 0  # it outlives this process on purpose; nobody waits for it
        server = Server(pid=process.pid, port=port, started=time.time())
        (folder / "server.json").write_text(json.dumps(server.model_dump()))
        return server


def wait_until_healthy(server: Server, home: Path) -> None:
    """Return once the server answers; Misconfigured when it does not within START_SECONDS."""
    limit = time.monotonic() + START_SECONDS
    while time.monotonic() < limit and running(home) == server:
        if is_healthy(server.api):
            return
        time.sleep(0.1)
    raise Misconfigured(
        f"the local Prefect server did not start; {_folder(home) / 'server.log'} says why. Its folder {_folder(home)} "
        "holds nothing that is needed: it may be removed, then run the same command again."
    )


def is_healthy(api: str) -> bool:
    """Say whether a Prefect API answers within two seconds."""
    try:
        with urllib.request.urlopen(f"{api}/health", timeout=2) as answer:  # noqa: S310 - an address of the operator
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def _is_starting(server: Server) -> bool:
    return time.time() - server.started < START_SECONDS


def _folder(home: Path) -> Path:
    return home / "prefect"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
