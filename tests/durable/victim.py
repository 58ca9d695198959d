"""`lra`, which dies by SIGKILL at the first point of DEATHS that it has not died at before.

The file holds `*`, or the names of points, one a line; points where it died are written to the same name with `.done`.
"""

import os
import signal
import sys
from pathlib import Path

from tasks.git.record import Record
from tasks.journal import Journal

PLAN = Path(os.environ["DEATHS"])
DONE = PLAN.with_suffix(".done")


def die_at(point):
    wanted = PLAN.read_text().split()
    done = DONE.read_text().split() if DONE.exists() else []
    if point not in done and (wanted == ["*"] or point in wanted):
        with DONE.open("a") as file:
            file.write(f"{point}\n")
        os.kill(os.getpid(), signal.SIGKILL)


write_row = Journal._append
append = Record.append


def writing(journal, phase, key, data):
    point = f"{journal.path.stem.lstrip('0')}:{key.place or key.kind}:{phase}"
    die_at(f"{point}:before")
    row = write_row(journal, phase, key, data)
    die_at(f"{point}:after")
    return row


def appending(record, event, state, files=None, also=None):
    point = f"{event.cycle or '-'}:record:{event.word}"
    die_at(f"{point}:before")
    commit = append(record, event, state, files, also)
    die_at(f"{point}:after")
    return commit


Journal._append = writing
Record.append = appending

if __name__ == "__main__":
    from flows.cli.main import main

    sys.exit(main())
