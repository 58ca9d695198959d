"""What does somebody type? `meter title TEXT` or `meter total FILE`."""

import sys


def main(argv: list[str] | None = None) -> int:
    """Do what the words ask for; 2 when they make no sense."""
    words = sys.argv[1:] if argv is None else argv
    match words:
        case ["title", text]:
            from meter.words import title

            print(title(text))
            return 0
        case _:
            print("usage: meter title TEXT | meter total FILE", file=sys.stderr)
            return 2
