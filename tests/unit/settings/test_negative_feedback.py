"""What counts as negative feedback at first: it only decides what stands first in a list."""

import pytest

from schemas.patterns import compile_pattern
from streams.settings import Settings

NEGATIVE = compile_pattern(Settings().web.negative_feedback)


@pytest.mark.parametrize(
    "feedback",
    [
        "thumbs down", "thumbs_down", "thumb=down (wrong sum)", "👎", "Thumbs-Down!", "user_score=0",
        "score=0.0; note=x", "helpfulness=0.25", "rating=-1", "rating: 1", "stars=2.0", "WRONG",
        "the answer is incorrect", "not helpful at all", "correctness=false", "hallucinated the price",
        "feedback=negative", "quality=good; user=dislike",
    ],
)  # fmt: skip
def test_negative_feedback_is_recognised(feedback: str) -> None:
    """Words, thumbs, low scores."""
    assert NEGATIVE.is_in(feedback)


@pytest.mark.parametrize(
    "feedback",
    [
        "thumbs up", "👍", "score=1", "score=0.5", "score=0.9", "user_score=10", "rating=5", "stars=4.5", "helpful",
        "correctness=true", "great, thanks", "download worked", "at 10:00 it was there", "falsehood detector fine",
    ],
)  # fmt: skip
def test_other_feedback_is_not(feedback: str) -> None:
    """Nor are words and numbers that only look like it."""
    assert not NEGATIVE.is_in(feedback)
