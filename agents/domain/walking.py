"""Which parts does a syntax tree have? What `ast.walk` finds, several times sooner, for changes of many files."""

import ast

BARE = frozenset(("ctx", "op", "ops", "id", "attr", "arg", "kind", "type_comment", "level", "module", "conversion"))
FIELDS = {
    kind: () if kind is ast.Constant else tuple(name for name in kind._fields if name not in BARE)
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST)
}


def children(node: ast.AST) -> list[ast.AST]:
    """Return the direct parts of a node in their order, but for contexts and operators, which hold nothing."""
    found: list[ast.AST] = []
    for name in FIELDS.get(type(node), ()):
        value = getattr(node, name, None)
        if isinstance(value, ast.AST):
            found.append(value)
        elif type(value) is list:
            found += [each for each in value if isinstance(each, ast.AST)]
    return found


def nodes_of(node: ast.AST) -> list[ast.AST]:
    """Return a node with all that it holds, level by level, as the tree is now."""
    found = [node]
    for each in found:
        found += children(each)
    return found
