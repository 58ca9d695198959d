"""One Prefect server for all proofs of this folder, and a provider and a world for each."""

import os
import signal
import socket
import subprocess
import sys
import time

import pytest
from laboratory import World
from provider import Provider

from tasks.server import QUIET, is_healthy


class PrefectServer:
    """A Prefect server that can be stopped and started again on the same database."""

    def __init__(self, folder):
        self.folder = folder
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.api = f"http://127.0.0.1:{self.port}/api"

    def start(self):
        self.folder.mkdir(exist_ok=True)
        with (self.folder / "server.log").open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "prefect", "server", "start", "--host", "127.0.0.1", "--port", str(self.port)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, **QUIET, "PREFECT_HOME": str(self.folder), "PREFECT_API_URL": self.api},
                start_new_session=True,
            )
        limit = time.monotonic() + 120
        while not is_healthy(self.api):
            assert time.monotonic() < limit, (self.folder / "server.log").read_text()
            assert self.process.poll() is None, (self.folder / "server.log").read_text()
            time.sleep(0.1)

    def stop(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


@pytest.fixture(scope="session")
def prefect_server(tmp_path_factory):
    server = PrefectServer(tmp_path_factory.mktemp("prefect"))
    server.start()
    yield server
    server.stop()


@pytest.fixture
def provider():
    provider = Provider()
    yield provider
    provider.close()


@pytest.fixture
def world(tmp_path, provider, prefect_server):
    return World(tmp_path, provider, prefect_server.api)
