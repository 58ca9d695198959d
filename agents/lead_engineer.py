"""Who thinks? The Lead Engineer turns a briefing into requests and replies into moves; it touches nothing."""

from agents import moves_text, moves_tools
from agents.domain.cycle import Knobs, Wire
from agents.domain.events import Message, Reply, Request
from agents.domain.moves import Move
from agents.domain.value import Value, canonical
from agents.prompt import fill, text_of

ROLE = "lead_engineer"
KEPT = 6
TALK_CHARS = 60_000
WARMER = 0.2
HOTTEST = 1.0


class Talk(Value):
    """A conversation so far. Past TALK_CHARS the oldest answers make way; the briefing and the latest KEPT never do."""

    wire: Wire
    knobs: Knobs
    attempt: int
    messages: tuple[Message, ...]

    def request(self) -> Request:
        """Return what is asked next: a function of the conversation, the attempt and the knobs alone.

        What failed before is not to be said again: every earlier attempt, and every reply that repeats one of this
        conversation, makes the temperature warmer by WARMER, up to HOTTEST.
        """
        said = [message.content for message in self.messages if message.role == "assistant"]
        again = self.attempt - 1 + len(said) - len(set(said))
        warm = min(self.knobs.temperature + WARMER * again, max(HOTTEST, self.knobs.temperature))
        return Request(
            messages=self.messages,
            tools=self.wire == "tools",
            temperature=round(warm, 3),
            max_tokens=self.knobs.max_tokens,
        )

    def heard(self, reply: Reply) -> "Talk":
        """Take in what the model said; tool calls are kept as their JSON."""
        calls = "\n".join(canonical(call.model_dump()) for call in reply.tool_calls)
        said = "\n".join(part for part in (reply.text, calls) if part)
        return self._with(Message(role="assistant", content=said or "(nothing)"))

    def told(self, text: str) -> "Talk":
        """Take in what the moves showed."""
        return self._with(Message(role="user", content=text))

    def _with(self, message: Message) -> "Talk":
        messages = [*self.messages, message]
        for index in range(2, len(messages) - KEPT):
            if sum(len(m.content) for m in messages) <= TALK_CHARS:
                break
            messages[index] = messages[index].model_copy(update={"content": "(left out: an earlier step)"})
        return self.model_copy(update={"messages": tuple(messages)})


def opening(briefing: str, wire: Wire, knobs: Knobs, attempt: int) -> Talk:
    """Begin an attempt: fresh context, the rules, the moves of this wire, and the briefing."""
    system = fill("lead_engineer", moves=text_of(f"moves_{wire}").strip())
    messages = (Message(role="system", content=system), Message(role="user", content=briefing))
    return Talk(wire=wire, knobs=knobs, attempt=attempt, messages=messages)


def moves_of(reply: Reply) -> tuple[Move, ...]:
    """Return the moves in a reply, called or written; AskAgain when there is none or one cannot be read."""
    return moves_tools.parse(reply.tool_calls) if reply.tool_calls else moves_text.parse(reply.text)
