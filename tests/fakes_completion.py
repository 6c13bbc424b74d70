"""A language model for tests that says what it is told to, behind the same seam as the real one."""

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock

from detectors.completion import Ask, Choice, Message, Reply

TOKENS_IN, TOKENS_OUT = 100, 20
"""What each of its calls takes."""


@dataclass
class ScriptedCompletion:
    """Gives the replies one after the other, the last one for ever; an exception among them is raised.

    A ``Choice`` among them is given as it is. ``seen`` has the messages of each call, ``asked`` the whole call.
    """

    replies: list[str | Choice | Exception]
    model: str = "m-1"
    seen: list[list[Message]] = field(default_factory=list)
    asked: list[Ask] = field(default_factory=list)
    lock: Lock = field(default_factory=Lock)

    def ask(self, ask: Ask) -> Reply:
        """The next reply."""
        with self.lock:
            self.seen.append(list(ask.messages))
            self.asked.append(ask)
            reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        if isinstance(reply, Exception):
            raise reply
        return Reply((reply if isinstance(reply, Choice) else Choice(reply),), TOKENS_IN, TOKENS_OUT)


@dataclass
class AnsweringCompletion:
    """Answers each call as ``answer`` does; safe across threads. ``asked`` has the calls in the order of their ends."""

    answer: Callable[[Ask], str]
    model: str = "m-1"
    asked: list[Ask] = field(default_factory=list)

    def ask(self, ask: Ask) -> Reply:
        """The reply to this call."""
        text = self.answer(ask)
        self.asked.append(ask)
        return Reply((Choice(text),), TOKENS_IN, TOKENS_OUT)
