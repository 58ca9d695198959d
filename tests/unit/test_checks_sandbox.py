"""Does a command leave anything behind, use anything it should not, or more than it may?"""

import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from agents.domain.errors import Misconfigured
from flows.cli import health
from tasks.checks.sandbox import (
    BUBBLEWRAP,
    GROUP_ONLY,
    ISOLATED,
    LANDLOCK,
    Command,
    Policy,
    backends,
    choice,
    describe,
    folders_of,
    limits,
    run,
)
from tasks.checks.sandbox.backends import Backend
from tasks.checks.sandbox.kept import Kept
from tasks.checks.workspace import remove

MIB = 1 << 20
SHORT = {BUBBLEWRAP: "bubblewrap", LANDLOCK: "landlock", ISOLATED: "namespaces", GROUP_ONLY: "group"}


def offered() -> dict[str, Backend]:
    """The backends whose proof this machine gives."""
    fenced = [backend for backend in backends.fenced() if choice._proves(backend, fenced=True)]
    return {backend.word: backend for backend in (backends.alone(), choice.for_tools(), *fenced)}


PROVEN = offered()


def use(word: str, monkeypatch: pytest.MonkeyPatch) -> str:
    word = word if word in PROVEN else backends.UNFILTERED.get(word, word)
    if word not in PROVEN:
        pytest.skip(f"this machine has no {word}")
    monkeypatch.setattr(choice, "in_force", lambda: PROVEN[word])
    monkeypatch.setattr(choice, "for_tools", lambda: PROVEN[word])
    return word


@pytest.fixture(params=[BUBBLEWRAP, LANDLOCK, ISOLATED, GROUP_ONLY], ids=SHORT.get)
def word(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each backend in turn."""
    return use(request.param, monkeypatch)


@pytest.fixture(params=[BUBBLEWRAP, LANDLOCK, ISOLATED], ids=SHORT.get)
def spaced(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each backend that has namespaces."""
    return use(request.param, monkeypatch)


@pytest.fixture(params=[BUBBLEWRAP, LANDLOCK], ids=SHORT.get)
def fenced(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each backend that limits what files can be used."""
    return use(request.param, monkeypatch)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A workspace in a home of LRA."""
    made = tmp_path / "home" / "workspaces" / "one" / "tree"
    made.mkdir(parents=True)
    return made


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


@pytest.fixture(autouse=True)
def _nothing_is_left() -> Iterator[None]:
    """No mount, no control group and no folder of the proof outlives a test."""
    before = traces()
    yield
    assert traces() == before


def traces() -> tuple[list[str], list[Path], list[str]]:
    mounts = [line.split()[1] for line in Path("/proc/self/mounts").read_text().splitlines()]
    groups = [group for place in limits._places() for group in place.folder.glob(f"lra-{os.getpid()}-*")]
    return mounts, groups, sorted(map(str, Path(tempfile.gettempdir()).glob(f"lra-proof-{os.getpid()}-*")))


def sh(tree: Path, script: str, seconds: float = 20, fds: tuple[int, ...] = (), **policy: object) -> Command:
    return command(tree, "sh", "-c", script, seconds=seconds, fds=fds, **policy)


def python(tree: Path, code: str, seconds: float = 20, fds: tuple[int, ...] = (), **policy: object) -> Command:
    return command(tree, sys.executable, "-I", "-S", "-c", code, seconds=seconds, fds=fds, **policy)


def command(tree: Path, *argv: str, seconds: float = 20, fds: tuple[int, ...] = (), **policy: object) -> Command:
    allowed = Policy.model_validate({"writable": (tree,), **policy})
    env = {"PATH": "/usr/bin:/bin"}
    return Command(argv=argv, cwd=tree, env=env, seconds=seconds, pass_fds=fds, policy=allowed)


def gone(life: tuple[int, int], within: float = 5) -> bool:
    os.close(life[1])
    return bool(select.select([life[0]], [], [], within)[0])


def test_exit_code_and_both_outputs_are_reported(tree: Path, word: str) -> None:
    ran = run(sh(tree, "echo out; echo err >&2; exit 3"))
    assert (ran.exit, ran.output, ran.timed_out, ran.sandbox) == (3, "out\nerr\n", False, word)


def test_a_tool_of_lra_needs_no_policy(tmp_path: Path) -> None:
    ran = run(Command(argv=("touch", str(tmp_path / "made")), cwd=Path("/"), env={"PATH": "/usr/bin"}, seconds=9))
    assert (ran.exit, ran.sandbox, (tmp_path / "made").exists()) == (0, choice.for_tools().word, True)


def test_a_signal_is_128_and_more(tree: Path, word: str) -> None:
    assert run(sh(tree, "kill -SEGV $$")).exit == 128 + signal.SIGSEGV


def test_an_unknown_program_is_127(tree: Path, word: str) -> None:
    ran = run(command(tree, "no-such-program"))
    assert ran.exit == 127
    assert "no-such-program" in ran.output


def test_a_child_that_holds_the_output_is_not_waited_for(tree: Path, word: str, life: tuple[int, int]) -> None:
    began = time.monotonic()
    ran = run(sh(tree, "sleep 60 & echo done", fds=(life[1],)))
    assert ran.output == "done\n"
    assert time.monotonic() - began < 5
    assert gone(life)


def test_a_child_in_a_session_of_its_own_dies_too(tree: Path, spaced: str, life: tuple[int, int]) -> None:
    ran = run(sh(tree, "setsid sh -c 'trap \"\" TERM HUP; sleep 60' & echo done", fds=(life[1],)))
    assert ran.output == "done\n"
    assert gone(life)


def test_a_command_that_ignores_sigterm_ends_at_its_limit(tree: Path, word: str, life: tuple[int, int]) -> None:
    began = time.monotonic()
    ran = run(sh(tree, "trap '' TERM INT; echo x; sleep 60; sleep 60", seconds=0.9, fds=(life[1],)))
    assert (ran.exit, ran.output, ran.timed_out) == (None, "x\n", True)
    assert time.monotonic() - began < 5
    assert gone(life)


def test_a_closed_output_does_not_end_the_wait(tree: Path, word: str) -> None:
    ran = run(python(tree, "import os, time; os.close(1); os.close(2); time.sleep(0.3); os._exit(4)"))
    assert ran.exit == 4


VICTIM = """
import sys
from pathlib import Path
from tasks.checks.sandbox import Command, Policy, backends, choice
from tasks.checks.sandbox.running import run_with
word, tree, life = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
backend = next(one for one in (*backends.fenced(), choice.for_tools(), backends.alone()) if one.word == word)
argv = ("sh", "-c", "setsid sleep 60 & echo begun > begun; exec sleep 60")
policy = Policy(writable=(tree,))
run_with(backend, Command(argv=argv, cwd=tree, env={"PATH": "/usr/bin"}, seconds=60, pass_fds=(life,), policy=policy))
"""


@pytest.mark.parametrize("blow", [signal.SIGKILL, signal.SIGINT])
def test_a_command_dies_with_lra(tree: Path, spaced: str, life: tuple[int, int], blow: signal.Signals) -> None:
    argv = [sys.executable, "-c", VICTIM, spaced, str(tree), str(life[1])]
    lra = subprocess.Popen(argv, pass_fds=(life[1],), stderr=subprocess.DEVNULL)
    while not (tree / "begun").exists():
        assert lra.poll() is None
        time.sleep(0.02)
    lra.send_signal(blow)
    lra.wait()
    assert gone(life)
    assert no_group_of(lra.pid)


def no_group_of(pid: int, within: float = 5) -> bool:
    """Let the next process of LRA remove the control groups of one that was killed."""
    until = time.monotonic() + within
    while time.monotonic() < until:
        limits._places.cache_clear()
        if not [group for place in limits._places() for group in place.folder.glob(f"lra-{pid}-*")]:
            return True
        time.sleep(0.05)
    return False


def test_alone_the_command_itself_dies_with_lra(tree: Path, life: tuple[int, int]) -> None:
    code = VICTIM.replace("setsid sleep 60 & ", "")
    lra = subprocess.Popen([sys.executable, "-c", code, GROUP_ONLY, str(tree), str(life[1])], pass_fds=(life[1],))
    while not (tree / "begun").exists():
        time.sleep(0.02)
    lra.kill()
    lra.wait()
    assert gone(life)


def test_nothing_of_the_environment_is_inherited(tree: Path, word: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_API_KEY", "secret-of-lra")
    ran = run(command(tree, "env"))
    from_python = set() if word.startswith("bubblewrap") else {"LC_CTYPE"}
    assert {line.partition("=")[0] for line in ran.output.splitlines()} <= {"PATH"} | from_python


def test_the_environment_of_lra_cannot_be_read(tree: Path, spaced: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_API_KEY", "secret-of-lra")
    assert "secret-of-lra" not in run(sh(tree, "cat /proc/*/environ | tr '\\0' '\\n'")).output


def test_the_loopback_of_the_host_is_out_of_reach(tree: Path, spaced: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as host:
        code = f"import socket; socket.create_connection(('127.0.0.1', {host.getsockname()[1]}), timeout=2)"
        assert "ConnectionRefusedError" in run(python(tree, code)).output
        assert run(python(tree, code, network=True)).exit == 0


def test_a_server_inside_can_be_reached_from_inside(tree: Path, spaced: str) -> None:
    code = (
        "import socket; s = socket.create_server(('127.0.0.1', 0)); c = socket.create_connection(s.getsockname());"
        "s.accept()[0].sendall(b'hello'); print(c.recv(9))"
    )
    assert run(python(tree, code)).output == "b'hello'\n"


def test_other_processes_are_out_of_sight(tree: Path, spaced: str) -> None:
    ran = run(python(tree, "import os; print([n for n in os.listdir('/proc') if n.isdigit()])"))
    assert ran.output == "['1', '2']\n"


def test_only_the_workspace_can_be_written(tree: Path, fenced: str) -> None:
    beside = tree.parent.parent / "beside"
    beside.write_text("as it was")
    for path, mode in ((tree.parent, 0o777), (tree.parent.parent, 0o777), (beside, 0o666)):
        path.chmod(mode)
    ran = run(
        sh(tree, f"echo in > in; echo x > {beside}; echo x > {tree.parent}/made; rm {beside}; ls -d /made; exit 0")
    )
    assert ran.exit == 0
    assert (beside.read_text(), (tree / "in").read_text(), list(tree.parent.iterdir())) == ("as it was", "in\n", [tree])


def test_the_machine_cannot_be_written(tree: Path, fenced: str) -> None:
    script = "for f in /made /usr/made /etc/made /usr/bin/env /dev/made /proc/made; do echo x > $f && echo $f; done"
    assert run(sh(tree, f"({script}) 2>/dev/null; exit 0")).output == ""


def test_what_lies_beside_the_workspace_is_out_of_sight(tree: Path, fenced: str) -> None:
    record = tree.parents[2] / "record"
    record.mkdir()
    (record / "spec").write_text("secret-of-lra")
    places = f"{record} {record}/spec {tree.parents[1]} {Path.home()} /etc/shadow {Path.cwd()}/README.md"
    ran = run(sh(tree, f"for f in {places}; do cat $f; ls $f/; done 2>/dev/null; exit 0"))
    assert (ran.exit, "secret" in ran.output, "root:" in ran.output, "LRA" in ran.output) == (0, False, False, False)
    assert not {"spec", ".bashrc", ".ssh", "record"} & set(ran.output.split())


def test_a_folder_to_read_cannot_be_written(tree: Path, fenced: str, tmp_path: Path) -> None:
    given = tmp_path / "environment"
    given.mkdir()
    (given / "file").write_text("text\n")
    for path in (given, given / "file"):
        path.chmod(0o777)
    ran = run(sh(tree, f"cat {given}/file; echo no > {given}/file; echo no > {given}/other", readable=(given,)))
    assert ran.output.startswith("text\n")
    assert ((given / "file").read_text(), list(given.iterdir())) == ("text\n", [given / "file"])


def test_shared_folders_are_empty_and_gone_afterwards(tree: Path, fenced: str) -> None:
    folders = "/tmp /var/tmp /dev/shm"
    ran = run(sh(tree, f"for d in {folders}; do echo left > $d/left-by-a-check; done && ls {folders} | sort | uniq"))
    assert ran.exit == 0
    assert not any(Path(folder, "left-by-a-check").exists() for folder in folders.split())
    assert "left-by-a-check" not in run(sh(tree, f"ls {folders}")).output


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give its rights away")
def test_root_is_given_away_for_good(tree: Path, fenced: str) -> None:
    ran = run(sh(tree, "id -u; id -G; grep -E 'Cap(Prm|Eff|Bnd)|NoNewPrivs' /proc/self/status | cut -f2 | sort -u"))
    assert ran.output == "65534\n65534\n0000000000000000\n1\n"


def test_what_a_check_made_and_closed_can_be_removed(tree: Path, fenced: str) -> None:
    (tree / "given").write_text("of LRA")
    ran = run(sh(tree, "echo changed > given && mkdir a && touch a/b && chmod 0 a/b a given"))
    assert ran.exit == 0
    remove(tree.parent)
    assert not tree.parent.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can own the files of others")
def test_a_second_name_of_a_file_elsewhere_is_not_given_away(tree: Path, tmp_path: Path, fenced: str) -> None:
    (tmp_path / "elsewhere").write_text("text")
    os.link(tmp_path / "elsewhere", tree / "second")
    run(command(tree, "true"))
    assert ((tree / "second").stat().st_uid, tree.stat().st_uid) == (0, backends.NOBODY)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives its rights away")
def test_a_folder_that_nobody_else_may_read_is_named(tree: Path, tmp_path: Path, fenced: str) -> None:
    (tmp_path / "environment").mkdir(mode=0o700)
    with pytest.raises(Misconfigured, match=r"chmod -R o\+rX .*environment"):
        run(command(tree, "true", readable=(tmp_path / "environment",)))


def test_memory_is_bounded(tree: Path, word: str) -> None:
    code = "a = []\nfor _ in range(600): a.append(b'x' * (1 << 20))\nprint('had it all')"
    ran = run(python(tree, code, memory=200 * MIB))
    assert ran.exit != 0
    assert "had it all" not in ran.output


@pytest.mark.parametrize("groups", [True, False])
def test_processes_are_bounded(
    tree: Path, fenced: str, life: tuple[int, int], monkeypatch: pytest.MonkeyPatch, groups: bool
) -> None:
    if not groups:
        monkeypatch.setattr(limits, "_places", lambda: ())
    code = "import os, time\nn = 0\ntry:\n  while n < 200:\n    if os.fork() == 0: time.sleep(60)\n    n += 1\n"
    ran = run(python(tree, code + "except OSError: print(n)", fds=(life[1],), processes=40))
    assert 20 < int(ran.output) < 60
    assert gone(life)


def test_without_control_groups_memory_is_bounded_too(tree: Path, fenced: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_places", lambda: ())
    assert "MemoryError" in run(python(tree, "b'x' * (600 << 20)", memory=200 * MIB)).output


def test_a_long_file_is_bounded(tree: Path, word: str) -> None:
    assert run(sh(tree, "head -c 9000000 /dev/zero > big", file_size=5 * MIB)).exit != 0
    assert (tree / "big").stat().st_size == 5 * MIB


def test_many_files_are_bounded(tree: Path, word: str) -> None:
    script = "i=0; while true; do head -c 4000000 /dev/zero > f$i; i=$((i+1)); done"
    ran = run(sh(tree, script, disk=40 * MIB))
    assert (ran.exit, ran.timed_out) == (137, False)
    assert "stopped: it wrote more than 41943040 bytes" in ran.output


def test_shared_folders_are_bounded(tree: Path, fenced: str) -> None:
    script = "for d in /tmp /var/tmp /dev/shm; do head -c 9000000 /dev/zero > $d/big && echo $d; done; exit 0"
    assert "No space left" in run(sh(tree, script, scratch=4 * MIB)).output


def test_open_files_are_bounded(tree: Path, word: str) -> None:
    assert "Too many open files" in run(python(tree, "[open('/dev/null') for _ in [0] * 99]", open_files=50)).output


def test_a_flood_of_output_keeps_head_and_tail(tree: Path, word: str) -> None:
    code = "import sys; sys.stdout.write('a' * 50 + 'x' * 3_000_000 + 'z' * 50)"
    ran = run(python(tree, code).model_copy(update={"output_limit": 100}))
    assert ran.output == "a" * 50 + "\n[... 3000000 bytes left out ...]\n" + "z" * 50


def test_a_short_output_is_kept_whole() -> None:
    kept = Kept(10)
    for chunk in (b"01234", b"5", b"6789"):
        kept.add(chunk)
    assert kept.text() == "0123456789"


def test_bytes_that_are_no_text_are_replaced(tree: Path, word: str) -> None:
    assert run(command(tree, "printf", "\\377ok")).output == "\ufffdok"


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no node on this machine")
def test_node_runs_within_all_limits(tree: Path, word: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_places", lambda: ())
    node = Path(shutil.which("node") or "")
    ran = run(command(tree, str(node), "-e", "console.log(6 * 7)", readable=folders_of(node)))
    assert ran.output == "42\n"


@pytest.mark.skipif(BUBBLEWRAP not in PROVEN, reason="there is no bubblewrap on this machine")
def test_the_best_backend_is_in_force_and_the_next_one_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    choice.in_force.cache_clear()
    assert describe() == BUBBLEWRAP
    choice.in_force.cache_clear()
    monkeypatch.setattr(backends, "BWRAP", "no-such-program")
    assert describe() in (LANDLOCK, ISOLATED)
    choice.in_force.cache_clear()


def test_doctor_names_the_command_for_a_better_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    use(ISOLATED, monkeypatch)
    monkeypatch.setattr(backends, "BWRAP", "no-such-program")
    monkeypatch.setattr(shutil, "which", lambda name, path=None: f"/bin/{name}" if name == "dnf" else None)
    finding = health._sandbox()
    assert (finding.state, finding.told, finding.mend) == ("warn", ISOLATED, "sudo dnf install bubblewrap")


@pytest.mark.parametrize(
    ("restricted", "most", "mend"),
    [
        ("1", "15000", f"sudo sysctl -w {health.APPARMOR} "),
        ("0", "0", f"sudo sysctl -w {health.NAMESPACES} "),
        ("0", "15000", "bwrap --ro-bind"),
    ],
)
def test_doctor_names_the_knob_that_keeps_bubblewrap_from_working(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, restricted: str, most: str, mend: str
) -> None:
    use(ISOLATED, monkeypatch)
    monkeypatch.setattr(backends, "program", lambda name: Path(name))
    for knob, value in ((health.APPARMOR, restricted), (health.NAMESPACES, most)):
        file = tmp_path.joinpath(*knob.partition("=")[0].split("."))
        file.parent.mkdir()
        file.write_text(f"{value}\n")
    monkeypatch.setattr(health, "KNOBS", tmp_path)
    assert health._sandbox().mend.startswith(mend)


@pytest.mark.skipif(BUBBLEWRAP not in PROVEN, reason="there is no bubblewrap on this machine")
def test_a_user_who_hides_new_files_from_others_has_the_same_sandbox() -> None:
    code = "import os; os.umask(0o077); from tasks.checks.sandbox import describe; print(describe())"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == BUBBLEWRAP


def test_a_backend_that_lets_a_write_through_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    loose = Backend(BUBBLEWRAP, choice.for_tools().argv, uid=None)
    assert not choice._proves(loose, fenced=True)
    assert not choice._proves(backends.alone(), fenced=False)


def test_a_sandbox_that_cannot_be_made_is_no_failed_command(
    tree: Path, fenced: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backends, "_mounts", lambda policy: ("--no-such-option",))
    monkeypatch.setattr(backends, "_covers", lambda *_: ("755:1:/no/such/folder",))
    with pytest.raises(Misconfigured, match=r"no-such-option|no/such/folder"):
        run(command(tree, "true"))


def test_a_program_in_a_home_does_not_show_the_home(tmp_path: Path) -> None:
    for name in ("bin", "lib", "share"):
        (tmp_path / name).mkdir()
    (tmp_path / "bin" / "tool").touch()
    (tmp_path / "link").symlink_to("bin/tool")
    assert folders_of(tmp_path / "link") == (tmp_path / "link", tmp_path / "bin", tmp_path / "lib")
    assert folders_of(Path("/usr/bin/env")) == ()
