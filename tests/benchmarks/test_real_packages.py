"""Is the gate fair to libraries as they are, with their tests, builds and habits, and does it see a fault in them?"""

import time

import pytest
from published import PACKAGES, fetch, repository

from flows.judging import Question, judged

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(1800)]
FALSE = {"pass_to_pass", "diagnostics", "infra", "flaky", "capability", "suppression", "configuration", "protected"}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with the source archives, and one home for all: the tools of the libraries are fetched once."""
    root = tmp_path_factory.mktemp("packages")
    (root / "archives").mkdir()
    fetch(PACKAGES, root / "archives")
    return root


def ask(place, package, base, candidate, *accept):
    found = judged(str(place / package.name), Question(base, candidate, accept=accept))
    return found["decision"], {reason["kind"] for reason in found["reasons"]}, found


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)
def test_a_library_is_judged_as_its_authors_would(place, package, monkeypatch):
    monkeypatch.setenv("LRA_HOME", str(place / "home"))
    repository(package, place / "archives", place / package.name)
    notices, started, told = f"pytest {package.noticing}", time.monotonic(), []
    for candidate in ("main", "noted"):
        for accept in ((), (notices,)):
            decision, kinds, found = ask(place, package, "main", candidate, *accept)
            assert decision != "pass", found
            assert not kinds & FALSE, found
            assert not found["pass_to_pass_broken"], found
            told.append(f"{decision} {'+'.join(sorted(kinds))}")
    mended, kinds, found = ask(place, package, "faulty", "main", notices)
    assert (mended, kinds) == ("pass", set()), found
    broken, kinds, found = ask(place, package, "main", "faulty")
    assert broken == "fail", found
    assert "pass_to_pass" in kinds, found
    assert any(case.startswith(package.noticing) for case in found["pass_to_pass_broken"]), found
    told = " | ".join(told)
    print(f"\n{package.name:15} {time.monotonic() - started:5.1f} s  itself, noted: {told}; mended {mended}; {broken}")
