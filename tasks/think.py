"""Do it, durably: one model call, paid once, whatever happens to the process afterwards."""

from tenacity import Retrying

from agents.domain.budget import Usage
from agents.domain.errors import LraError, TryLater
from agents.domain.events import Key, Reply, Request
from agents.models.model import Call, Model
from tasks.journal import Data, Journal, step
from tasks.policies import THINK_RETRY

CHARS_PER_TOKEN = 3


def think(journal: Journal, model: Model, request: Request, call: Call, place: str) -> Reply:
    """Return the model's reply to `request`: from the journal if it was answered before, else by asking now.

    Transient provider errors are tried again here, bounded; then TryLater ends the run with nothing lost. Each request
    has an intent of its own: one whose answer was lost on the way may have been billed, and counts so.
    """
    key = Key("think", place, request.digest())

    def ask() -> Data:
        try:
            return model.reply(request, call).model_dump(mode="json")
        except LraError as error:
            if not (isinstance(error, TryLater) and error.in_flight):
                journal.refuse(key, {"error": str(error)})
            raise

    for attempt in Retrying(**THINK_RETRY):
        with attempt:
            return Reply.model_validate(step(journal, key, ask, lambda: _intent(model, request, call)))
    raise AssertionError("tenacity returns or raises")


def _intent(model: Model, request: Request, call: Call) -> Data:
    """Say who asks what, with the worst that the call can cost: that is what counts if its answer never arrives.

    Messages that stand in the journal already (earlier requests and replies) are not written again.
    """
    worst = Usage(prompt=_tokens(request), completion=request.max_tokens)
    asked = request.messages if len(request.messages) <= 2 else request.messages[-1:]
    return {
        "role": call.role,
        "item": call.item,
        "ordinal": call.ordinal,
        "model": model.name,
        "source": model.source,
        "worst_prompt": worst.prompt,
        "worst_completion": worst.completion,
        "worst_micros": model.price(worst),
        "messages": [message.model_dump() for message in asked],
    }


def _tokens(request: Request) -> int:
    return sum(len(message.content) for message in request.messages) // CHARS_PER_TOKEN
