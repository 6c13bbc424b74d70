"""Hand-written detectors for tests; ``WordDetector`` is held to the same contract as the real ones."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from detectors.detector import JudgedAnswer
from schemas.claim import CheckItem, Claim
from schemas.labels import Outcome
from schemas.trace import Passage, passage_hash
from schemas.verdict import ClaimJudgement, Evidence

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


@dataclass
class QuotingDetector:
    """Supports a claim by the first passage that holds its words; ``NOT`` before them there contradicts it.

    ``alone`` names claims that it finds supported where the passage with this id is all that it is given, as a detector
    may lose sight of evidence among many passages. Records how many items each call had.
    """

    alone: dict[str, str] = field(default_factory=dict)
    fingerprint: str = "quoting-1"
    name: str = "quoting"
    batches: list[int] = field(default_factory=list)

    def judge(self, items: Sequence[CheckItem]) -> list[list[ClaimJudgement]]:
        """One judgement per claim."""
        self.batches.append(len(items))
        return [
            [self._judge(claim, item.passages) if claim.is_factual else ClaimJudgement() for claim in item.claims]
            for item in items
        ]

    def _judge(self, claim: Claim, passages: Sequence[Passage]) -> ClaimJudgement:
        words = claim.text.rstrip(".")
        for place, passage in enumerate(passages):
            at = passage.text.find(words)
            if at >= 0:
                is_denied = passage.text[:at].endswith("NOT ")
                found = _span(place, passage, at, at + len(words))
                return ClaimJudgement(support=0.0 if is_denied else 1.0, contradiction=0.9 * is_denied, evidence=found)
        if [passage.doc_id for passage in passages] == [self.alone.get(claim.text)]:
            found = _span(0, passages[0], 0, len(passages[0].text))
            return ClaimJudgement(support=0.9, contradiction=0.0, evidence=found)
        return ClaimJudgement(support=0.1, contradiction=0.0, why="not quoted")


def _span(place: int, passage: Passage, start: int, end: int) -> Evidence:
    return Evidence(
        passage=place,
        doc_id=passage.doc_id,
        passage_hash=passage_hash(passage.text),
        start=start,
        end=end,
        text=passage.text[start:end],
    )


@dataclass
class AnswerBreaker:
    """Scores every answer .75 and its claims 1; raises where an answer holds ``poison``."""

    poison: str
    fingerprint: str = "answers-1"
    name: str = "answers"

    def judge(self, items: Sequence[CheckItem]) -> list[list[ClaimJudgement]]:
        """The claims alone."""
        return [answer.claims for answer in self.judge_answers(items)]

    def judge_answers(self, items: Sequence[CheckItem]) -> list[JudgedAnswer]:
        """Claims and score."""
        if any(self.poison in item.answer for item in items):
            raise ValueError(self.poison)
        sure = ClaimJudgement(support=1.0, contradiction=0.0)
        return [JudgedAnswer([sure] * len(item.claims), 0.75) for item in items]
