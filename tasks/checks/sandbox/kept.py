"""Keep the head and the tail of an output, and let its middle go."""

from collections import deque


class Kept:
    """The head and the tail of an output that may be endless, in bounded memory."""

    def __init__(self, limit: int) -> None:
        self._half = max(limit // 2, 1)
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._in_tail = 0
        self.dropped = 0

    def add(self, chunk: bytes) -> None:
        """Take the next bytes; from the middle of what is too long they are dropped."""
        room = self._half - len(self._head)
        self._head += chunk[:room]
        if rest := chunk[room:]:
            self._tail.append(rest)
            self._in_tail += len(rest)
        while self._tail and self._in_tail - len(self._tail[0]) >= self._half:
            self.dropped += len(self._tail[0])
            self._in_tail -= len(self._tail.popleft())

    def text(self) -> str:
        """Return what was kept, with a line in its middle when something was dropped."""
        tail = b"".join(self._tail)
        cut = max(len(tail) - self._half, 0)
        gap = f"\n[... {self.dropped + cut} bytes left out ...]\n".encode() if self.dropped + cut else b""
        return (bytes(self._head) + gap + tail[cut:]).decode("utf-8", "replace")
