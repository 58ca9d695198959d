"""Do it, durably: the name that a run takes a mission under, and whether the one that has it still lives."""

import os
import platform
import secrets

from agents.domain.state import State
from tasks.alive import is_alive


def new_holder() -> str:
    """Name this process among all runs of all machines; no two runs have one name."""
    return f"{platform.node()}, process {os.getpid()}, {secrets.token_hex(4)}"


def lost_run(state: State) -> str:
    """Say that the run that has a cycle open is gone, when it was one of this machine; "" when it may be at work."""
    named, _, _ = state.standing.holder.rpartition(", ")
    host, _, process = named.rpartition(", process ")
    if state.standing.open is None or host != platform.node() or not process.isdigit() or is_alive(int(process)):
        return ""
    return f"cycle {state.standing.open.cycle} is open and no run is at work: the same `lra run` goes on with it"
