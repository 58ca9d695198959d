"""When is a verb completed? After `lra --install-completion`, in every new shell."""

from pathlib import Path

import click
from click.shell_completion import get_completion_class

from agents.domain.errors import Misconfigured

ZSH_START = "(( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }\n"


def install(command: click.Command, shell: str) -> str:
    """Write the completion script and have the shell read it; a second time changes nothing. Returns what was done."""
    places = {
        "bash": ("~/.config/lra/completion.bash", "~/.bashrc"),
        "zsh": ("~/.config/lra/completion.zsh", "~/.zshrc"),
    }
    if shell == "fish":
        script, start = Path("~/.config/fish/completions/lra.fish").expanduser(), None
    elif shell in places:
        script, start = (Path(place).expanduser() for place in places[shell])
    else:
        raise Misconfigured(f"no completion for the shell {shell!r}; name one: lra --install-completion bash|zsh|fish")
    kind = get_completion_class(shell)
    assert kind is not None
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text((ZSH_START if shell == "zsh" else "") + kind(command, {}, "lra", "_LRA_COMPLETE").source())
    if start is not None:
        _source_once(start, script)
    return f"{shell} completes `lra` from the next shell on: {script}"


def _source_once(start: Path, script: Path) -> None:
    line = f'[ -f "{script}" ] && . "{script}"'
    text = start.read_text() if start.exists() else ""
    if line not in text.splitlines():
        with start.open("a") as file:
            file.write(("" if text.endswith("\n") or not text else "\n") + line + "\n")
