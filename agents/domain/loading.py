"""Does this code run other code that no reader of the change has seen? Read from its syntax tree."""

import ast
from collections.abc import Iterator

from agents.domain.answers import Functions
from agents.domain.names import Names, folded

PLACES = frozenset(("__path__", "submodule_search_locations"))
GROWS = frozenset(("append", "extend", "insert", "__iadd__", "__setitem__"))
ARCHIVES = (".zip", ".whl", ".egg", ".pyz")
RUNS_TEXT = frozenset(
    [f"timeit.{name}" for name in ("timeit", "repeat", "Timer")]
    + [f"{module}.{name}" for module in ("cProfile", "profile") for name in ("run", "runctx", "Profile.run")]
    + [f"pdb.{name}" for name in ("run", "runeval")]
    + [f"doctest.{name}" for name in ("run_docstring_examples", "debug_src", "DocTestRunner", "testfile")]
    + ["bdb.Bdb", "pydoc.importfile", "trace.Trace", "typing.ForwardRef"]
)
LOADS = frozenset(("exec_module", "load_module", "source_to_code"))
LOADERS = frozenset(("pkgutil.get_importer", "pkgutil.find_loader", "pkgutil.get_loader", "pkgutil.ImpImporter"))


def loads(node: ast.AST, names: Names, functions: Functions) -> Iterator[str]:
    """Yield the ways to code in texts, archives and folders that are made while the product runs."""
    match node:
        case ast.Call(func=ast.Attribute(value=place, attr=attr), args=given) if attr in GROWS:
            if "sys.path" in names.of(place) and not all(map(_is_folder_of_the_repository, given)):
                yield "write to sys.path"
        case ast.Attribute(value=place, attr=attr) if attr in GROWS and _name(place) in PLACES:
            yield f"write to {_name(place)}"
        case ast.Attribute(attr=attr, ctx=ast.Store()) | ast.Name(id=attr, ctx=ast.Store()) if attr in PLACES:
            yield f"write to {attr}"
        case ast.Subscript(value=place, ctx=ast.Store()) if _name(place) in PLACES:
            yield f"write to {_name(place)}"
        case ast.Call(func=func) if names.of(func) & RUNS_TEXT and not _is_given_a_function(node, functions):
            yield from names.of(func) & RUNS_TEXT
    if isinstance(node, ast.Attribute | ast.Name):
        yield from names.of(node) & LOADERS
        if _name(node) == "__loader__" or (_name(node) in LOADS and not _is_own(node)):
            yield _name(node)


def _name(node: ast.AST) -> str:
    return str(getattr(node, "attr", getattr(node, "id", "")))


def _is_folder_of_the_repository(given: ast.expr) -> bool:
    """Say whether a new place of modules is one whose files are read: it is spelled, or lies beside this file."""
    parts = list(ast.walk(given))
    archive = any((folded(part) or "").lower().endswith(ARCHIVES) for part in parts)
    return not archive and (folded(given) is not None or any(_name(part) == "__file__" for part in parts))


def _is_own(node: ast.AST) -> bool:
    """Say whether this is a method that a class has for itself, or a name of the file."""
    return isinstance(node, ast.Name) or _name(getattr(node, "value", node)) in ("self", "cls")


def _is_given_a_function(call: ast.AST, functions: Functions) -> bool:
    first = next(iter(getattr(call, "args", ())), None)
    return isinstance(first, ast.Lambda) or getattr(first, "id", "") in functions
