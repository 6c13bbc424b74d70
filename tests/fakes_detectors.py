"""Hand-written detectors for tests; ``WordDetector`` is held to the same contract as the real ones."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from schemas.claim import CheckItem, Claim
from schemas.labels import Outcome
from schemas.trace import Passage
from schemas.verdict import ClaimJudgement

LONGEST_CLAIM_CHARS = 100_000


@dataclass
class WordDetector:
    """Support is the share of a claim's words that one passage holds; records how often it was called."""

    fingerprint: str = "words-1"
    name: str = "words"
    batches: list[int] = field(default_factory=list)

    def judge(self, items: Sequence[CheckItem]) -> list[list[ClaimJudgement]]:
        """One judgement per claim."""
        self.batches.append(len(items))
        return [[self._judge_claim(claim, item.passages) for claim in item.claims] for item in items]

    def _judge_claim(self, claim: Claim, passages: Sequence[Passage]) -> ClaimJudgement:
        if not claim.is_factual:
            return ClaimJudgement()
        if len(claim.text) > LONGEST_CLAIM_CHARS:
            return ClaimJudgement(error=Outcome.ERROR_TOO_LONG)
        words = set(claim.text.lower().split())
        shares = [len(words & set(passage.text.lower().split())) / len(words) for passage in passages]
        return ClaimJudgement(support=max(shares, default=0.0), contradiction=0.0)


@dataclass
class ScriptedDetector:
    """Gives the judgement that ``by_text`` names for a claim's text, else full support."""

    by_text: dict[str, ClaimJudgement] = field(default_factory=dict)
    fingerprint: str = "scripted-1"
    name: str = "scripted"

    def judge(self, items: Sequence[CheckItem]) -> list[list[ClaimJudgement]]:
        """One judgement per claim."""
        sure = ClaimJudgement(support=1.0, contradiction=0.0)
        return [
            [self.by_text.get(claim.text, sure) if claim.is_factual else ClaimJudgement() for claim in item.claims]
            for item in items
        ]


@dataclass
class BrokenDetector:
    """Raises ``error`` whenever an answer holds ``poison``, ``times`` times at most; counts its calls."""

    poison: str
    error: Exception
    times: int = 1_000_000
    fingerprint: str = "broken-1"
    name: str = "broken"
    calls: int = 0

    def judge(self, items: Sequence[CheckItem]) -> list[list[ClaimJudgement]]:
        """Full support, or the error."""
        self.calls += 1
        if self.times > 0 and any(self.poison in item.answer for item in items):
            self.times -= 1
            raise self.error
        return ScriptedDetector().judge(items)


@dataclass
class ForgetfulDetector:
    """Leaves out the last judgement of every item: a detector that breaks its contract."""

    fingerprint: str = "forgetful-1"
    name: str = "forgetful"

    def judge(self, items: Sequence[CheckItem]) -> list[list[ClaimJudgement]]:
        """One judgement too few per item."""
        return [judgements[:-1] for judgements in ScriptedDetector().judge(items)]
