"""A provider on loopback that speaks the OpenAI form: scripted answers, every request logged, deaths on demand."""

import json
import os
import signal
import threading
import time
from collections import Counter
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PROMPT, COMPLETION = 100, 10
EDIT = "EDIT: {0}.txt\n<<<<<<< SEARCH\n{1}\n=======\n{1}\n{2}\n>>>>>>> REPLACE\n"
TALK = (
    "I look first.\n\nREAD: {0}.txt\nLIST:\n",
    "I begin.\n\n" + EDIT.format("{0}", "end", "begun"),
    "I finish.\n\n" + EDIT.format("{0}", "begun", "right"),
)


class Provider:
    """Answers by item and by how many answers a request holds already; `log` has (caller, body, answered whole)."""

    def __init__(self):
        self.log = []
        self.lethal = lambda number, body: False
        self.victim = 0
        self.seconds = 0.0
        self.hold = {}
        self.killed = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()

    def close(self):
        for held in self.hold.values():
            held.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def sent(self):
        """How often each body was sent."""
        return Counter(body for _, body, _ in self.log)

    def answered(self):
        """How often each body was answered whole."""
        return Counter(body for _, body, whole in self.log if whole)

    def _take(self, caller, body):
        """Log a request and return its place in the log, or None when its sender dies by it."""
        self.log.append((caller, body, False))
        at = len(self.log) - 1
        if self.lethal(place_of(json.loads(body)), body):
            self.killed.append(body)
            os.kill(self.victim, signal.SIGKILL)
            return None
        return at

    def _handler(provider):  # noqa: N805 - `self` is the request below
        class OpenAILike(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"])).decode()
                caller = self.headers.get("authorization", "").removeprefix("Bearer ")
                at = provider._take(caller, body)
                if at is None:
                    return
                if caller in provider.hold:
                    provider.hold[caller].wait()
                time.sleep(provider.seconds)
                with suppress(BrokenPipeError, ConnectionResetError):
                    self._answer(reply_to(json.loads(body)))
                    provider.log[at] = (caller, body, True)

            def _answer(self, data):
                text = json.dumps(data).encode()
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)
                self.wfile.flush()

            def log_message(self, *args):
                pass

        return OpenAILike


def place_of(request):
    """Name a request by its item and the answers it holds, as in `one.0`."""
    item = request["messages"][1]["content"].split("# Your item: ")[1].split("\n")[0]
    return f"{item}.{sum(message['role'] == 'assistant' for message in request['messages'])}"


def reply_to(request):
    """The answer to a request: the same for the same request, always."""
    item, _, number = place_of(request).partition(".")
    text = TALK[int(number)].format(item)
    return {
        "id": "x",
        "object": "chat.completion",
        "created": 0,
        "model": request["model"],
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": PROMPT, "completion_tokens": COMPLETION, "total_tokens": PROMPT + COMPLETION},
    }
