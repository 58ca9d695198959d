"""Does a command leave anything behind, see anything it should not, or run longer than it may?"""

import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from agents.domain.errors import Misconfigured
from tasks.checks import sandbox
from tasks.checks.sandbox import GROUP_ONLY, ISOLATED, Command, Kept, run

needs_namespaces = pytest.mark.skipif(sandbox.describe() != ISOLATED, reason="this machine allows no namespaces")


@pytest.fixture(params=[ISOLATED, GROUP_ONLY])
def word(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == GROUP_ONLY:
        monkeypatch.setattr(sandbox, "_rights", lambda: None)
    elif sandbox.describe() != ISOLATED:
        pytest.skip("this machine allows no namespaces")
    return request.param


@pytest.fixture
def life() -> Iterator[tuple[int, int]]:
    """A pipe: while anything that got its second end still lives, its first end is silent."""
    ends = os.pipe()
    yield ends
    for end in ends:
        try:
            os.close(end)
        except OSError:
            continue


def command(tmp_path: Path, *argv: str, seconds: float = 20, fds: tuple[int, ...] = (), **env: str) -> Command:
    return Command(argv=argv, cwd=tmp_path, env={"PATH": "/usr/bin:/bin", **env}, seconds=seconds, pass_fds=fds)


def python(tmp_path: Path, code: str, seconds: float = 20, fds: tuple[int, ...] = ()) -> Command:
    return command(tmp_path, sys.executable, "-I", "-S", "-c", code, seconds=seconds, fds=fds)


def gone(life: tuple[int, int], within: float = 5) -> bool:
    os.close(life[1])
    return bool(select.select([life[0]], [], [], within)[0])


def test_exit_code_and_both_outputs_are_reported(tmp_path: Path, word: str) -> None:
    ran = run(command(tmp_path, "sh", "-c", "echo out; echo err >&2; exit 3"))
    assert (ran.exit, ran.output, ran.timed_out, ran.sandbox) == (3, "out\nerr\n", False, word)


def test_a_signal_is_128_and_more(tmp_path: Path, word: str) -> None:
    assert run(command(tmp_path, "sh", "-c", "kill -SEGV $$")).exit == 128 + signal.SIGSEGV


def test_an_unknown_program_is_127(tmp_path: Path, word: str) -> None:
    ran = run(command(tmp_path, "no-such-program"))
    assert ran.exit == 127
    assert "no-such-program" in ran.output


def test_a_child_that_holds_the_output_is_not_waited_for(tmp_path: Path, word: str, life: tuple[int, int]) -> None:
    began = time.monotonic()
    ran = run(command(tmp_path, "sh", "-c", "sleep 60 & echo done", fds=(life[1],)))
    assert ran.output == "done\n"
    assert time.monotonic() - began < 5
    assert gone(life)


@needs_namespaces
def test_a_child_in_a_session_of_its_own_dies_too(tmp_path: Path, life: tuple[int, int]) -> None:
    ran = run(command(tmp_path, "sh", "-c", "setsid sh -c 'trap \"\" TERM HUP; sleep 60' & echo done", fds=(life[1],)))
    assert ran.output == "done\n"
    assert gone(life)


def test_a_command_that_ignores_sigterm_ends_at_its_limit(tmp_path: Path, word: str, life: tuple[int, int]) -> None:
    began = time.monotonic()
    ran = run(
        command(tmp_path, "sh", "-c", "trap '' TERM INT; echo x; sleep 60; sleep 60", seconds=0.7, fds=(life[1],))
    )
    assert (ran.exit, ran.output, ran.timed_out) == (None, "x\n", True)
    assert time.monotonic() - began < 5
    assert gone(life)


def test_a_closed_output_does_not_end_the_wait(tmp_path: Path, word: str) -> None:
    ran = run(python(tmp_path, "import os, time; os.close(1); os.close(2); time.sleep(0.3); os._exit(4)"))
    assert ran.exit == 4


@pytest.mark.parametrize("blow", [signal.SIGKILL, signal.SIGINT])
def test_a_command_dies_with_lra(tmp_path: Path, word: str, life: tuple[int, int], blow: signal.Signals) -> None:
    code = (
        "import sys; from pathlib import Path; from tasks.checks import sandbox\n"
        f"if {word == GROUP_ONLY}: sandbox._rights = lambda: None\n"
        "env = {'PATH': '/usr/bin:/bin'}\n"
        f"argv = ('sh', '-c', 'echo begun > begun; exec sleep 60')\n"
        f"sandbox.run(sandbox.Command(argv=argv, cwd=Path({str(tmp_path)!r}), env=env, seconds=60,"
        f" pass_fds=({life[1]},)))"
    )
    lra = subprocess.Popen([sys.executable, "-c", code], pass_fds=(life[1],), stderr=subprocess.DEVNULL)
    while not (tmp_path / "begun").exists():
        assert lra.poll() is None
        time.sleep(0.02)
    lra.send_signal(blow)
    lra.wait()
    assert gone(life)


def test_nothing_of_the_environment_is_inherited(tmp_path: Path, word: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_API_KEY", "secret-of-lra")
    ran = run(command(tmp_path, "sh", "-c", "env; cat /proc/*/environ | tr '\\0' '\\n' | grep secret-of", LANG="C"))
    assert "MY_API_KEY" not in ran.output.split("secret-of")[0]
    if word == ISOLATED:
        assert "secret-of-lra" not in ran.output


@needs_namespaces
def test_the_loopback_of_the_host_is_out_of_reach(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as host:
        code = f"import socket; socket.create_connection(('127.0.0.1', {host.getsockname()[1]}), timeout=2)"
        assert "ConnectionRefusedError" in run(python(tmp_path, code)).output
        allowed = python(tmp_path, code).model_copy(update={"network": True})
        assert run(allowed).exit == 0


@needs_namespaces
def test_a_server_inside_can_be_reached_from_inside(tmp_path: Path) -> None:
    code = (
        "import socket; s = socket.create_server(('127.0.0.1', 0)); c = socket.create_connection(s.getsockname());"
        "s.accept()[0].sendall(b'hello'); print(c.recv(9))"
    )
    assert run(python(tmp_path, code)).output == "b'hello'\n"


@needs_namespaces
def test_other_processes_are_out_of_sight(tmp_path: Path) -> None:
    ran = run(python(tmp_path, "import os; print([n for n in os.listdir('/proc') if n.isdigit()])"))
    assert ran.output == "['1', '2']\n"


def test_a_long_output_keeps_head_and_tail(tmp_path: Path, word: str) -> None:
    code = "import sys; sys.stdout.write('a' * 50 + 'x' * 3_000_000 + 'z' * 50)"
    limited = python(tmp_path, code).model_copy(update={"output_limit": 100})
    ran = run(limited)
    assert ran.output == "a" * 50 + "\n[... 3000000 bytes left out ...]\n" + "z" * 50


def test_a_short_output_is_kept_whole() -> None:
    kept = Kept(10)
    for chunk in (b"01234", b"5", b"6789"):
        kept.add(chunk)
    assert kept.text() == "0123456789"


@needs_namespaces
def test_a_sandbox_that_cannot_be_made_is_no_failed_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "UNSHARE", ("--no-such-option",))
    with pytest.raises(Misconfigured, match="no-such-option"):
        run(command(tmp_path, "true"))


def test_bytes_that_are_no_text_are_replaced(tmp_path: Path, word: str) -> None:
    assert run(command(tmp_path, "printf", "\\377ok")).output == "\ufffdok"
