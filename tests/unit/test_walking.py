"""Does the quick walk find what `ast.walk` finds, in its order?"""

import ast
import inspect

import pytest

from agents.domain.walking import children, nodes_of

HOLDING_NOTHING = (ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop)


@pytest.mark.parametrize("module", [ast, inspect, pytest])
def test_every_node_that_holds_something_is_found_in_order(module: object) -> None:
    tree = ast.parse(inspect.getsource(module))
    assert [node for node in ast.walk(tree) if not isinstance(node, HOLDING_NOTHING)] == [
        node for node in nodes_of(tree) if not isinstance(node, HOLDING_NOTHING)
    ]


def test_what_was_replaced_is_found_as_it_is_now() -> None:
    tree = ast.parse("def f(x: 'int') -> match: return {**x, 1: y}")
    argument = nodes_of(tree)[2].args[0]
    argument.annotation = ast.Name("int", ast.Load())
    assert [node.id for node in nodes_of(tree) if isinstance(node, ast.Name)] == ["match", "int", "x", "y"]
    assert [type(node) for node in children(argument)] == [ast.Name]
