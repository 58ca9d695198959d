"""What silences a check, and what only looks so?"""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.domain.suppressions import CHECKS, rises, sightings, silences, suppressions

COMMENTS = [
    ("x = 1  # noqa", {"noqa": 1, "noqa [everything]": 1}),
    ("x = 1  #NoQA", {"noqa": 1, "noqa [everything]": 1}),
    ("x = 1  # noqa: E501, F401  why", {"noqa": 1, "noqa [E501]": 1, "noqa [F401]": 1}),
    ("x = 1  # noqa:E501", {"noqa": 1, "noqa [E501]": 1}),
    ("# ruff: noqa", {"ruff: noqa": 1, "ruff: noqa [everything]": 1}),
    ("# flake8: noqa", {"ruff: noqa": 1, "ruff: noqa [everything]": 1}),
    ("# ruff: noqa: F401", {"ruff: noqa": 1, "ruff: noqa [F401]": 1}),
    ("x = 1  # type: ignore", {"type: ignore": 1, "type: ignore [everything]": 1}),
    (
        "x = 1  # type: ignore[arg-type, misc]",
        {"type: ignore": 1, "type: ignore [arg-type]": 1, "type: ignore [misc]": 1},
    ),
    ("# type: ignore", {"type: ignore": 1, "type: ignore [everything]": 1, "type: ignore [the whole file]": 1}),
    ("# mypy: ignore-errors", {"mypy:": 1, "mypy: [ignore-errors]": 1}),
    ("# pyright: basic", {"pyright:": 1, "pyright: [basic]": 1}),
    ("x = 1  # pragma: no cover", {"pragma: no cover": 1}),
    ("x = f(\n    1,  # type: ignore # noqa\n)", {"type: ignore": 1, "noqa": 1}),
    ("\tx = 1  # noqa".strip(), {"noqa": 1}),
]

CODE = [
    ("from typing import Any\ndef f(x: Any): ...", {"Any": 1}),
    ("import typing as t\ndef f(x: t.Any) -> 't.Any': ...", {"Any": 2}),
    ("from typing import Any as A\nx: list[A] = []", {"Any": 1}),
    ("from typing import Any\nx: 'dict[int, \"Any\"]' = {}", {"Any": 1}),
    ("from typing_extensions import Any\nx: Any | None = None", {"Any": 1}),
    ("import typing\nAnything = typing.Any", {"Any": 1}),
    ("from typing import Any, Callable\nx: Callable[[int], Any] = f", {"Any": 1}),
    ("from typing import Any, Coroutine\ndef f(c: Coroutine[Any, Any, Any]): ...", {"Any": 1}),
    ("from typing import Any\nclass A:\n    def __eq__(self, other: Any) -> Any: ...", {"Any": 1}),
    ("from typing import cast\nx = cast(int, y)", {"cast": 1}),
    ("import typing\n@typing.no_type_check\ndef f(): ...", {"no_type_check": 1}),
    ("from typing import TYPE_CHECKING as T\nif not T:\n    def f(): ...", {"code under not TYPE_CHECKING": 1}),
    (
        "import typing\nif typing.TYPE_CHECKING:\n    x = 1\nelse:\n    def f(): ...",
        {"code under not TYPE_CHECKING": 1},
    ),
    ("import pytest\n@pytest.mark.skip\ndef test(): ...", {"skip": 1}),
    ("import pytest as p\npytestmark = [p.mark.xfail(reason='x')]", {"skip": 1}),
    ("from pytest import mark as m\n@m.skip\ndef test(): ...", {"skip": 1}),
    ("import pytest\n@getattr(pytest.mark, 'sk' + 'ip')\ndef test(): ...", {"skip": 1}),
    ("import pytest\n@pytest.mark.skipif(True, reason='')\ndef test(): ...", {"skip": 1}),
    ("import os, pytest\n@pytest.mark.skipif('CI' not in os.environ, reason='')\ndef test(): ...", {"skip": 1}),
    ("import pytest\ndef test():\n    if True:\n        pytest.skip('')", {"skip": 1}),
    ("import sys, pytest\ndef test():\n    pytest.skip(f'not on {sys.platform}')", {"skip": 1}),
    ("import unittest\n@unittest.skip('x')\nclass A: ...", {"skip": 1}),
    ("class A:\n    def test(self):\n        self.skipTest('x')", {"skip": 1}),
    ("class TestA:\n    __test__ = False", {"skip": 1}),
    ("import pytest\nx = pytest.importorskip('x')", {"conditional skip": 1}),
    (
        "import sys, pytest\n@pytest.mark.skipif(sys.platform == 'win32', reason='')\ndef test(): ...",
        {"conditional skip": 1},
    ),
    ("import pytest\n@pytest.mark.skipif('sys.platform == \"x\"')\ndef test(): ...", {"conditional skip": 1}),
    ("import os, unittest\n@unittest.skipUnless(os.name == 'nt', '')\ndef test(): ...", {"conditional skip": 1}),
    (
        "import shutil, pytest\ndef test():\n    if not shutil.which('x'):\n        pytest.skip('')",
        {"conditional skip": 1},
    ),
    ("import pytest\ntry:\n    import x\nexcept ImportError:\n    pytest.skip('')", {"conditional skip": 1}),
]

HONEST = [
    "x = '# noqa'",
    "'''\n# type: ignore\n# noqa\n'''",
    "# noqaa, and a word on type: ignoring",
    "# ignore the type here",
    "from typing import Any\ndef f(*args: Any, **kwargs: Any): ...",
    "from typing import Any\ndef f(x: dict[str, Any]) -> 'dict[str, Any]': ...",
    "from typing import Any, Callable\ndef f(x: Callable[..., Any]) -> Callable[[Callable[..., Any]], int]: ...",
    "from typing import Any, Generator\ndef f(c: 'Generator[int, Any, str]') -> Coroutine[Any, Any, int]: ...",
    "from typing import Any\nclass A:\n    def __exit__(self, kind: Any, error: Any, trace: Any) -> None: ...",
    "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from a import B\nelse:\n    B = object",
    "from typing import Literal\nx: Literal['Any'] = 'Any'",
    "def cast(x): ...\ncast(1)\nAny = 1\nx: Any = 2",
    "from sqlalchemy import cast\ncast(a, b)",
    "import pytest\n@pytest.mark.parametrize('x', [1])\ndef test(x):\n    with pytest.raises(OSError):\n        f(x)",
    "import unittest\nclass A(unittest.TestCase):\n    def test(self):\n        self.assertEqual(1, 1)",
    "for line in lines:\n    if skip(line):\n        continue",
    "x = any(y for y in z)",
]


@pytest.mark.parametrize(("source", "kinds"), COMMENTS)
def test_a_directive_is_counted_with_its_codes(source: str, kinds: dict[str, int]) -> None:
    assert kinds.items() <= suppressions(source).items()


@pytest.mark.parametrize(("source", "kinds"), CODE)
def test_a_mark_is_seen_in_every_spelling(source: str, kinds: dict[str, int]) -> None:
    assert suppressions(source) == kinds


@pytest.mark.parametrize("source", HONEST)
def test_what_silences_nothing_is_left_alone(source: str) -> None:
    assert suppressions(source) == {}


@pytest.mark.parametrize("source", ["def f(:  # noqa", "(" * 5000, "\0"])
def test_a_file_that_cannot_be_read_silences_nothing(source: str) -> None:
    assert suppressions(source) == {}


def test_a_line_end_of_old_hides_no_comment() -> None:
    assert next((one.kind, one.line) for one in sightings("x = 1\r\ny = 2 # noqa\r\n")) == ("noqa", 2)


@pytest.mark.parametrize(
    ("before", "after", "risen"),
    [
        ("x  # noqa: E501", "x  # noqa", {"noqa [everything]": 1}),
        ("x  # noqa: E501", "x  # noqa: E501, F401", {"noqa [F401]": 1}),
        ("x  # noqa", "x  # noqa: E501, F401", {}),
        ("x  # noqa", "x  # noqa: E501\ny  # noqa: E501", {"noqa": 1}),
        ("x  # type: ignore", "x  # type: ignore[misc]", {}),
        ("x  # type: ignore", "# type: ignore\nx", {"type: ignore [the whole file]": 1}),
        ("x  # noqa", "x", {}),
    ],
)
def test_only_what_silences_more_has_risen(before: str, after: str, risen: dict[str, int]) -> None:
    assert rises(suppressions(before), suppressions(after)) == risen


@pytest.mark.parametrize(
    ("kind", "check"), [("noqa [E501]", "lint"), ("type: ignore", "types"), ("mypy: [x]", "types"), ("skip", "tests")]
)
def test_a_kind_names_its_check(kind: str, check: str) -> None:
    assert silences(kind) == check


@settings(max_examples=100, derandomize=True, deadline=None)
@given(st.lists(st.sampled_from([*COMMENTS, *CODE]), max_size=4))
def test_every_kind_belongs_to_a_check_and_nothing_rises_by_itself(parts: list[tuple[str, dict[str, int]]]) -> None:
    found = suppressions("\n".join(source for source, _ in parts))
    assert {silences(kind) for kind in found} <= set(CHECKS.values())
    assert rises(found, found) == Counter()
