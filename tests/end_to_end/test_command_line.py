"""What does a person or a program meet who types `lra`? Every test here starts the installed command."""

import json
import os
import pty
import re
import resource
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import click
import pytest

from agents.domain.errors import BrokenRecord, Busy, Misconfigured, NeedsHuman, OutOfBudget, TryLater
from flows.cli.console import Answer
from flows.cli.main import main

LRA = str(Path(sys.executable).parent / "lra")
SLOW = ("prefect", "litellm", "pandas", "duckdb", "git", "pydantic", "rich")

Ran = subprocess.CompletedProcess[str]


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("LRA_", "PREFECT_", "XDG_"))}
    return {**kept, "HOME": str(tmp_path / "home"), "LRA_HOME": str(tmp_path / "data"), "SHELL": "/bin/bash"}


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    folder = tmp_path / "a repo"
    (folder / "tests").mkdir(parents=True)
    (folder / "tests" / "test_one.py").write_text("def test_one() -> None:\n    pass\n")
    for args in (
        ("init", "-q", "-b", "trunk"),
        ("add", "."),
        ("-c", "user.name=A", "-c", "user.email=a@b.c", "commit", "-qm", "one"),
    ):
        subprocess.run(["git", *args], cwd=folder, check=True)
    return folder


def lra(*args: str, env: dict[str, str], cwd: Path | None = None) -> Ran:
    return subprocess.run([LRA, *args], env=env, cwd=cwd, capture_output=True, text=True, timeout=60)


def tty(*args: str, env: dict[str, str]) -> bytes:
    ours, theirs = pty.openpty()
    with subprocess.Popen([LRA, *args], env={**env, "TERM": "xterm-256color"}, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        shown = b""
        while chunk := _read(ours):
            shown += chunk
        os.close(ours)
        assert process.wait(60) == 0
    return shown


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # how a terminal ends on Linux
        return b""


def loaded(*args: str, env: dict[str, str]) -> set[str]:
    """Return the top-level modules that a verb leaves imported, told by an observer after `main` is through."""
    code = (
        "import sys, json\nfrom flows.cli.main import main\nsys.argv = ['lra', *sys.argv[1:]]\nmain()\n"
        "print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})), file=sys.stderr)"
    )
    ran = subprocess.run([sys.executable, "-c", code, *args], env=env, capture_output=True, text=True, check=True)
    return set(json.loads(ran.stderr.splitlines()[-1]))


@pytest.mark.parametrize("args", [("version",), ("--help",), ("nope",), ("config", "--nope"), ("run", "--nope"), ()])
def test_quick_answers_load_nothing_slow(args: tuple[str, ...], env: dict[str, str]) -> None:
    assert loaded(*args, env=env).isdisjoint(SLOW)


@pytest.mark.parametrize("args", [("config",), ("init",), ("doctor",)])
def test_looking_around_never_loads_a_model_or_prefect(args: tuple[str, ...], env: dict[str, str], repo: Path) -> None:
    assert loaded(*args, "--repo", str(repo), env=env).isdisjoint({"prefect", "litellm", "pandas", "duckdb"})


@pytest.mark.parametrize("args", [("version",), ("--help",), ("nope",)])
def test_quick_answers_are_quick_beside_an_empty_interpreter(args: tuple[str, ...], env: dict[str, str]) -> None:
    def best(argv: list[str]) -> float:
        seconds = []
        for _ in range(3):
            begun = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
            subprocess.run(argv, env=env, capture_output=True)
            seconds.append(sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2]) - begun)
        return min(seconds)

    # 0.15 s is the promise on a quiet machine. Processor time, user and system, hardly tells of who else works there,
    # and what it tells it tells of the empty interpreter too.
    assert best([LRA, *args]) < max(0.15, 20 * best([sys.executable, "-c", "pass"]))


def test_version_is_what_is_installed(env: dict[str, str]) -> None:
    from importlib.metadata import version

    assert lra("version", env=env).stdout.startswith(f"lra {version('lra')} ")


@pytest.mark.parametrize("args", [("nope",), ("run",), ("version", "--nope"), ("version", "extra"), ()])
def test_wrong_usage_exits_2_and_shows_no_traceback(args: tuple[str, ...], env: dict[str, str]) -> None:
    ran = lra(*args, env=env)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "lra" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_a_mistyped_verb_is_answered_with_the_nearest(env: dict[str, str]) -> None:
    assert "'status'" in lra("staus", env=env).stderr


@pytest.mark.parametrize("args", [("version",), ("config",), ("nope",), ("version", "--nope"), ("run",), ()])
def test_json_is_one_object_on_stdout_and_nothing_else(args: tuple[str, ...], env: dict[str, str]) -> None:
    ran = lra(*args, "--json", env=env)
    (line,) = ran.stdout.splitlines()
    assert set(json.loads(line)) >= ({"error", "kind"} if ran.returncode else set())
    assert bool(ran.stderr) == bool(ran.returncode)


def test_a_setting_that_is_wrong_exits_2_for_people_and_programs(env: dict[str, str]) -> None:
    ran = lra("config", "--json", env={**env, "LRA_MODLE": "x"})
    assert ran.returncode == 2
    assert json.loads(ran.stdout)["kind"] == "Misconfigured"
    assert "LRA_MODEL" in json.loads(ran.stdout)["error"]
    assert ran.stderr == f"lra: {json.loads(ran.stdout)['error']}\n"


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (Misconfigured("m"), 2),
        (NeedsHuman("m"), 3),
        (OutOfBudget("m"), 4),
        (TryLater("m"), 1),
        (Busy("m"), 1),
        (BrokenRecord("m"), 1),
        (KeyError("m"), 1),
        (KeyboardInterrupt(), 130),
    ],
)
def test_each_way_to_fail_has_its_exit_code_and_one_message(
    error: BaseException, code: int, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    @click.command()
    def version() -> Answer:
        raise error

    monkeypatch.setattr("flows.cli.about.version", version)
    monkeypatch.setattr(sys, "argv", ["lra", "version", "--json"])
    assert main() == code
    out, err = capfd.readouterr()
    assert err.strip() == f"lra: {json.loads(out)['error']}"


def test_with_json_whatever_else_is_printed_goes_to_stderr(env: dict[str, str]) -> None:
    code = (
        "import os, subprocess\nfrom flows.cli.console import stdout_for_json\n"
        "with stdout_for_json() as write:\n print('noise')\n subprocess.run(['echo', 'child'])\n write({'a': 1})\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert ran.stdout == '{"a": 1}\n'
    assert sorted(ran.stderr.split()) == ["child", "noise"]


def test_debug_shows_where_an_error_comes_from(env: dict[str, str]) -> None:
    wrong = {**env, "LRA_ATTEMPTS": "no"}
    assert "Traceback" not in lra("config", env=wrong).stderr
    assert "Traceback" in lra("config", "--debug", env=wrong).stderr


def test_config_names_the_source_of_every_value_and_masks_secrets(env: dict[str, str], repo: Path) -> None:
    (repo / "lra.toml").write_text("attempts = 2\n")
    secret = {"LRA_API_KEY": "sk-12345", "LRA_API_BASE": "http://me:pw-12345@127.0.0.1/v1"}
    ran = lra("config", "--json", "--repo", str(repo), env={**env, **secret})
    settings = json.loads(ran.stdout)["settings"]
    assert (settings["attempts"]["value"], settings["attempts"]["source"]) == (2, str(repo / "lra.toml"))
    assert settings["api_key"]["source"] == "LRA_API_KEY"
    assert settings["max_calls"]["source"] == "default"
    assert all(setting["help"] for setting in settings.values())
    assert "12345" not in ran.stdout + lra("config", env={**env, **secret}).stdout


def test_people_in_a_pipe_read_plain_whole_lines(env: dict[str, str]) -> None:
    shown = lra("config", env=env).stdout
    assert "\x1b" not in shown
    (home,) = (line for line in shown.splitlines() if line.startswith("home "))
    assert home.split()[:3] == ["home", env["LRA_HOME"], "LRA_HOME"]


def test_a_terminal_gets_colours_unless_no_color_is_set(env: dict[str, str]) -> None:
    assert b"\x1b[1m" in tty("config", env=env)
    assert b"\x1b[3" not in tty("config", env={**env, "NO_COLOR": "1"})


def test_doctor_finds_this_machine_fit(env: dict[str, str]) -> None:
    ran = lra("doctor", "--json", env=env)
    said = json.loads(ran.stdout)
    assert (ran.returncode, said["healthy"]) == (0, True)
    assert {"git", "sandbox", "home", "uv", "model", "prefect", "pytest"} <= {one["part"] for one in said["parts"]}
    assert not Path(env["LRA_HOME"]).exists()


def test_doctor_names_what_fails_with_a_command_to_mend_it(env: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    old = tmp_path / "bin" / "git"
    old.write_text("#!/bin/sh\necho git version 2.30.1\n")
    old.chmod(0o755)
    path = f"{tmp_path / 'bin'}:{env['PATH']}"
    ran = lra(
        "doctor", "--json", env={**env, "PATH": path, "LRA_MODEL": "scripted:missing.jsonl", "LRA_HOME": "/proc/x"}
    )
    failed = {one["part"]: one for one in json.loads(ran.stdout)["parts"] if one["state"] == "fail"}
    assert ran.returncode == 1
    assert set(failed) == {"git", "model", "home"}
    assert all(one["mend"] for one in failed.values())


def test_init_writes_an_example_that_parses_and_says_what_was_found(env: dict[str, str], repo: Path) -> None:
    from agents.mission_file import parse

    (repo / "new.txt").write_text("x")
    said = json.loads(lra("init", "--json", env=env, cwd=repo / "tests").stdout)
    assert said["found"] == {"branch": "trunk", "suites": ["tests"], "tests": 1, "uncommitted": 1}
    assert said["written"] == [str(repo / "MISSION.md"), str(repo / "lra.toml")]
    draft = parse((repo / "MISSION.md").read_text(), "MISSION.md")
    assert (draft.target, draft.checks, len(draft.items)) == ("trunk", ("tests",), 1)
    assert lra("config", env=env, cwd=repo).returncode == 0
    settings = repo / "lra.toml"
    settings.write_text(re.sub(r"^# (\w+ = )", r"\1", settings.read_text(), flags=re.MULTILINE))
    assert "show_work" in settings.read_text()
    assert lra("config", env=env, cwd=repo).returncode == 0


def test_what_init_suggests_can_be_pasted(env: dict[str, str], repo: Path) -> None:
    last = lra("init", env=env, cwd=repo).stdout.splitlines()[-1]
    assert last.endswith(f"lra run '{repo}/MISSION.md'")


def test_init_overwrites_nothing(env: dict[str, str], repo: Path) -> None:
    (repo / "lra.toml").write_text("attempts = 1\n")
    assert lra("init", env=env, cwd=repo).returncode == 0
    assert (repo / "lra.toml").read_text() == "attempts = 1\n"
    (repo / "MISSION.md").write_text("mine")
    again = lra("init", env=env, cwd=repo)
    assert again.returncode == 2
    assert (repo / "MISSION.md").read_text() == "mine"


def test_init_outside_a_repository_or_before_a_commit_writes_nothing(env: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert "git init" in lra("init", env=env, cwd=tmp_path / "empty").stderr
    subprocess.run(["git", "init", "-q", str(tmp_path / "empty")], check=True)
    ran = lra("init", env=env, cwd=tmp_path / "empty")
    assert (ran.returncode, "git commit" in ran.stderr) == (2, True)
    assert [path.name for path in (tmp_path / "empty").iterdir()] == [".git"]


def test_a_reader_that_goes_away_is_no_error(env: dict[str, str]) -> None:
    for verb in ("config", "--help"):
        ran = subprocess.run(f"'{LRA}' {verb} | true", shell=True, env=env, capture_output=True, text=True)
        assert ran.stderr == ""


def test_an_interrupt_exits_130_without_a_traceback(env: dict[str, str], tmp_path: Path) -> None:
    waiting = tmp_path / "config.toml"
    os.mkfifo(waiting)  # reading the settings waits here until somebody writes
    place = Path(env["HOME"]) / ".config" / "lra"
    place.mkdir(parents=True)
    (place / "config.toml").symlink_to(waiting)
    with subprocess.Popen([LRA, "config"], env=env, stderr=subprocess.PIPE, text=True) as process:
        writer = os.open(waiting, os.O_WRONLY)  # opens once the command reads
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
        os.close(writer)
    assert (process.returncode, said.strip()) == (130, "lra: interrupted")


@pytest.mark.parametrize(("shell", "start"), [("bash", ".bashrc"), ("zsh", ".zshrc")])
def test_completion_installs_once_and_keeps_what_was_there(shell: str, start: str, env: dict[str, str]) -> None:
    rc = Path(env["HOME"]) / start
    rc.parent.mkdir()
    rc.write_text("export MINE=1")
    for _ in range(2):
        assert lra("--install-completion", shell, env=env).returncode == 0
    assert rc.read_text().startswith("export MINE=1\n")
    assert len(rc.read_text().splitlines()) == 2


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_completes_verbs_after_the_install(env: dict[str, str]) -> None:
    Path(env["HOME"]).mkdir()
    assert "bash" in lra("--install-completion", env=env).stdout
    script = 'source ~/.bashrc; COMP_WORDS=(lra ver); COMP_CWORD=1; _lra_completion lra; echo "${COMPREPLY[@]}"'
    path = f"{Path(LRA).parent}:{env['PATH']}"
    ran = subprocess.run(["bash", "-c", script], env={**env, "PATH": path}, capture_output=True, text=True)
    assert ran.stdout.split() == ["version", "verify"]


def test_an_unknown_shell_is_refused(env: dict[str, str]) -> None:
    ran = lra("--install-completion", "tcsh", env=env)
    assert (ran.returncode, "bash|zsh|fish" in ran.stderr) == (2, True)
