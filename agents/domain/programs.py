"""Which scripts of the repository does a command run? Read from its text, through what a shell lets stand before."""

import posixpath
import re
import shlex
from collections.abc import Iterator
from pathlib import PurePosixPath

INTERPRETERS = frozenset(("python", "sh", "bash", "dash", "zsh", "node", "ruby", "perl"))
STARTERS = frozenset(
    (
        *("command", "env", "exec", "nice", "nohup", "setsid", "stdbuf", "sudo", "time", "timeout", "xargs"),
        *("hatch", "pdm", "pipenv", "poetry", "rye", "uv", "uvx"),
    )
)
ASSIGNMENT = re.compile(r"\w+=.*", re.DOTALL)
NO_PROGRAM = re.compile(r"-.*|[\d.]+[smhd]?|run|\w+=.*", re.DOTALL)
BETWEEN = re.compile(r"[;&|()]+|then|do|else|!")
TEXT_FOLLOWS, MODULE_FOLLOWS = re.compile(r"-\w*c"), re.compile(r"-\w*m|-e|--eval")
DEEPEST = 3


def programs_of(check: str, folder: str = "", deep: int = 0) -> list[str]:
    """Return the paths that may name a program or a script of the repository, from its root.

    Assignments, programs that start others, options with their values, `cd` and the text of `sh -c` hide none.
    """
    found: list[str] = []
    for words in _commands(check):
        if words[:1] == ["cd"]:
            folder = posixpath.join(folder, *words[1:2])
        for word in _programs(words):
            if " " not in word.strip():
                found.append(posixpath.normpath(posixpath.join(folder, word)))
            elif deep < DEEPEST:
                found += programs_of(word, folder, deep + 1)
    return found


def _commands(check: str) -> Iterator[list[str]]:
    """Yield the words of each command of a line; a quote that never ends runs nothing."""
    reader = shlex.shlex(check.replace("\n", " ; "), posix=True, punctuation_chars=";&|()")
    reader.whitespace_split, reader.commenters = True, ""
    words: list[str] = []
    try:
        for word in reader:
            if BETWEEN.fullmatch(word):
                yield words
                words = []
            else:
                words.append(word)
    except ValueError:
        return
    yield words


def _programs(words: list[str]) -> Iterator[str]:
    words = _from_first(words, ASSIGNMENT)
    if not words or words[0] == "cd":
        return
    if words[0] in STARTERS:
        yield from _programs(_from_first(words[1:], NO_PROGRAM))
    else:
        yield words[0]
    at = next((at for at, word in enumerate(words) if _is_interpreter(word)), len(words))
    if at == 0 or words[0] in STARTERS:
        yield from _scripts(words[at + 1 :])


def _from_first(words: list[str], without: re.Pattern[str]) -> list[str]:
    return words[next((at for at, word in enumerate(words) if not without.fullmatch(word)), len(words)) :]


def _is_interpreter(word: str) -> bool:
    return PurePosixPath(word).name.rstrip("0123456789.") in INTERPRETERS


def _scripts(words: list[str]) -> Iterator[str]:
    """Yield what an interpreter may run: words up to the first that looks like a file, for options have values."""
    for at, word in enumerate(words):
        if TEXT_FOLLOWS.fullmatch(word):
            yield from words[at + 1 : at + 2]
            return
        if MODULE_FOLLOWS.fullmatch(word):
            return
        if not word.startswith("-"):
            yield word
            if "/" in word or "." in word:
                return
