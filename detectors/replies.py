"""What all readers of a model's replies share: how one is refused, and how the model is asked again."""

import re

from pydantic import ValidationError

from detectors.completion import Message

_FENCE = re.compile(r"\s*```(?:json)?\s*\n(.*)\n\s*```\s*", re.DOTALL | re.IGNORECASE)


class ReplyRefused(Exception):
    """A reply that cannot be used; the text tells the model what to mend, ``reason`` is for counting."""

    def __init__(self, reason: str, text: str) -> None:
        super().__init__(text)
        self.reason = reason


def without_fence(reply: str) -> str:
    """The reply, without the code fence where one is around the whole of it."""
    fenced = _FENCE.fullmatch(reply)
    return fenced[1] if fenced else reply


def first_fault(error: ValidationError) -> str:
    """The first thing that is wrong, with its place; never a value."""
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(str(step) for step in first["loc"]) or "the reply"
    return f"{place}: {first['msg']}"


def asked_again(reply: str, error: ReplyRefused) -> list[Message]:
    """What to add to the conversation: the reply as it was, and why it cannot be used."""
    return [
        {"role": "assistant", "content": reply},
        {"role": "user", "content": f"This cannot be used: {error}. Send the whole JSON object again."},
    ]
