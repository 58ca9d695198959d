"""What can go wrong, and who must act.

LraError
├── AskAgain         the model: it is told what was wrong and asked again
├── TryLater         nobody: a provider or the network did not answer; the same step may be tried again
├── OutOfBudget      a human: allow more, narrow the mission, or stop
├── NeedsHuman       a human: only they may do what comes next
├── Misconfigured    the operator: a setting, a tool or an environment
├── Busy             nobody: another run holds the mission
└── BrokenRecord     stop: what was written before cannot be trusted, and LRA never guesses

Each message says what was wrong, where, and what to do; the docstring is the message when nothing better is known.
"""


class LraError(Exception):
    """Something stopped LRA."""

    def __init__(self, message: str = "") -> None:
        super().__init__(message or (type(self).__doc__ or "").strip())


class AskAgain(LraError):
    """The reply could not be used."""


class TryLater(LraError):
    """The provider did not answer. Run the same command again: nothing that was answered is asked twice."""

    def __init__(self, message: str = "", retry_after_s: float | None = None, in_flight: bool = False) -> None:
        """`in_flight`: the request may have reached the model, and its answer was lost, so it may be billed."""
        super().__init__(message)
        self.retry_after_s = retry_after_s
        self.in_flight = in_flight


class OutOfBudget(LraError):
    """The budget is spent."""


class NeedsHuman(LraError):
    """A human has to act before this can go on."""


class Misconfigured(LraError):
    """A setting, a tool or an environment is not as it must be."""


class Busy(LraError):
    """Another run holds this mission."""


class BrokenRecord(LraError):
    """What was written before is damaged or was changed by someone else; nothing was repeated or paid again."""
