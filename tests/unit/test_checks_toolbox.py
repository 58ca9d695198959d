"""Is one changed byte of a tool another key, and is what did not change not read again?"""

import os
import shutil
import time
from importlib import metadata
from pathlib import Path

import pytest

from tasks.checks import toolbox
from tasks.checks.measure import gate_digest


@pytest.fixture
def tools(tmp_path, monkeypatch):
    """A copy of pluggy that LRA takes for the one that it uses."""
    site = tmp_path / "site"
    for name in metadata.distribution("pluggy").files:
        target = site / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(metadata.distribution("pluggy").locate_file(name), target)
    copied = next(metadata.Distribution.discover(name="pluggy", path=[str(site)]))
    found = {"pluggy": copied}
    real = metadata.distribution
    monkeypatch.setattr(toolbox.metadata, "distribution", lambda name: found.get(name) or real(name))
    return site / "pluggy"


def change(file, same_time=False):
    """Change one byte, and if wanted keep the size and the time of the last change as tar and rsync do."""
    before, text = file.stat(), file.read_bytes()
    file.write_bytes(bytes([text[0] ^ 1]) + text[1:])
    if same_time:
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.parametrize("same_time", [False, True])
def test_one_byte_of_a_tool_is_another_gate(tools, tmp_path, same_time, monkeypatch):
    monkeypatch.setattr(toolbox, "SETTLED_NS", 0)
    before = gate_digest(tmp_path)
    assert gate_digest(tmp_path) == before
    change(tools / "_manager.py", same_time)
    changed = gate_digest(tmp_path)
    change(tools / "_manager.py", same_time)
    assert (changed != before, gate_digest(tmp_path)) == (True, before)


def test_bytecode_is_no_tool(tools, tmp_path):
    before = toolbox.tools_digest(tmp_path)
    (tools / "__pycache__").mkdir(exist_ok=True)
    (tools / "__pycache__" / "x.pyc").write_bytes(b"x")
    assert toolbox.tools_digest(tmp_path) == before


def test_a_binary_and_a_type_stub_are_tools():
    named = {Path(path).name for path in toolbox._of_tools()}
    assert {"ruff", "uv", "builtins.pyi", "__init__.py"} <= named
    assert all(Path(path).is_file() for path in toolbox._of_tools() if path.endswith((".py", ".so", "bin/ruff")))


def test_what_did_not_change_is_not_read_again(tmp_path, monkeypatch):
    before = toolbox.tools_digest(tmp_path)
    monkeypatch.setattr(toolbox, "_sha256", lambda path: pytest.fail(f"{path} was read again"))
    assert toolbox.tools_digest(tmp_path) == before


def test_what_changed_just_now_is_not_trusted(tools, tmp_path):
    change(tools / "hooks.py" if (tools / "hooks.py").exists() else tools / "_hooks.py")
    toolbox.tools_digest(tmp_path)
    assert not (tmp_path / "digests").exists()


@pytest.fixture
def made(tmp_path):
    """An environment with a lent pytest and with one of its own."""
    for name in ("tools/pytest/a.py", "lib/python3.11/site-packages/_pytest/b.py", "pyvenv.cfg"):
        (tmp_path / "made" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "made" / name).write_text("x")
    return tmp_path / "made"


@pytest.mark.parametrize("name", ["tools/pytest/a.py", "_pytest/b.py", "new.pth", "sitecustomize.py"])
def test_a_changed_runner_of_an_environment_is_seen(made, tmp_path, name):
    before = toolbox.runner_digest(made, tmp_path)
    place = made if name.startswith("tools") else made / "lib/python3.11/site-packages"
    (place / name).write_text("y")
    assert toolbox.runner_digest(made, tmp_path) != before


def test_other_packages_of_an_environment_are_not_read(made, tmp_path):
    before = toolbox.runner_digest(made, tmp_path)
    (made / "lib/python3.11/site-packages/numpy.py").write_text(str(time.time()))
    assert toolbox.runner_digest(made, tmp_path) == before
