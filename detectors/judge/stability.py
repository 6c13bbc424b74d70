"""Several runs on one claim: the most frequent label holds, and a tie is ``unverifiable``."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from detectors.judge.reply import JudgeLabel, JudgeReply


@dataclass(frozen=True, slots=True)
class Settled:
    """What the runs together say; ``votes`` of ``runs`` gave the most frequent label.

    ``confidence`` is what the judge states of a single run; of several it is their share, which says more than what a
    model claims of itself.
    """

    label: JudgeLabel
    votes: int
    runs: int
    confidence: float | None
    evidence: tuple[int, ...]
    reason: str


def settle(replies: Sequence[JudgeReply], runs: int) -> Settled | None:
    """The majority of the ``runs`` asked for; None where half of them or more gave no verdict.

    Evidence and reason are those of the first run that gave the label.
    """
    if not replies or 2 * len(replies) <= runs:
        return None
    ranked = Counter(reply.label for reply in replies).most_common(2)
    label, votes = ranked[0]
    is_tie = len(ranked) > 1 and ranked[1][1] == votes
    first = next(reply for reply in replies if reply.label is label)
    confidence = first.confidence if runs == 1 else votes / len(replies)
    if is_tie:
        return Settled(JudgeLabel.UNVERIFIABLE, votes, len(replies), confidence, (), "the runs disagree")
    return Settled(label, votes, len(replies), confidence, first.evidence, first.reason)
