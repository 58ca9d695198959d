"""Which scripts of the repository does a check run, whatever stands before them?"""

import pytest

from agents.domain.programs import programs_of

RUNS = [
    ("python tools/check.py", "tools/check.py"),
    ("python -W error tools/check.py", "tools/check.py"),
    ("PYTHONPATH=. python tools/check.py", "tools/check.py"),
    ("env -i A=1 python3.11 tools/check.py", "tools/check.py"),
    ("timeout 60 sh tools/check.sh", "tools/check.sh"),
    ("cd tools && python check.py", "tools/check.py"),
    ("sh -c 'cd tools; ./check'", "tools/check"),
    ("uv run tools/check.py", "tools/check.py"),
    ("true && ./check", "check"),
    ("node tools/check.mjs --all", "tools/check.mjs"),
]
RUNS_NONE = ["python -m tools.check", "python -c 'import a'", "node -e 1", "python 'tools/check.py"]


@pytest.mark.parametrize(("check", "script"), RUNS)
def test_a_script_is_found_behind_what_starts_it(check: str, script: str) -> None:
    assert script in programs_of(check)


@pytest.mark.parametrize("check", RUNS_NONE)
def test_a_module_a_text_and_an_open_quote_name_no_script(check: str) -> None:
    assert "tools/check.py" not in programs_of(check)
