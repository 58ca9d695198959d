"""What can this code do that product code rarely needs, and a cheat often does? Read from its syntax tree."""

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator

from agents.domain.answers import Functions, constant_answers, functions_of, own, truth
from agents.domain.loading import PLACES, loads
from agents.domain.names import IMPORTERS, Function, Names, Sighting, folded, parsed, unit_of, usual
from agents.domain.walking import children, nodes_of

UNPARSEABLE = "unparseable"


def _words(names: str) -> frozenset[str]:
    return frozenset(names.split())


def _in(module: str, names: str) -> frozenset[str]:
    return frozenset(f"{module}.{name}" for name in _words(names))


FLAGGED = (
    _in("sys", "_getframe _current_frames _current_exceptions settrace setprofile monitoring addaudithook call_tracing")
    | _in("sys", "meta_path path_hooks path_importer_cache path.insert")
    | _in("threading", "settrace setprofile settrace_all_threads setprofile_all_threads _register_atexit")
    | _in("inspect", "stack currentframe getouterframes getinnerframes trace")
    | _in("traceback", "walk_stack walk_tb extract_stack format_stack print_stack StackSummary")
    | _in("gc", "get_objects get_referrers get_referents")
    | _in("os", "_exit abort kill killpg fork forkpty register_at_fork posix_spawn posix_spawnp")
    | _in("os", "execl execle execlp execlpe execv execve execvp execvpe")
    | _in("signal", "signal alarm setitimer raise_signal pthread_kill siginterrupt set_wakeup_fd")
    | _in("builtins", "exec eval compile __import__ __builtins__ __dict__")
    | _in("importlib.machinery", "SourceFileLoader SourcelessFileLoader ExtensionFileLoader FileFinder PathFinder")
    | _in("importlib", "reload __import__ util.spec_from_file_location util.spec_from_loader")
    | _in("importlib", "util.module_from_spec util.LazyLoader abc.Loader abc.MetaPathFinder")
    | _in("pickle", "load loads Unpickler")
    | _in("marshal", "load loads")
    | _in("runpy", "run_path run_module")
    | _in("code", "InteractiveInterpreter InteractiveConsole interact")
    | _in("atexit", "register unregister _run_exitfuncs")
    | _in("pytest", "skip exit xfail fail importorskip")
    | {
        "pty.fork",
        "pkgutil.resolve_name",
        "pydoc.locate",
        *("site.addsitedir", "sys._getframemodulename"),
        *("unittest.SkipTest", "unittest.case.SkipTest"),
    }
)
CALLED = _in("types", "FunctionType CodeType ModuleType")
STREAMS = _in("sys", "stdin stdout stderr")
IMPORTS = _words("_pytest atexit cffi cloudpickle ctypes dill hypothesis imp mock pluggy pytest unittest zipimport")
UNMISTAKABLE = _words("_current_frames _exit _getframe currentframe get_referrers getouterframes setprofile settrace")
FRAMES = _words("ag_frame cr_frame f_back f_globals f_locals gi_frame tb_frame")
DANGEROUS = _words("builtins ctypes gc importlib inspect os signal sys")
PASSED = DANGEROUS - {"signal"}
ASKS = _words("delattr dir getattr hasattr setattr vars")
WRITES = _words("__delitem__ __setitem__ clear pop popitem setdefault update")
RUNNERS = ("pytest", "py.test", "unittest")
TEXT_TESTS = _words("count endswith find fullmatch index match search startswith")
TEST_FILE = re.compile(r"(\S*/)?(tests?/\S*|(test_\w+|\w+_test)\.py\S*)")
HARMLESS_PROC = ("/proc/cpuinfo", "/proc/loadavg", "/proc/meminfo", "/proc/stat", "/proc/uptime", "/proc/version")
USES = frozenset((ast.Attribute, ast.Name, ast.Subscript, ast.Call))
IMPORTING = frozenset((ast.Import, ast.ImportFrom))
SPELLS = frozenset((ast.Constant, ast.BinOp, ast.JoinedStr, ast.Call))
ANSWERING = frozenset((ast.FunctionDef, ast.AsyncFunctionDef, ast.Assign, ast.Dict, ast.Call, ast.keyword))
EXITS = frozenset(("sys.exit", "builtins.exit", "builtins.quit"))
STOPS = ("SystemExit", "KeyboardInterrupt")
ENTRIES = _words("callback command group result_callback")


def capabilities(source: str) -> Counter[str]:
    """Count, by kind, what product code should not newly use; it is a tripwire for people, not a proof.

    A kind is the plain name of what is used ("os._exit"), whatever alias or text spells it, or a phrase.
    """
    return Counter(sighting.kind for sighting in sightings(source))


def sightings(source: str) -> tuple[Sighting, ...]:
    """Return every use with its line, in the order of the file; a file that cannot be parsed has just this."""
    tree = parsed(source)
    if tree is None:
        return (Sighting(UNPARSEABLE, 1),)
    try:
        names, functions, found = Names(tree), functions_of(tree), []
        parts = [(statement, nodes_of(statement)) for statement in tree.body]
        looks = any(_names_runner(node) for _, nodes in parts for node in nodes)
        for statement, nodes in parts:
            seen = [*_found(nodes, names, functions), *(_looked(nodes, names) if looks else ())]
            unit = unit_of(statement) if seen else ""
            found += [Sighting(kind, getattr(node, "lineno", statement.lineno), unit) for kind, node in seen]
    except RecursionError:  # nested to break its reader
        return (Sighting(UNPARSEABLE, 1),)
    return tuple(sorted(found, key=lambda sighting: (sighting.line, sighting.kind)))


def _found(nodes: list[ast.AST], names: Names, functions: Functions) -> Iterator[tuple[str, ast.AST]]:
    for node in nodes:
        kind = type(node)
        if kind in USES:
            seen = (*_used(node, names), *_written(node, names), *loads(node, names, functions))
            yield from ((one, node) for one in seen)
        elif kind in IMPORTING:
            yield from ((one, node) for one in _imported(node))
        if kind in SPELLS:
            yield from ((one, node) for one in _spelled(node))
        if kind in ANSWERING:
            yield from ((one, node) for one in constant_answers(node, names, functions))
    if any(_may_exit(node, names) for node in nodes):
        yield from (("an exit as success", node) for node in _exits(nodes[0], names))
    yield from _passed_on(nodes, names)


def _looked(nodes: list[ast.AST], names: Names) -> Iterator[tuple[str, ast.AST]]:
    scopes = [node for node in nodes if isinstance(node, Function) or node is nodes[0]]
    yield from (("a look for the test runner", node) for scope in scopes for node in _runner_looks(scope, names))


def _imported(node: ast.AST) -> set[str]:
    """Return what a statement imports, each once: one more name of a module is no new import of it."""
    match node:
        case ast.Import(names=names):
            return {kind for one in names for kind in _import_kinds(one.name, "")}
        case ast.ImportFrom(module=module, names=names, level=level):
            return {kind for one in names for kind in _import_kinds(module or "", one.name, level > 0)}
    return set()


def _import_kinds(module: str, name: str, relative: bool = False) -> Iterator[str]:
    whole = f"{module}.{name}" if name else module
    parts, meant = whole.split("."), usual(whole).split(".")
    folders = parts[:-1] if name else parts
    if not relative:
        yield from (f"import of {top}" for top in {parts[0], meant[0]} & IMPORTS)
        if name == "*" and meant[0] in DANGEROUS:
            yield f"star import of {meant[0]}"
        yield from {".".join(meant[:end]) for end in range(1, len(meant) + 1)} & FLAGGED
    inside = any(part in ("tests", "__tests__", "conftest") or part.startswith("test_") for part in parts)
    if inside or any(part.endswith("_test") for part in folders) or (parts[0] == "test" and not relative):
        yield "import of tests"


def _used(node: ast.AST, names: Names) -> Iterator[str]:
    if meanings := names.of(node):
        yield from meanings & FLAGGED
        yield from (f"computed attribute of {module}" for module in DANGEROUS if f"{module}.__dict__" in meanings)
    if isinstance(node, ast.Attribute):
        if node.attr in FRAMES:
            yield "a frame's variables"
        if node.attr in UNMISTAKABLE and not names.of(node) & FLAGGED:
            yield node.attr
    if isinstance(node, ast.Call):
        yield from _called(node, names)


def _passed_on(nodes: list[ast.AST], names: Names) -> Iterator[tuple[str, ast.AST]]:
    """Yield where a dangerous module goes where its name cannot be followed: into a list, an argument, an object."""
    loads = (node for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))
    modules = [(node, meant) for node in loads if (meant := names.of(node) & PASSED)]
    if not modules:
        return
    read = {node.value for node in nodes if isinstance(node, ast.Attribute)}
    asked = {
        node.args[0]
        for node in nodes
        if isinstance(node, ast.Call) and node.args and isinstance(node.func, ast.Name) and node.func.id in ASKS
    }
    known = {*read, *asked, *names.followed}
    for node, meant in modules:
        if node not in known:
            yield from ((f"the module {one} as a value", node) for one in meant)


def _called(call: ast.Call, names: Names) -> Iterator[str]:
    called = names.of(call.func)
    first = names.of(call.args[0]) if call.args else frozenset()
    if "builtins.getattr" in called and len(call.args) > 1 and not _is_told(call.args[1]):
        yield from (f"computed attribute of {module}" for module in first & DANGEROUS)
    if called & {"builtins.setattr", "builtins.delattr"}:
        name = folded(call.args[1]) if len(call.args) > 1 else None
        yield from _patches(first, name or "(computed)", names)
    yield from called & CALLED
    yield from (
        f"write to {place}"
        for place in ("sys.modules", "sys.meta_path")
        for name in WRITES
        if f"{place}.{name}" in called
    )
    if called & IMPORTERS:
        for meaning in names.of(call):
            yield from _import_kinds(meaning, "")


def _is_told(name: ast.expr) -> bool:
    """Say whether a computed name is known well enough: no flagged one starts like a constant of the system."""
    starts = folded(name.values[0]) if isinstance(name, ast.JoinedStr) and name.values else folded(name)
    return bool(starts) and (folded(name) is not None or str(starts)[:1].isupper())


def _written(node: ast.AST, names: Names) -> Iterator[str]:
    match node:
        case ast.Attribute(value=value, attr=attribute, ctx=ast.Store() | ast.Del()):
            yield from _patches(names.of(value), attribute, names)
        case ast.Subscript(value=value, slice=key, ctx=ast.Store() | ast.Del()):
            meanings = names.of(value)
            yield from (f"write to {place}" for place in meanings & {"sys.modules", "sys.path", "sys.path_hooks"})
            modules = {meaning.removesuffix(".__dict__") for meaning in meanings if meaning.endswith(".__dict__")}
            yield from _patches(frozenset(modules), folded(key) or "(computed)", names)


def _patches(objects: frozenset[str], attribute: str, names: Names) -> Iterator[str]:
    """Yield what is changed in modules, and in what is borrowed from the standard library or a test library."""
    for one in objects:
        top, *below = one.split(".")
        foreign = top in sys.stdlib_module_names or top in IMPORTS or "testing" in below
        whole = f"{one}.{attribute}"
        if whole not in STREAMS and (one in names.modules or (foreign and (one in names.borrowed or not below))):
            yield f"patch of {whole}"


def _spelled(node: ast.AST) -> Iterator[str]:
    text = folded(node)
    if not text:
        return
    if "PYTEST" in text or "CURRENT_TEST" in text:
        yield "the text PYTEST"
    if text in UNMISTAKABLE or text in FRAMES or text in ("__builtins__", "__loader__", *PLACES):
        yield f"the text {text}"
    if TEST_FILE.fullmatch(text):  # a path and nothing else: a sentence may speak of tests
        yield "the name of a test file"
    if (text == "/proc" or text.startswith("/proc/")) and text not in HARMLESS_PROC:
        yield "the text /proc"


def _runner_looks(scope: ast.AST, names: Names) -> Iterator[ast.AST]:
    """Yield where a function that knows the loaded modules, or the command line, compares with a runner's name."""
    inside = list(own(scope)) if isinstance(scope, Function) else list(_outside_functions(scope))
    meanings = {meaning for node in inside if isinstance(node, ast.Attribute | ast.Name) for meaning in names.of(node)}
    if "sys.modules" in meanings:
        yield from (node for node in inside if _names_runner(node))
    elif meanings & {"sys.argv", "sys.orig_argv", "sys._xoptions"}:
        yield from (part for node in inside if _is_test_of_text(node) for part in ast.walk(node) if _names_runner(part))


def _outside_functions(scope: ast.AST) -> Iterator[ast.AST]:
    waiting: list[ast.AST] = [scope]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(child for child in children(node) if not isinstance(child, Function))


def _is_test_of_text(node: ast.AST) -> bool:
    asks = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in TEXT_TESTS
    return asks or isinstance(node, ast.Compare | ast.MatchValue)


def _names_runner(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and any(runner in (folded(node) or "") for runner in RUNNERS)


def _exits(statement: ast.AST, names: Names) -> Iterator[ast.AST]:
    """Yield what ends the process as a success, or the tests, outside of a main function, a command or a main guard."""
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        if _is_entry(node):
            waiting.extend(node.orelse if isinstance(node, ast.If) else ())
            continue
        match node:
            case ast.Call(func=func, args=args) if names.of(func) & EXITS or getattr(func, "id", "") == "SystemExit":
                if not args or truth(args[0]) is False:
                    yield node
            case ast.Raise(exc=ast.Name(id="SystemExit" | "KeyboardInterrupt")):
                yield node
            case ast.Raise(exc=ast.Call(func=ast.Name(id="KeyboardInterrupt"))):
                yield node
        waiting.extend(children(node))


def _may_exit(node: ast.AST, names: Names) -> bool:
    return getattr(node, "id", "") in STOPS or (isinstance(node, ast.Call) and bool(names.of(node.func) & EXITS))


def _is_entry(node: ast.AST) -> bool:
    match node:
        case ast.FunctionDef(name=name, decorator_list=marks) | ast.AsyncFunctionDef(name=name, decorator_list=marks):
            called = [mark.func if isinstance(mark, ast.Call) else mark for mark in marks]
            return bool({"main", "cli"} & set(name.split("_"))) or any(
                isinstance(mark, ast.Attribute) and mark.attr in ENTRIES for mark in called
            )
        case ast.If(
            test=ast.Compare(left=ast.Name(id="__name__"), ops=[ast.Eq()], comparators=[ast.Constant(value=name)])
        ):
            return name == "__main__"
    return False
