"""Is a base on which no test can start told from one on which tests only fail?"""

import pytest

from agents.domain.checklist import Item
from agents.domain.reports import CheckReport, Report
from tasks.checks.pytest import CONFIGURATION
from tasks.orient import startless

ITEM = Item(id="clamp", description="there is a clamp")
USAGE = "ERROR pytest configuration\nERROR: usage: pytest [options]\npytest: error: unrecognized arguments: --cov=x"
PLUGIN = "ERROR pytest configuration\nERROR: Missing required plugins: pytest-asyncio"
EXIT = "ImportError while loading conftest 'conftest.py'.\nE   _pytest.outcomes.Exit: start the database first"
IMPORT = "ImportError while loading conftest 'conftest.py'.\nconftest.py:1: in <module>\nE   ImportError: no clamp yet"


def told(details: str, case: str = CONFIGURATION, item: Item = ITEM) -> list[str]:
    check = CheckReport(check="tests", kind="pytest", cases={case: "error"}, details=details)
    return list(startless(Report(tree="1" * 40, environment="none", sandbox="none", suites=(check,)), item))


@pytest.mark.parametrize(
    ("details", "why"),
    [
        (USAGE, "unrecognized arguments: --cov=x"),
        (PLUGIN, "Missing required plugins: pytest-asyncio"),
        (EXIT, "start the database first"),
    ],
)
def test_what_no_code_can_mend_is_told_with_its_reason(details, why):
    assert told(details) == [f"tests: pytest does not start: {why}"]


def test_what_the_item_may_mend_is_left_to_it():
    assert told(IMPORT) == []
    assert told(EXIT, item=ITEM.model_copy(update={"may_edit": ("conftest.py",)})) == []


def test_a_test_that_cannot_be_imported_is_only_red():
    assert told("E   ModuleNotFoundError: No module named 'clamp'", case="tests/test_clamp.py") == []
