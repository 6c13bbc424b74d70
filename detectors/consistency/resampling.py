"""The seam to the model that is asked again, and how much room it is given."""

from dataclasses import dataclass
from typing import Protocol

from detectors.completion import tokens_of
from detectors.layers import Spent
from schemas.layers import LayerReason

MOST_TOKENS = 1024
_LEAST_TOKENS = 64


@dataclass(frozen=True, slots=True)
class Samples:
    """Answers that were drawn, fewer than asked for where the model gave nothing, and what they cost."""

    texts: tuple[str, ...]
    spent: Spent


class ResamplingFailed(Exception):
    """No answer could be drawn; ``spent`` is what it cost all the same. Never holds user text."""

    def __init__(self, reason: LayerReason, spent: Spent = Spent()) -> None:  # noqa: B008 - a frozen value
        super().__init__(reason.value)
        self.reason = reason
        self.spent = spent


class Resampler(Protocol):
    """Asks a model the recorded prompt again. Safe to call from several threads."""

    @property
    def model(self) -> str:
        """Name of the model, as the fingerprint is to hold it."""
        ...

    def sample(self, prompt: str, count: int, temperature: float, max_tokens: int, deadline: float | None) -> Samples:
        """Up to ``count`` answers to the prompt, each cut at ``max_tokens``; at least one.

        ``deadline`` is in seconds of ``time.monotonic``. Raises ResamplingFailed: ``out_of_time``, ``away`` or
        ``failed``.
        """
        ...


def room_for(answer: str) -> int:
    """Most tokens of a sample: twice the answer's, so that one that is cut had room to say the same."""
    return min(MOST_TOKENS, _LEAST_TOKENS + 2 * tokens_of(answer))
