"""Would the tests notice that nothing is there? A module whose changed functions do nothing at all."""

import ast


def hollow(source: str, lines: frozenset[int]) -> str | None:
    """Return the module with the body of every function that `lines` touch replaced by `return None`.

    All else stays as it is, byte for byte. None when it is no Python, or when no function was touched.
    """
    try:
        module = ast.parse(source)
    except (SyntaxError, ValueError):
        return None
    rows = source.encode().splitlines(keepends=True)
    touched = [found for found in _outermost(module) if lines & set(range(found.lineno, (found.end_lineno or 0) + 1))]
    for function in reversed(touched):
        first, last = function.body[0], function.body[-1]
        start, end = (first.lineno, first.col_offset), (last.end_lineno or 0, last.end_col_offset or 0)
        head, tail = rows[start[0] - 1][: start[1]], rows[end[0] - 1][end[1] :]
        rows[start[0] - 1 : end[0]] = [head + b"return None" + tail]
    return b"".join(rows).decode() if touched else None


def _outermost(node: ast.AST) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Return functions and methods in the order of the text, without those inside of them."""
    found: list[ast.FunctionDef | ast.AsyncFunctionDef] = []
    for child in ast.iter_child_nodes(node):
        found += [child] if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) else _outermost(child)
    return found
