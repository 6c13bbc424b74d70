"""The seam to a language model: messages in, replies out; the real client lives in ``streams``.

One for all who ask one (claims, judge, samples), so that cost, limits and failures are counted the same way.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any, Literal, Protocol, TypedDict

_BYTES_PER_TOKEN = 3
_TOKENS_PER_MESSAGE = 8


class Message(TypedDict):
    """One message of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Ask:
    """One call. The defaults are greedy and seeded, so that a reply can be had again.

    ``max_tokens`` bounds each reply. ``schema`` is the JSON Schema that replies should follow, None for free text; an
    endpoint that cannot hold replies to one is asked without it. ``timeout_seconds`` None: the client's own.
    """

    messages: Sequence[Message]
    max_tokens: int
    schema: Mapping[str, Any] | None = None
    schema_name: str = "reply"
    samples: int = 1
    temperature: float = 0.0
    seed: int = 0
    logprobs: bool = False
    timeout_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Choice:
    """One reply; ``is_cut``: it ended at ``max_tokens``. ``logprobs`` are those of its tokens, where asked for."""

    text: str
    is_cut: bool = False
    logprobs: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """At least one choice, and what the call took; tokens are estimated where the endpoint does not count them."""

    choices: tuple[Choice, ...]
    tokens_in: int = 0
    tokens_out: int = 0
    calls: int = 1
    """Requests sent: more than one where the endpoint refused a parameter and was asked without it."""


class CompletionFailed(Exception):
    """The model gave no reply; ``reason`` is ``timeout``, ``too_long`` or ``model``, never user text.

    ``is_away``: the endpoint did not answer, or answers nobody now, so that the next call may find the same. Of a call
    that ran out of time the prompt may be billed all the same: ``tokens_in`` is what it holds at most.
    ``retry_after_seconds``: how long an endpoint that is too busy asks to be left alone; 0 where it does not say.
    """

    def __init__(
        self, reason: str, *, is_away: bool = False, tokens_in: int = 0, retry_after_seconds: float = 0.0
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.is_away = is_away
        self.tokens_in = tokens_in
        self.retry_after_seconds = retry_after_seconds


class Completion(Protocol):
    """A chat endpoint. Safe to call from several threads."""

    @property
    def model(self) -> str:
        """Name of the model, as the fingerprint is to hold it."""
        ...

    def ask(self, ask: Ask) -> Reply:
        """The replies. Raises CompletionFailed."""
        ...


def tokens_of(text: str) -> int:
    """About how many tokens a text has, rather too many: three bytes of UTF-8 each (Latin text has four or more).

    >>> tokens_of("The pass costs 12 euros."), tokens_of("")
    (8, 0)
    """
    return ceil(len(text.encode("utf-8", "replace")) / _BYTES_PER_TOKEN)


def prompt_tokens(messages: Sequence[Message]) -> int:
    """About how many tokens a prompt has, with what marks its messages."""
    return sum(tokens_of(message["content"]) + _TOKENS_PER_MESSAGE for message in messages)
