"""Who thinks? The record and the tree, cut to a size that does not grow with the age of the mission."""

from agents.domain.checklist import Item
from agents.domain.cycle import CycleResult, Knobs
from agents.domain.mission import Mission
from agents.domain.value import Value
from agents.prompt import fill

LISTED = 200
BRIEF_CHARS = 6000
REASONS = 8


class Material(Value):
    """What the tree offers for the item: file names, and the text of the files it owns and of the tests to pass."""

    listing: tuple[str, ...]
    texts: dict[str, str]
    known_failures: tuple[str, ...] = ()


def brief(mission: Mission, item: Item, material: Material, previous: CycleResult | None, knobs: Knobs) -> str:
    """Return the opening text of an attempt: mission, item, the last attempt, and `briefing_chars` of material."""
    return fill(
        "briefing",
        title=mission.title,
        brief=cut(mission.brief, BRIEF_CHARS) or "(no more was said)",
        item=item.id,
        description=item.description,
        checks="\n".join(f"- {check}" for check in item.checks) or "- none was given",
        files=", ".join(item.files) or "whatever the item needs",
        previous=_previous(previous, knobs.show_work),
        listing=_listing(material),
        material=_texts(material, knobs.briefing_chars),
    )


def cut(text: str, limit: int) -> str:
    """Return at most about `limit` characters: head and tail, and between them how much was left out."""
    if len(text) <= limit:
        return text
    head, tail = limit * 2 // 3, limit // 3
    return f"{text[:head]}\n[{len(text) - head - tail} characters left out]\n{text[-tail:]}"


def _previous(result: CycleResult | None, show_work: bool) -> str:
    """Tell of the attempt before: what was wrong with it, and what it wrote, so that it can be mended."""
    if result is None:
        return ""
    reasons = [f"- {reason.kind}: {cut(reason.message, 600)}" for reason in result.reasons[:REASONS]]
    wrong = "\n".join(reasons) or f"- {cut(result.summary, 600)}"
    written = "\n".join(_fenced(path, text) for path, text in result.written.items())
    kept = f"\nThis is what you wrote then, and it was not kept:\n\n{written}" if show_work and written else ""
    return (
        f"\n# Your last attempt ended: {result.ending}\n{kept}\nThis was wrong with it:\n{wrong}\n\n"
        "Write the item again with this mended.\n"
    )


def _listing(material: Material) -> str:
    shown = "\n".join(f"- {path!r}" if not path.isprintable() else f"- {path}" for path in material.listing[:LISTED])
    more = len(material.listing) - LISTED
    return shown + (f"\n- and {more} more" if more > 0 else "")


def _texts(material: Material, limit: int) -> str:
    parts: list[str] = []
    for path, text in material.texts.items():
        part = _fenced(path, text)
        if sum(map(len, parts)) + len(part) > limit:
            parts.append(f"{path} is too long to show here: READ it.\n")
        else:
            parts.append(part)
    known = "\n".join(f"- {case}" for case in material.known_failures[:LISTED])
    return "\n".join(parts) + (f"\nThese fail already and are not your concern:\n{known}\n" if known else "")


def _fenced(path: str, text: str) -> str:
    fence = "`" * max(3, _longest_run(text) + 1)
    return f"{path}\n{fence}\n{text.rstrip(chr(10))}\n{fence}\n"


def _longest_run(text: str) -> int:
    longest = run = 0
    for char in text:
        run = run + 1 if char == "`" else 0
        longest = max(longest, run)
    return longest
