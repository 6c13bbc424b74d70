"""Self-consistency of short answers: whether a model that is asked several times says the same often enough.

An answer that changes from sample to sample is a guess, whatever the evidence; the vote looks at nothing but the words.
"""

import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

LEAST_OF_FIVE = 4
_EDGES = " .,;:!?…。！？؟।\"'“”‘’«»()[]*_`"


@dataclass(frozen=True, slots=True)
class Vote:
    """The most frequent answer in normal form (the first of several), how often it came, and among how many."""

    answer: str
    votes: int
    total: int
    is_flagged: bool


def vote(answers: Sequence[str], least: int = LEAST_OF_FIVE) -> Vote:
    """Flagged when fewer than ``least`` of the answers are the same in normal form; the default is meant for five.

    Raises ValueError for no answers, and for a ``least`` that is not between 1 and their number.
    """
    if not 1 <= least <= len(answers):
        message = f"least = {least} of {len(answers)} answers: it must be between 1 and their number"
        raise ValueError(message)
    answer, votes = Counter(map(normalised, answers)).most_common(1)[0]
    return Vote(answer, votes, len(answers), is_flagged=votes < least)


def normalised(answer: str) -> str:
    """What counts as the same answer: Unicode form (NFKC), case, white space, and signs at both ends are ignored."""
    return " ".join(unicodedata.normalize("NFKC", answer).casefold().split()).strip(_EDGES)
