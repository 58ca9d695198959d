"""Do it, durably: how a stage is keyed, kept and retried, and how a model call is tried again."""

import random
from typing import Any

from tenacity import RetryCallState, retry_if_exception_type, stop_after_attempt

from agents.domain.errors import TryLater

THINK_TRIES = 5
THINK_LONGEST_WAIT_S = 60.0


def _pause(state: RetryCallState) -> float:
    """Wait as long as the provider says, else 1, 2, 4, ... seconds with up to half as much again, at most a minute."""
    error = state.outcome.exception() if state.outcome else None
    asked = error.retry_after_s if isinstance(error, TryLater) else None
    backoff = 2.0 ** (state.attempt_number - 1)
    return min(asked if asked is not None else backoff + random.uniform(0, backoff / 2), THINK_LONGEST_WAIT_S)  # noqa: S311 - jitter, not a secret


THINK_RETRY: dict[str, Any] = {
    "retry": retry_if_exception_type(TryLater),
    "stop": stop_after_attempt(THINK_TRIES),
    "wait": _pause,
    "reraise": True,
}


def stage_key(context: Any, parameters: dict[str, Any]) -> str:
    """Name a stage's result: mission, cycle, stage, and the digest of the pin, which holds all inputs of the cycle.

    Item, attempt, base, variant, knobs and epoch are in the pin. `tree` joins where a stage takes one. Left out:
    `material`, `proposal` and `verdict`, which are results of earlier stages of the same cycle, and the live parts of
    `cycle` (store, model, journal), which give the same for the same pin.
    """
    cycle = parameters["cycle"]
    tree = parameters.get("tree", "-")
    return "/".join((cycle.held.key, f"{cycle.pin.cycle:06d}", context.task.name, cycle.pin.digest()[:16], tree))


def worth_retrying(task: Any, run: Any, state: Any) -> bool:
    """Say whether a stage failed by something that passes by itself; anything else needs somebody to act first."""
    return isinstance(state.result(raise_on_failure=False), TryLater)


STAGE: dict[str, Any] = {"cache_key_fn": stage_key, "persist_result": True, "result_serializer": "json"}
# Always walked again: only the walk through the journal brings back trees that a lost store had, and counts the spend.
WALKED: dict[str, Any] = {**STAGE, "refresh_cache": True}
INTEGRATE: dict[str, Any] = {
    **STAGE,
    "retries": 3,
    "retry_delay_seconds": [1, 5, 20],
    "retry_condition_fn": worth_retrying,
}
