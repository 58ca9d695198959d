"""Who thinks? A model that answers now: the one door to litellm, and so to every hosted and local provider."""

import importlib
import threading
import time
from typing import Any

from agents.domain.budget import Source, Usage
from agents.domain.errors import Misconfigured, TryLater
from agents.domain.events import Reply, Request, ToolCall
from agents.models.model import Call
from agents.moves_tools import schemas

TRANSIENT = ("RateLimitError", "APIConnectionError", "Timeout", "InternalServerError", "ServiceUnavailableError")
LOST = ("Timeout", "APIConnectionError", "InternalServerError")
TRANSIENT_STATUS = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
NO_KEY = "Missing credentials"  # litellm reports a key that was never given as an error of the server


class Live:
    """A litellm model name, optionally at an OpenAI-compatible `api_base`.

    Importing litellm takes seconds, so it starts in the background at construction and is waited for at the first call.
    One call of `reply` is one request: no retry happens in here. A declared price (dollars for a million tokens in and
    out) wins over litellm's own table; without either, a call is unpriced.
    """

    source: Source = "live"

    def __init__(
        self,
        name: str,
        api_base: str | None = None,
        api_key: str | None = None,
        timeout_s: float = 600,
        usd_per_million: tuple[float, float] | None = None,
    ) -> None:
        self.name = name
        self._usd_per_million = usd_per_million
        key = api_key or ("unused" if api_base else None)
        self._where = {"api_base": api_base, "api_key": key, "timeout": timeout_s, "num_retries": 0, "max_retries": 0}
        self._loading = threading.Thread(target=_litellm, daemon=True, name="import litellm")
        self._loading.start()

    def check(self) -> None:
        """Ask no provider, only litellm: Misconfigured when nobody is known under this name."""
        litellm = self._loaded()
        try:
            litellm.get_llm_provider(model=self.name, api_base=self._where["api_base"])
        except litellm.exceptions.openai.OpenAIError:
            raise Misconfigured(
                f"litellm knows no provider for the model {self.name!r}: write PROVIDER/NAME, such as "
                "ollama_chat/qwen2.5-coder, or openai/NAME with --api-base for a server of your own"
            ) from None

    def reply(self, request: Request, call: Call) -> Reply:
        """Send the request once. TryLater when the provider is busy or away, Misconfigured when it refuses for good."""
        litellm = self._loaded()
        started = time.perf_counter()
        try:
            answer = litellm.completion(
                model=self.name,
                messages=[message.model_dump() for message in request.messages],
                temperature=request.temperature,
                max_tokens=request.max_tokens,
                drop_params=True,
                **({"tools": schemas()} if request.tools else {}),
                **self._where,
            )
        except litellm.exceptions.openai.OpenAIError as error:  # the root of litellm's tree; its own OpenAIError is not
            raise self._translated(error) from None
        usage = _usage(answer)
        choice = answer.choices[0] if answer.choices else litellm.Choices()  # paid all the same: an empty reply
        return Reply(
            text=choice.message.content or "",
            tool_calls=_tool_calls(choice.message),
            usage=usage,
            micros=self.price(usage),
            source="live",
            model=self.name,
            seconds=round(time.perf_counter() - started, 3),
            finish=choice.finish_reason or "",
        )

    def price(self, usage: Usage) -> int | None:
        """Return the price of this usage in micro-dollars: as declared, or from litellm's table, or None."""
        if self._usd_per_million is not None:
            into, out = self._usd_per_million
            return round(usage.prompt * into + usage.completion * out)
        litellm = self._loaded()
        known = litellm.model_cost.get(self.name) or litellm.model_cost.get(self.name.split("/", 1)[-1])
        if self._where["api_base"] or not known or not known.get("input_cost_per_token"):
            return None
        into, out = litellm.cost_per_token(
            model=self.name,
            prompt_tokens=usage.prompt,
            completion_tokens=usage.completion,
            cache_read_input_tokens=usage.cached,
        )
        return round((float(into) + float(out)) * 1_000_000)

    def calls_tools(self) -> bool:
        """Say whether litellm knows this model to make tool calls; a server of your own is not assumed to."""
        return not self._where["api_base"] and bool(self._loaded().supports_function_calling(model=self.name))

    def _loaded(self) -> Any:
        self._loading.join()
        return _litellm()

    def _translated(self, error: Exception) -> Exception:
        said = " ".join(str(error).split())[:300]
        transient = type(error).__name__ in TRANSIENT or getattr(error, "status_code", None) in TRANSIENT_STATUS
        if transient and NO_KEY not in said:
            lost = type(error).__name__ in LOST
            return TryLater(f"{self.name} did not answer: {said}", _retry_after(error), in_flight=lost)
        return Misconfigured(f"{self.name} refused: {said}. Check the model's name, the key and the api_base.")


def _litellm() -> Any:
    litellm: Any = importlib.import_module("litellm")
    litellm.suppress_debug_info = True
    litellm.telemetry = False
    return litellm


def _usage(answer: Any) -> Usage:
    said = getattr(answer, "usage", None)
    prompt_details = getattr(said, "prompt_tokens_details", None)
    completion_details = getattr(said, "completion_tokens_details", None)
    return Usage(
        prompt=getattr(said, "prompt_tokens", 0) or 0,
        completion=getattr(said, "completion_tokens", 0) or 0,
        cached=getattr(prompt_details, "cached_tokens", 0) or 0,
        reasoning=getattr(completion_details, "reasoning_tokens", 0) or 0,
    )


def _tool_calls(message: Any) -> tuple[ToolCall, ...]:
    calls = getattr(message, "tool_calls", None) or ()
    return tuple(ToolCall(name=call.function.name or "", arguments=call.function.arguments or "") for call in calls)


def _retry_after(error: Exception) -> float | None:
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    try:
        seconds = float(headers["retry-after"])
    except (KeyError, ValueError):
        return None
    return seconds if seconds >= 0 else None
