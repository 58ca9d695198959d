"""What do end-to-end tests share? One Prefect server for the session, and places to run the real command in."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from place import FILES, Place

from tasks import server


@pytest.fixture(scope="session")
def prefect_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the one Prefect server, with its database."""
    return tmp_path_factory.mktemp("prefect")


@pytest.fixture(scope="session")
def environment(prefect_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """A clean environment in which one Prefect server answers; it ends with the session, by the id it was started with.

    Environments of repositories are shared: making one takes longer than most missions here.
    """
    clean = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "HOME": str(prefect_folder)}
    started = server.launch(prefect_folder, clean)
    try:
        server.wait_until_healthy(started, prefect_folder)
        shared = tmp_path_factory.mktemp("environments")
        yield {**clean, "PREFECT_API_URL": started.api, "SHARED_ENVIRONMENTS": str(shared)}
    finally:
        _end(started.pid)


def _end(pid: int) -> None:
    """End the server and its children: it leads a group of its own."""
    os.killpg(pid, signal.SIGTERM)
    limit = time.monotonic() + 20
    while os.waitpid(pid, os.WNOHANG) == (0, 0):
        if time.monotonic() > limit:
            os.killpg(pid, signal.SIGKILL)
        time.sleep(0.05)


@pytest.fixture(scope="session")
def new_place(
    environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str, dict[str, str]], Place]:
    """Make places, each with a new repository on `main` that holds the given files."""

    def make(name: str, files: dict[str, str]) -> Place:
        place = Place(tmp_path_factory.mktemp(name), environment)
        place.repo.mkdir()
        place.git("init", "-q", "-b", "main")
        place.commit(files, "Initial import")
        return place

    return make


@pytest.fixture
def place(new_place: Callable[[str, dict[str, str]], Place]) -> Place:
    """A place with a small repository."""
    return new_place("notes", FILES)
