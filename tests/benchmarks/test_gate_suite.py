"""Does the gate hold against its whole suite, and when the environment of its caller is poisoned?"""

import json
import os
import subprocess
import sys

import pytest

from flows.selftest.cases import project_files, solution
from tasks.git.example import make_repository
from tasks.git.trees import Trees

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(7200)]
LRA = [sys.executable, "-c", "import sys; from flows.cli.main import main; sys.exit(main())"]
PLUGIN = "def pytest_pyfunc_call(pyfuncitem):\n    return True\n"


def verify(folder, home, *args, **env):
    child = {**os.environ, "LRA_HOME": str(home), **env}
    ran = subprocess.run([*LRA, "verify", "--json", *args], cwd=folder, env=child, capture_output=True, check=False)
    return ran.returncode, json.loads(ran.stdout)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A repository with a branch for a cheat that does nothing and one for the honest solution."""
    root = tmp_path_factory.mktemp("around")
    folder = root / "project"
    make_repository(folder, project_files(), "A small project\n")
    trees = Trees(folder / ".git")
    main = trees.git.run("rev-parse", "main").decode().strip()
    wrong = trees.write(trees.tree_of(main), "CHANGES.md", b"# Changes\n\n- Upper bounds hold.\n")
    for name, tree in (("wrong", wrong), ("right", solution("clamp").make(trees, wrong))):
        commit = trees.commit(tree, (main,), f"{name}\n")
        trees.git.run("update-ref", f"refs/heads/{name}", commit)
    trees.close()
    for name in ("planted.py", "pytest.py", "ruff.py", "mypy.py"):
        (folder / name).write_text(PLUGIN)
    return root


@pytest.mark.parametrize(
    "env",
    [
        {"PYTEST_ADDOPTS": "--collect-only"},
        {"PYTEST_ADDOPTS": "-p planted"},
        {"PYTEST_PLUGINS": "planted"},
        {"PYTHONOPTIMIZE": "2"},
        {"PYTHONSTARTUP": "planted.py", "PYTHONINSPECT": "1"},
        {"MYPY_CONFIG_FILE": "/dev/null", "MYPYPATH": ".", "RUFF_CONFIG": "/dev/null"},
        {"COVERAGE_PROCESS_START": "x", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PIP_INDEX_URL": "http://127.0.0.1:9"},
        {"GIT_DIR": "/nowhere", "GIT_WORK_TREE": "/nowhere", "GIT_INDEX_FILE": "/nowhere"},
    ],
    ids=lambda env: "-".join(env),
)
def test_the_caller_s_environment_changes_no_verdict(place, env):
    wanted = ("--base", "main", "--accept", "pytest tests/test_clamp.py")
    code, wrong = verify(place / "project", place / "home", *wanted, "--candidate", "wrong", **env)
    assert (code, wrong["decision"]) == (1, "fail"), wrong
    assert "acceptance" in {reason["kind"] for reason in wrong["reasons"]}
    code, right = verify(place / "project", place / "home", *wanted, "--candidate", "right", **env)
    assert (code, right["decision"]) == (0, "pass"), right


def test_every_cheat_is_refused_and_every_honest_patch_accepted(tmp_path):
    code, found = verify(tmp_path, tmp_path / "home", "--self-test")
    assert (found["false_accepts"], found["false_refusals"], found["other_kinds"]) == ([], [], [])
    assert (code, found["refused"], found["accepted"]) == (0, found["cheats"], found["honest"])
    print(f"{found['cheats']} cheats and {found['honest']} honest patches in {found['seconds']} s")
