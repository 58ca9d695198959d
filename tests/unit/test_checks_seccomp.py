"""Does the kernel deny what no check needs, and does honest work go on under the filter?"""

import os
import shutil
import signal
import struct
import sys
from pathlib import Path

import pytest

from tasks.checks.inside import seccomp
from tasks.checks.sandbox import Command, Policy, backends, choice, folders_of
from tasks.checks.sandbox.running import run_with

FENCED = {one.word: one for one in backends.fenced() if one.filtered and choice._proves(one, fenced=True)}
SPACED = {**FENCED, choice.for_tools().word: choice.for_tools()} if choice.for_tools().filtered else FENCED
CALL = "import ctypes, os; libc = ctypes.CDLL(None, use_errno=True)\n"
pytestmark = pytest.mark.skipif(not FENCED, reason="this machine can apply no filter of system calls")


def run(backend, tree, *argv, **env):
    policy = Policy(writable=(tree,), readable=folders_of(Path(sys.executable)))
    env = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(tree), "LANG": "C.UTF-8", **env}
    policy = policy if backend.word in FENCED else None
    return run_with(backend, Command(argv=argv, cwd=tree, env=env, seconds=60, policy=policy))


def python(backend, tree, code):
    return run(backend, tree, sys.executable, "-I", "-c", code)


@pytest.fixture
def tree(tmp_path):
    (tmp_path / "tree").mkdir()
    return tmp_path / "tree"


@pytest.fixture(params=FENCED.values(), ids=lambda one: one.word.partition(" (")[0])
def fenced(request):
    return request.param


@pytest.fixture(params=SPACED.values(), ids=lambda one: one.word.partition(" (")[0])
def spaced(request):
    return request.param


def test_every_call_that_is_named_is_denied(tree, fenced):
    which = list(seccomp.ARCHITECTURES).index(os.uname().machine)
    numbers = [pair[which] for pair in seccomp.DENIED.values() if pair[which] is not None]
    said = python(fenced, tree, f"{CALL}for n in {numbers}: print(libc.syscall(n, 0, 0, 0, 0), ctypes.get_errno())")
    assert said.output.splitlines() == ["-1 1"] * len(numbers)


def test_no_namespace_of_its_own(tree, spaced):
    said = run(spaced, tree, "unshare", "--user", "true")
    assert (said.exit, "Operation not permitted" in said.output) == (1, True)


@pytest.mark.skipif(os.uname().machine != seccomp.X86_64, reason="x32 is a thing of x86_64")
def test_the_second_numbers_of_the_same_calls_are_death(tree, spaced):
    said = python(spaced, tree, f"{CALL}libc.syscall(ctypes.c_long({seccomp.X32 | 39}))")
    assert said.exit == 128 + signal.SIGSYS


def test_threads_processes_and_pipes_go_on(tree, spaced):
    code = (
        "import multiprocessing as m, threading, subprocess, asyncio\n"
        "if __name__ == '__main__':\n"
        "    t = threading.Thread(target=print, args=('thread',), daemon=True); t.start(); t.join()\n"
        "    for how in ('fork', 'spawn', 'forkserver'):\n"
        "        with m.get_context(how).Pool(2) as pool: print(how, sum(pool.map(abs, [-1, -2])))\n"
        "    print(subprocess.run(['sh', '-c', 'echo child | cat'], capture_output=True, text=True).stdout.strip())\n"
        "    async def tell(): print((await (await asyncio.create_subprocess_exec('true')).wait()))\n"
        "    asyncio.run(tell())\n"
    )
    (tree / "many.py").write_text(code)
    said = run(spaced, tree, sys.executable, "-I", "many.py")
    assert said.output.split() == ["thread", "fork", "3", "spawn", "3", "forkserver", "3", "child", "0"]


def test_parallel_pytest_goes_on(tree, spaced):
    (tree / "test_one.py").write_text("def test_one(tmp_path): pass\ndef test_two(): pass\n")
    said = run(spaced, tree, sys.executable, "-m", "pytest", "-q", "-n2", "-p", "no:cacheprovider", "test_one.py")
    assert (said.exit, "2 passed" in said.output) == (0, True), said.output


def test_git_goes_on(tree, spaced):
    who = {f"GIT_{role}_{what}": "a@b.c" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    said = run(spaced, tree, "sh", "-c", "git init -q . && git commit -q --allow-empty -m x && git gc -q", **who)
    assert (said.exit, said.output) == (0, "")


@pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no compiler on this machine")
def test_a_compiler_goes_on(tree, spaced):
    (tree / "one.c").write_text('#include <stdio.h>\nint main(void) { puts("made"); return 0; }\n')
    assert run(spaced, tree, "sh", "-c", "gcc -O2 -pipe one.c -o one && ./one").output == "made\n"


@pytest.mark.skipif(shutil.which("node", path="/usr/bin:/usr/local/bin") is None, reason="there is no node here")
def test_node_and_its_threads_go_on(tree, spaced):
    code = (
        "const { Worker } = require('worker_threads');"
        "const inner = 'require(\"worker_threads\").parentPort.postMessage(42)';"
        "require('fs').promises.writeFile('f', 'x').then(() =>"
        "  new Worker(inner, { eval: true }).on('message', console.log))"
    )
    assert run(spaced, tree, "node", "-e", code).output == "42\n"


def decided(machine, number, argument=0, architecture=None):
    """Run the filter as the kernel does, and return what it says of a call."""
    shown = {seccomp.NUMBER: number, seccomp.FIRST_ARGUMENT: argument}
    shown[seccomp.ARCHITECTURE] = architecture or seccomp.ARCHITECTURES[machine]
    steps = list(struct.iter_unpack("=HBBI", seccomp.program(machine)))
    at = value = 0
    while steps[at][0] != seccomp.RETURN:
        code, yes, no, operand = steps[at]
        if code in (seccomp.EQUAL, seccomp.AT_LEAST):
            at += yes if value == operand or (code == seccomp.AT_LEAST and value > operand) else no
        value = shown[operand] if code == seccomp.LOAD else value & operand if code == seccomp.AND else value
        at += 1
    return steps[at][3]


@pytest.mark.parametrize("machine", seccomp.ARCHITECTURES)
def test_the_filter_says_the_same_on_every_machine(machine):
    which = list(seccomp.ARCHITECTURES).index(machine)
    for pair in seccomp.DENIED.values():
        assert pair[which] is None or decided(machine, pair[which]) == seccomp.DENY
    assert decided(machine, seccomp.CLONE3[which]) == seccomp.ABSENT
    for call in (seccomp.CLONE, seccomp.UNSHARE):
        assert decided(machine, call[which], 0x00000F11) == seccomp.ALLOW
        assert decided(machine, call[which], 1 << 29 | 17) == seccomp.DENY
    wanted = {0: seccomp.ALLOW, 0xFFFFFFFF: seccomp.ALLOW, 0x0040000: seccomp.DENY, 8: seccomp.DENY}
    assert {one: decided(machine, seccomp.PERSONALITY[which], one) for one in wanted} == wanted
    assert [decided(machine, number) for number in (0, 63, 64)] == [seccomp.ALLOW] * 3
    assert decided(machine, 0, architecture=0x40000003) == seccomp.KILL


def test_a_machine_without_a_filter_says_so(monkeypatch):
    monkeypatch.setattr(seccomp, "knows", lambda machine: False)
    offered = [*backends.fenced(), *backends.unfenced()]
    assert offered
    assert all("no seccomp" in one.word and not one.filtered for one in offered)


def test_a_backend_that_only_says_that_it_filters_is_not_used():
    loose = backends.Backend("x", next(one for one in backends.fenced() if not one.filtered).argv, filtered=True)
    assert not choice._proves(loose._replace(uid=backends.NOBODY if os.geteuid() == 0 else None), fenced=True)
