"""Hand-written stand-ins, held to the same contract tests as the real things."""

from collections.abc import Mapping, Sequence

from schemas.claim import CheckItem, Claim
from schemas.labels import Outcome
from schemas.verdict import ClaimJudgement, Evidence


class FakeDetector:
    """Scores claims by a table of words: the first word that a claim contains decides; without one it is supported.

    ``scores`` maps a word to support and contradiction, or to an error outcome. ``judged`` counts the claims asked.
    """

    name = "fake"

    def __init__(
        self, scores: Mapping[str, tuple[float, float] | Outcome] | None = None, fingerprint: str = "fake-1"
    ) -> None:
        self.fingerprint = fingerprint
        self.judged = 0
        self._scores = dict(scores or {})

    def judge(self, items: Sequence[CheckItem]) -> list[list[ClaimJudgement]]:
        """One judgement a claim; the start of the first passage is the evidence."""
        return [[self._judge_claim(item, claim) for claim in item.claims] for item in items]

    def _judge_claim(self, item: CheckItem, claim: Claim) -> ClaimJudgement:
        if not claim.is_factual:
            return ClaimJudgement()
        self.judged += 1
        found = next((score for word, score in self._scores.items() if word in claim.text), (0.9, 0.05))
        if isinstance(found, Outcome):
            return ClaimJudgement(error=found)
        support, contradiction = found
        return ClaimJudgement(support=support, contradiction=contradiction, evidence=_evidence(item), why="fake")


def _evidence(item: CheckItem) -> Evidence | None:
    if not item.passages:
        return None
    first = item.passages[0]
    text = first.text[:40]
    return Evidence(passage=0, doc_id=first.doc_id, passage_hash="0" * 32, start=0, end=len(text), text=text)
