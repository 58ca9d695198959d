"""Run pytest in the mission's interpreter, and report what it did on a channel of its own.

`run_pytest.py FD ROOT PATH... -- ARGUMENTS`. The first line that FD gives is JSON: a word that no test has seen, and
what `canaries.py` needs; every event is a line of JSON that carries this word and the next number. A run without the
event `finish` did not happen.
"""

import json
import linecache
import os
import secrets
import shutil
import socket
import sys
import tempfile
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

LONGEST = 6000
LENT = ("iniconfig", "packaging", "pluggy", "pygments")


class Channel:
    """The way back: closed to child processes, and numbered."""

    def __init__(self, descriptor: int) -> None:
        os.set_inheritable(descriptor, False)
        self._end = socket.socket(fileno=descriptor)
        self.run = json.loads(self._end.makefile("r").readline())
        self._word = self.run.pop("word")
        self._next = 0
        self._pid = os.getpid()

    def say(self, event: str, **data: Any) -> None:
        """Send one event; a forked child of a test says nothing."""
        if os.getpid() != self._pid:
            return
        row = {"word": self._word, "seq": self._next, "event": event, **data}
        self._next += 1
        # A name that is no UTF-8 comes as halves of surrogates, which no report or record can hold.
        self._end.sendall(json.dumps(row, ensure_ascii=False).encode("utf-8", "replace") + b"\n")


class Recorder:
    """A pytest plugin that only listens."""

    def __init__(self, channel: Channel, root: str, planter: Any) -> None:
        self._channel = channel
        self._planter = planter
        self._root = Path(root).resolve()

    def pytest_sessionstart(self, session: Any) -> None:
        """The configuration was accepted; from here a usage error is about the arguments."""
        functions, classes = map(session.config.getini, ("python_functions", "python_classes"))
        self._channel.say("start", functions=list(functions), classes=list(classes))

    def pytest_deselected(self, items: Any) -> None:
        """Tell which tests somebody chose not to run."""
        self._channel.say("deselected", ids=[item.nodeid for item in items])

    def pytest_collection_finish(self, session: Any) -> None:
        """Tell which tests are going to run, and which of them are no tests of the repository."""
        self._channel.say("collected", ids=[item.nodeid for item in session.items])
        self._channel.say("planted", **self._planter.TOLD)

    def pytest_collectreport(self, report: Any) -> None:
        """Tell what could not be collected, or was skipped as a whole."""
        if report.failed:
            self._channel.say("broken", id=report.nodeid, text=self._story(report))
        elif report.skipped:
            self._channel.say("skipped", id=report.nodeid)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Tell which test is under way, so that a time limit can name it."""
        self._channel.say("begin", id=nodeid)

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Tell how a phase of a test ended."""
        self._channel.say(
            "phase",
            id=report.nodeid,
            when=report.when,
            outcome=report.outcome,
            xfail=hasattr(report, "wasxfail"),
            part=type(report).__name__ != "TestReport",
            text=self._story(report) if report.failed else "",
        )

    def _story(self, report: Any) -> str:
        """Tell why it failed: the message, and each line of the repository on the way to it."""
        told = report.longrepr
        crash = getattr(told, "reprcrash", None)
        message = crash.message if crash is not None else str(getattr(told, "longrepr", told))
        entries = getattr(getattr(told, "reprtraceback", None), "reprentries", [])
        places = [entry.reprfileloc for entry in entries if getattr(entry, "reprfileloc", None)]
        own = [line for line in (self._line(place.path, place.lineno) for place in places) if line]
        return str("\n".join([_cut(message), *own[-8:]]))

    def _line(self, path: str, number: int) -> str:
        full = (self._root / path).resolve()
        if self._root not in full.parents:
            return ""
        return f"{full.relative_to(self._root)}:{number}: {linecache.getline(str(full), number).strip()}"


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST // 2] + "\n[...]\n" + text[-LONGEST // 2 :]


def _give_way(paths: list[str]) -> None:
    """Forget what pytest has imported where the repository is that very library: its tests must see its own code."""
    own = {name for name in LENT for path in paths if Path(path, name).is_dir() or Path(path, f"{name}.py").is_file()}
    for name in [name for name in sys.modules if name.partition(".")[0] in own]:
        del sys.modules[name]


def _planter(here: Path, run: dict[str, Any]) -> Any:
    """Import the plugin that plants tests by a name of this run, from where a worker of xdist finds it as well."""
    folder = tempfile.mkdtemp(prefix="t")
    name = f"plugin_{secrets.token_hex(6)}"
    file = shutil.copyfile(here / "canaries.py", Path(folder, f"{name}.py"))
    sys.path.append(folder)
    spec = spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    planter = sys.modules[name] = module_from_spec(spec)
    spec.loader.exec_module(planter)
    planter.RUN.update(run)
    return planter


def main() -> int:
    """Import pytest before anything of the repository can stand in its way, then let the repository in and run."""
    here = Path(__file__).resolve().parent
    sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != here]
    split = sys.argv.index("--")
    descriptor, paths, arguments = int(sys.argv[1]), sys.argv[2:split], sys.argv[split + 1 :]
    channel = Channel(descriptor)
    try:
        import pytest
    except ImportError as error:
        channel.say("absent", text=str(error))
        return 1
    _give_way(paths)
    sys.path[:0] = paths
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)
    planter = _planter(here, channel.run)
    code = int(pytest.main(["-p", planter.__name__, *arguments], plugins=[Recorder(channel, paths[0], planter)]))
    for told in planter.FROM_WORKERS:
        channel.say("planted", **told)
    channel.say("finish", code=code)
    return code


if __name__ == "__main__":
    sys.exit(main())
