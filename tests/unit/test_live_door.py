"""What does one live call send, cost and say when the provider does not play along?

The provider is an OpenAI-compatible server on loopback; everything from here to the socket is real.
"""

import json
import os
import subprocess
import sys
import textwrap
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from agents.domain.budget import Usage
from agents.domain.errors import LraError, Misconfigured, TryLater
from agents.domain.events import Message, Reply, Request, ToolCall
from agents.models.live import Live
from agents.models.model import Call

ROOT = Path(__file__).parents[2]
ASKED = Request(messages=(Message(role="system", content="be brief"), Message(role="user", content="hello")))
CALL = Call("lead_engineer", "one", 0)
USED = {
    "prompt_tokens": 100,
    "completion_tokens": 10,
    "total_tokens": 110,
    "prompt_tokens_details": {"cached_tokens": 64},
    "completion_tokens_details": {"reasoning_tokens": 7},
}


def answer(message: dict[str, Any], finish: str = "stop", **more: Any) -> dict[str, Any]:
    said = {"role": "assistant", **message}
    choice = {"index": 0, "finish_reason": finish, "message": said}
    return {
        "id": "x",
        "object": "chat.completion",
        "created": 0,
        "model": "m",
        "choices": [choice],
        "usage": USED,
        **more,
    }


class Provider:
    """Answers every request with what `say` was told, and logs what was asked."""

    def __init__(self) -> None:
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.02,))
        self.thread.start()
        self.say()

    def say(self, body: Any = None, status: int = 200, seconds: float = 0, **headers: str) -> None:
        self.body = answer({"content": "hi"}) if body is None else body
        self.status, self.seconds, self.headers = status, seconds, headers
        self.asked: list[dict[str, Any]] = []

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def _handler(provider) -> type[BaseHTTPRequestHandler]:  # noqa: N805 - `self` is the request below
        class OpenAILike(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                sent = json.loads(self.rfile.read(int(self.headers["content-length"])))
                provider.asked.append(sent | {"authorization": self.headers["authorization"], "path": self.path})
                time.sleep(provider.seconds)
                text = json.dumps(provider.body).encode()
                headers = {"content-type": "application/json", "content-length": str(len(text)), **provider.headers}
                with suppress(BrokenPipeError, ConnectionResetError):
                    self.send_response(provider.status)
                    for name, value in headers.items():
                        self.send_header(name.replace("_", "-"), value)
                    self.end_headers()
                    self.wfile.write(text)

            def log_message(self, *args: object) -> None:
                pass

        return OpenAILike


@pytest.fixture(scope="module")
def server() -> Iterator[Provider]:
    provider = Provider()
    yield provider
    provider.close()


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[subprocess.Popen[str]]:
    """A process of its own that makes two calls and ends; begun early, for it loads litellm too."""
    server = Provider()
    program = f"""
        from agents.domain.errors import TryLater
        from agents.domain.events import Message, Request
        from agents.models.live import Live
        from agents.models.model import Call

        asked, call = Request(messages=(Message(role="user", content="x"),)), Call("r", "i", 0)
        try:
            Live("openai/m", "http://127.0.0.1:9/v1").reply(asked, call)
        except TryLater:
            print(Live("openai/m", {server.url!r}).reply(asked, call).text)
    """
    argv = [sys.executable, "-c", textwrap.dedent(program)]
    env = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    pipe = subprocess.PIPE
    with subprocess.Popen(argv, stdout=pipe, stderr=pipe, text=True, cwd=ROOT, env=env) as process:
        yield process
        process.kill()
    server.close()


@pytest.fixture(scope="module")
def live(server: Provider, elsewhere: subprocess.Popen[str]) -> Iterator[Live]:
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what litellm deprecates at its import is not this project's
        patch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
        patch.delenv("OPENAI_API_KEY", raising=False)
        model = Live("openai/m", server.url, timeout_s=20)
        model.reply(ASKED, CALL)
        yield model


@pytest.fixture
def provider(server: Provider, live: Live) -> Provider:
    server.say()
    return server


def fault(model: Live) -> LraError:
    with pytest.raises(LraError) as raised:
        model.reply(ASKED, CALL)
    return raised.value


def test_a_reply_tells_text_usage_source_and_how_it_ended(provider: Provider, live: Live) -> None:
    reply = live.reply(ASKED, CALL)
    assert (reply.text, reply.source, reply.model, reply.finish) == ("hi", "live", "openai/m", "stop")
    assert reply.usage == Usage(prompt=100, cached=64, completion=10, reasoning=7)
    assert reply.seconds > 0


def test_a_request_is_sent_as_it_is_and_nothing_else(provider: Provider, live: Live) -> None:
    live.reply(ASKED.model_copy(update={"temperature": 0.5, "max_tokens": 77}), CALL)
    assert provider.asked == [
        {
            "model": "m",
            "messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "hello"}],
            "temperature": 0.5,
            "max_tokens": 77,
            "authorization": "Bearer unused",
            "path": "/v1/chat/completions",
        }
    ]


def test_the_key_reaches_the_provider(provider: Provider, live: Live) -> None:
    Live("openai/m", provider.url, "sk-1").reply(ASKED, CALL)
    assert provider.asked[0]["authorization"] == "Bearer sk-1"


def test_moves_are_offered_and_called_as_tools(provider: Provider, live: Live) -> None:
    called = [{"id": "1", "type": "function", "function": {"name": "read", "arguments": '{"path":"a"}'}}]
    provider.say(answer({"content": None, "tool_calls": called}, finish="tool_calls"))
    reply = live.reply(ASKED.model_copy(update={"tools": True}), CALL)
    assert (reply.text, reply.tool_calls) == ("", (ToolCall(name="read", arguments='{"path":"a"}'),))
    assert "write" in [tool["function"]["name"] for tool in provider.asked[0]["tools"]]


@pytest.mark.parametrize(("prices", "micros"), [(None, None), ((0.0, 0.0), 0), ((1.0, 2.0), 120), ((0.15, 0.6), 21)])
def test_a_price_is_declared_or_unknown(provider: Provider, live: Live, prices, micros: int | None) -> None:
    assert Live("openai/m", provider.url, usd_per_million=prices).reply(ASKED, CALL).micros == micros


def test_a_hosted_model_is_priced_by_the_table_with_cached_tokens_cheaper(live: Live) -> None:
    hosted = Live("gpt-4o-mini")
    full = hosted.price(Usage(prompt=100_000, completion=1000))
    assert full is not None
    assert 0 < (hosted.price(Usage(prompt=100_000, cached=100_000, completion=1000)) or 0) < full


def test_a_server_of_ones_own_has_neither_the_tables_price_nor_its_tools(provider: Provider, live: Live) -> None:
    own, hosted = Live("gpt-4o-mini", provider.url), Live("gpt-4o-mini")
    assert (own.price(Usage(prompt=100)), own.calls_tools()) == (None, False)
    assert hosted.calls_tools()


def test_usage_that_was_not_told_is_not_invented(provider: Provider, live: Live) -> None:
    provider.say(answer({"content": "hi"}, usage=None))
    assert live.reply(ASKED, CALL).usage == Usage()


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529])
def test_a_busy_provider_is_tried_later_and_asked_once(provider: Provider, live: Live, status: int) -> None:
    provider.say({"error": {"message": "too much of it"}}, status)
    later = fault(live)
    assert isinstance(later, TryLater)
    assert "openai/m did not answer" in str(later)
    assert "too much of it" in str(later)
    assert later.retry_after_s is None
    assert len(provider.asked) == 1


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_a_refusal_for_good_is_the_operators_and_asked_once(provider: Provider, live: Live, status: int) -> None:
    provider.say({"error": {"message": "never"}}, status)
    refused = fault(live)
    assert isinstance(refused, Misconfigured)
    assert "openai/m refused" in str(refused)
    assert "never" in str(refused)
    assert len(provider.asked) == 1


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize(
    ("said", "meant"),
    [("17", 17.0), ("0.5", 0.5), ("-1", None), ("nan", None), ("Wed, 21 Oct 2026 07:28:00 GMT", None)],
)
def test_the_time_a_provider_asks_for_is_kept(
    provider: Provider, live: Live, status: int, said: str, meant: float | None
) -> None:
    provider.say({"error": {"message": "slow down"}}, status, retry_after=said)
    later = fault(live)
    assert isinstance(later, TryLater)
    assert later.retry_after_s == meant


@pytest.mark.parametrize("body", [{}, "text", {"error": {"message": "overloaded", "code": 502}}])
def test_an_answer_without_a_reply_is_tried_later(provider: Provider, live: Live, body: Any) -> None:
    provider.say(body)
    assert isinstance(fault(live), TryLater)
    assert len(provider.asked) == 1


def test_an_answer_without_a_choice_is_an_empty_reply_that_was_paid(provider: Provider, live: Live) -> None:
    usage = {"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10}
    provider.say(answer({}, choices=[], usage=usage))
    reply = live.reply(ASKED, CALL)
    assert (reply.text, reply.usage.prompt) == ("", 9)


def test_a_provider_that_is_away_is_tried_later(live: Live) -> None:
    assert isinstance(fault(Live("openai/m", "http://127.0.0.1:9/v1")), TryLater)


def test_a_provider_that_is_too_slow_is_tried_later_and_asked_once(provider: Provider, live: Live) -> None:
    provider.say(seconds=1)
    started = time.monotonic()
    assert isinstance(fault(Live("openai/m", provider.url, timeout_s=0.2)), TryLater)
    assert time.monotonic() - started < 1
    assert len(provider.asked) == 1


@pytest.mark.parametrize("name", ["no-such-model", "gpt-4o-mini"])
def test_a_name_or_key_that_is_missing_is_the_operators(live: Live, name: str) -> None:
    assert isinstance(fault(Live(name)), Misconfigured)


def test_a_name_that_no_provider_has_is_refused_before_anything_is_asked(provider: Provider, live: Live) -> None:
    with pytest.raises(Misconfigured, match="no provider for the model 'nope/nope'"):
        Live("nope/nope").check()
    Live("openai/anything", provider.url).check()
    Live("gpt-4o-mini").check()
    assert provider.asked == []


def test_a_refusal_is_one_line_without_a_trace_of_the_library(provider: Provider, live: Live) -> None:
    provider.say({"error": {"message": "a\nb" * 999}}, 400)
    refused = fault(live)
    assert "\n" not in str(refused)
    assert len(str(refused)) < 500
    assert refused.__suppress_context__


def test_a_process_that_called_ends_silently(elsewhere: subprocess.Popen[str]) -> None:
    out, err = elsewhere.communicate(timeout=120)
    assert (out, err, elsewhere.returncode) == ("hi\n", "", 0)


def test_the_door_opens_only_when_it_is_used() -> None:
    program = "import sys, agents.models.live; print([name for name in ('litellm', 'openai') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_reply_is_a_value_that_the_journal_keeps(provider: Provider, live: Live) -> None:
    reply = live.reply(ASKED, CALL)
    assert Reply.model_validate_json(reply.model_dump_json()) == reply
