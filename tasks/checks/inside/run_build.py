"""Build a wheel with the backend of another interpreter; a folder `build` in the repository cannot stand in its way."""

import sys

from build import BuildException, ProjectBuilder


def main() -> int:
    """`run_build.py SOURCE PYTHON OUT`: 0 when the backend made a wheel."""
    source, python, out = sys.argv[1:]
    try:
        ProjectBuilder(source, python_executable=python).build("wheel", out)
    except BuildException as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
