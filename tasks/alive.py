"""Do it, durably: does the process that began this still run?"""

import os
from pathlib import Path


def is_alive(pid: int) -> bool:
    """Say whether a process runs; one that ended and was not waited for by its parent does not."""
    try:
        os.kill(pid, 0)
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except ProcessLookupError:
        return False
    except OSError:
        return True  # somebody else's process, or another system than Linux: the signal alone must do
