"""Run one command, let it use what a policy names, and leave nothing of it behind."""

from tasks.checks.sandbox.backends import BUBBLEWRAP, GROUP_ONLY, ISOLATED, LANDLOCK
from tasks.checks.sandbox.choice import describe, run
from tasks.checks.sandbox.policy import Command, Policy, Ran, folders_of

__all__ = [
    "BUBBLEWRAP",
    "GROUP_ONLY",
    "ISOLATED",
    "LANDLOCK",
    "Command",
    "Policy",
    "Ran",
    "describe",
    "folders_of",
    "run",
]
