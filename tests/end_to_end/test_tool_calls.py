"""Does a model that makes API tool calls work, through the live door and to the merge?"""

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import pytest
from place import FILES, ONE, Place

WRITE = {"name": "write", "arguments": json.dumps({"path": "hello.txt", "text": "hello\n"})}


class Provider(BaseHTTPRequestHandler):
    """Answers every request with one tool call, in the form of the OpenAI API; `asked` holds the requests."""

    asked: ClassVar[list[dict]] = []

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.asked.append(asked)
        call = {"id": "1", "type": "function", "function": WRITE}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
        answer = {
            "id": "1",
            "object": "chat.completion",
            "created": 1,
            "model": "test",
            "choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
        }
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        """Keep the test's output clean."""


@pytest.fixture
def provider() -> Iterator[ThreadingHTTPServer]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    Provider.asked.clear()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def test_tool_calls_are_moves(new_place: Callable[[str, dict[str, str]], Place], provider: ThreadingHTTPServer) -> None:
    place = new_place("tools", FILES)
    place.write(ONE)
    url = f"http://127.0.0.1:{provider.server_port}/v1"
    args = ("run", str(place.folder / "MISSION.md"), "--repo", str(place.repo), "--json")
    prices = {"LRA_INPUT_USD_PER_MILLION": "10", "LRA_OUTPUT_USD_PER_MILLION": "100"}
    ran = place.lra(*args, "--model", "openai/test", "--api-base", url, LRA_MOVES="tools", **prices)
    assert ran.exit == 0, ran.err
    assert [tool["function"]["name"] for tool in Provider.asked[0]["tools"]][:3] == ["read", "list", "search"]
    assert (ran.data["model_calls"]["live"], ran.data["cost_usd"]) == (1, 0.003)
    assert place.git("show", "main:hello.txt") == "hello\n"
    assert "LRA-Source: live" in place.git("log", "-1", "--format=%B", "main")
