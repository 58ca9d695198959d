"""Read the results of a test run from the JUnit XML that it wrote, and believe nothing that is not whole."""

from collections import Counter
from collections.abc import Callable
from typing import NamedTuple
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from agents.domain.reports import Outcome

LARGEST = 20_000_000
DEEPEST = 100
LONGEST_STORY = 2_000
NOT_RUN = ("notrun", "disabled", "skipped", "suppressed")


class Results(NamedTuple):
    """What a results file says: the outcome of each case, what it tells of those that did not pass, and the unstable.

    A case is named `classname::name`; of several with one name the second ends in ` (2)`. A test file that broke as a
    whole is an error under its own path, as it is for pytest: its cases are unknown. `flaky` passed when run again.
    """

    cases: dict[str, Outcome]
    stories: dict[str, str]
    flaky: tuple[str, ...]


def read_results(content: bytes, plain: Callable[[str], str], is_file: Callable[[str], bool]) -> Results:
    """Read a whole results file; ValueError, with the reason, for anything else.

    `plain` frees a text of the folders of this machine, `is_file` tells whether a name is a file of the repository.
    """
    cases: dict[str, Outcome] = {}
    stories: dict[str, str] = {}
    flaky = []
    seen: Counter[str] = Counter()
    for case in _parsed(content).iter("testcase"):
        name, outcome = plain(case.get("name", "")), _outcome(case)
        if is_file(name):
            if outcome == "passed":  # only says that the file ended, and goes as soon as there is a test in it
                continue
            outcome = "error" if outcome == "failed" else outcome
        else:
            name = f"{plain(case.get('classname', ''))}::{name}"
        seen[name] += 1
        name += f" ({seen[name]})" if seen[name] > 1 else ""
        cases[name] = outcome
        if outcome in ("failed", "error"):
            stories[name] = plain(_story(case))
        if any(child.tag in ("flakyFailure", "flakyError") for child in case):
            flaky.append(name)
    return Results(cases, stories, tuple(flaky))


def _parsed(content: bytes) -> Element:
    """Build the tree; a document type is refused, and with it all entities and what they could reach or blow up to."""
    if len(content) > LARGEST:
        raise ValueError(f"it is larger than {LARGEST} bytes")
    builder, depth = TreeBuilder(), 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > DEEPEST:
            raise ValueError(f"its elements are more than {DEEPEST} deep")
        builder.start(tag, attributes)

    def end(tag: str) -> None:
        nonlocal depth
        depth -= 1
        builder.end(tag)

    def refuse(*_: object) -> None:
        raise ValueError("it has a document type")

    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler, parser.StartDoctypeDeclHandler = builder.data, refuse
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        raise ValueError(f"it is no whole XML: {error}") from None
    root: Element = builder.close()
    if root.tag not in ("testsuites", "testsuite"):
        raise ValueError(f"it begins with <{root.tag[:40]}>, not with <testsuites> or <testsuite>")
    return root


def _outcome(case: Element) -> Outcome:
    tags = {child.tag for child in case}
    if "skipped" in tags or {case.get("status"), case.get("result")} & set(NOT_RUN):
        return "skipped"
    return "error" if "error" in tags else "failed" if "failure" in tags else "passed"


def _story(case: Element) -> str:
    told = next(child for child in case if child.tag in ("error", "failure"))
    message, text = told.get("message", ""), (told.text or "").strip()
    lines = text if message in text else f"{message}\n{text}"
    return "\n".join(line.rstrip() for line in lines.splitlines() if line.strip())[:LONGEST_STORY]
