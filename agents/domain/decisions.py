"""What was decided, why, and by whom?"""

from agents.domain.value import Value


class Decision(Value):
    """One choice: who made it (a role or a human), what was chosen, why, and on what evidence."""

    by: str
    choice: str
    why: str
    evidence: str = ""
    at: str
