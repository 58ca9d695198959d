"""Does the README name every public function?"""

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def main() -> int:
    """Return 1, and name them, when functions are missing."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    names = [
        node.name
        for file in sorted((ROOT / "meter").glob("*.py"))
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef)
        and not node.name.startswith("_")
        and node.name != "main"
    ]
    missing = [name for name in names if f"`{name}`" not in text]
    for name in missing:
        print(f"README.md does not name {name}", file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
