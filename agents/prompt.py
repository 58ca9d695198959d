"""Who thinks? Prompts are text files with placeholders; a missing or unknown name is an error, never a blank."""

from functools import cache
from importlib.resources import files
from string import Template


def fill(name: str, **values: str) -> str:
    """Return the prompt file `name` with every placeholder filled; exactly the names it has must be given."""
    template = _template(name)
    wanted, given = set(template.get_identifiers()), set(values)
    if wanted != given:
        raise ValueError(f"prompt {name}: placeholders {sorted(wanted)}, given {sorted(given)}")
    return template.substitute(values).strip() + "\n"


def text_of(name: str) -> str:
    """Return the prompt file as it is written."""
    return files("agents").joinpath("prompts", f"{name}.md").read_text(encoding="utf-8")


@cache
def _template(name: str) -> Template:
    return Template(text_of(name))
