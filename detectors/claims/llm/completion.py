"""The seam to a language model: messages in, one reply out; the real client lives in ``streams``."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol, TypedDict


class Message(TypedDict):
    """One message of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


class CompletionFailed(Exception):
    """The model gave no reply; ``reason`` is ``timeout``, ``too_long`` or ``model``, never user text."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Completion(Protocol):
    """A chat endpoint. Safe to call from several threads."""

    @property
    def model(self) -> str:
        """Name of the model, as the fingerprint is to hold it."""
        ...

    def complete(self, messages: Sequence[Message], schema: Mapping[str, Any]) -> str:
        """The text of the reply, which should follow the JSON Schema. Raises CompletionFailed."""
        ...
