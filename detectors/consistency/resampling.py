"""The seam to the model that is asked again; the real client lives in ``streams``."""

from dataclasses import dataclass
from typing import Protocol

from detectors.layers import Spent
from schemas.layers import LayerReason

MOST_TOKENS = 1024
_LEAST_TOKENS = 64
_CHARS_PER_TOKEN = 3
"""Fewer than the four of English prose, so that a budget is not overdrawn by other languages."""


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
        """``count`` answers to the prompt, each cut at ``max_tokens``; ``deadline`` in seconds of ``time.monotonic``.

        Raises ResamplingFailed: ``out_of_time``, ``away`` or ``failed``.
        """
        ...


def room_for(answer: str) -> int:
    """Most tokens of a sample: twice the answer's, so that one that is cut had room to say the same."""
    return min(MOST_TOKENS, _LEAST_TOKENS + 2 * tokens_in(answer))


def tokens_in(text: str) -> int:
    """About how many tokens a text has, rather too many than too few."""
    return 1 + len(text) // _CHARS_PER_TOKEN
