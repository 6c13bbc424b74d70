"""The L1 detector: claims in, calibrated support and contradiction out, with the piece of text that decided.

A claim is matched to its best pieces over all passages; each number depends on the claim, the question and those
pieces alone, so neither batch mates nor padding change it.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from detectors.detector import JudgedAnswer
from detectors.evidence.claimtext import words_to_check
from detectors.evidence.conflicts import denies
from detectors.evidence.features import NOTHING, absences, disputed_keys, featurise
from detectors.evidence.forest import Array
from detectors.evidence.matching import Match, PreparedClaim, rival_matches
from detectors.evidence.nearest import nearest_piece
from detectors.evidence.passages import IndexedPassage, PassageCache, Piece
from detectors.evidence.restate import matched
from detectors.evidence.shown import is_superseded, shown_evidence
from detectors.evidence.weights import Weights, load_weights
from detectors.evidence.why import NO_EVIDENCE, explain
from detectors.evidence.words import words_of
from schemas.claim import CheckItem
from schemas.trace import Passage
from schemas.verdict import ClaimJudgement

_DECIMALS = 4
_SAME_SUBJECT = 0.75


@dataclass(frozen=True, slots=True)
class _Reading:
    """A claim beside one match: over all passages, or inside a passage that disagrees with that match."""

    place: tuple[int, int]
    claim: PreparedClaim
    found: Match
    question: frozenset[str]
    passages: Sequence[IndexedPassage]


@dataclass(frozen=True, slots=True)
class _Scored:
    """``row`` is the place of its features."""

    reading: _Reading
    row: int
    support: float
    contradiction: float


class EvidenceDetector:
    """Implements ``detectors.detector.AnswerDetector``; safe to share across threads.

    ``max_cached_characters`` bounds the passages kept tokenised, counted in characters of their text; the index takes
    some 50 bytes of memory a character.
    """

    name = "evidence"

    def __init__(self, weights: Weights, max_cached_characters: int = 4_000_000) -> None:
        self._weights = weights
        self._cache = PassageCache(max_cached_characters)
        self._fingerprint = f"{self.name}:{weights.fingerprint}"

    @property
    def fingerprint(self) -> str:
        """Hash of the weights and the feature version."""
        return self._fingerprint

    def judge(self, items: Sequence[CheckItem]) -> list[list[ClaimJudgement]]:
        """One list per item, one judgement per claim; never raises for content. Time is linear in the text."""
        return [answer.claims for answer in self.judge_answers(items)]

    def judge_answers(self, items: Sequence[CheckItem]) -> list[JudgedAnswer]:
        """As ``judge``, with the calibrated probability that every claim of the answer is supported."""
        judged = [[ClaimJudgement()] * len(item.claims) for item in items]
        readings: list[_Reading] = []
        for at, item in enumerate(items):
            readings.extend(self._readings(at, item, judged[at]))
        features = _features(readings)
        scored: dict[tuple[int, int], list[_Scored]] = {}
        for one in self._score(readings, features):
            scored.setdefault(one.reading.place, []).append(one)
        for (at, number), found in scored.items():
            judged[at][number] = _judgement(found, items[at].passages)
        scores = self._score_answers(judged, {place: found[0].row for place, found in scored.items()}, features)
        return [JudgedAnswer(claims, score) for claims, score in zip(judged, scores, strict=True)]

    def _readings(self, at: int, item: CheckItem, judged: list[ClaimJudgement]) -> Iterator[_Reading]:
        """What is to be scored; claims without a match are put into ``judged`` at once."""
        passages = self._cache.indexed(item.passages)
        asked = words_of(item.question)
        question = frozenset(word.key for word in asked)
        for number, words in enumerate(words_to_check(item.claims, item.question)):
            if words is None:
                continue
            prepared, overall = matched(words, self._weights.terms.weight, passages)
            matches = _matches(prepared, overall, passages) if overall is not None else []
            if not matches:
                counting = frozenset(word.key for word in asked if not word.is_stop)
                judged[number] = _unmatched(nearest_piece(prepared, counting, passages), passages, item.passages)
            for found in matches:
                yield _Reading((at, number), prepared, found, question, passages)

    def _score(self, readings: Sequence[_Reading], features: Array) -> list[_Scored]:
        if not readings:
            return []
        support, contradiction = self._weights.judge(features)
        return [
            _Scored(reading, row, round(float(s), _DECIMALS), round(float(c), _DECIMALS))
            for row, (reading, s, c) in enumerate(zip(readings, support, contradiction, strict=True))
        ]

    def _score_answers(
        self, judged: Sequence[Sequence[ClaimJudgement]], row_of: Mapping[tuple[int, int], int], features: Array
    ) -> list[float | None]:
        """One score an answer, None without a claim that was judged; claims without evidence count as empty rows."""
        places = [
            (at, number) for at, one in enumerate(judged) for number, j in enumerate(one) if j.support is not None
        ]
        scores: list[float | None] = [None] * len(judged)
        if not places:
            return scores
        # The last row is that of a claim without evidence, as in training.
        rows = np.vstack([features, NOTHING])[[row_of.get(place, -1) for place in places]]
        support = np.array([judged[at][number].support for at, number in places], dtype=np.float64)
        sizes = Counter(at for at, _ in places)
        found = self._weights.score_answers(rows, support, [*sizes.values()])
        for at, score in zip(sizes, found, strict=True):
            scores[at] = round(float(score), _DECIMALS)
        return scores


@lru_cache(maxsize=1)
def load_evidence_detector() -> EvidenceDetector:
    """The detector with the weights shipped in the package; one a process, so that its passages are cached once."""
    return EvidenceDetector(load_weights())


def _features(readings: Sequence[_Reading]) -> Array:
    rows = [[*featurise(one.claim, one.found, one.question), *absences(one.claim, one.passages)] for one in readings]
    return np.array(rows, dtype=np.float64).reshape(len(rows), len(NOTHING))


def _matches(claim: PreparedClaim, found: Match, passages: Sequence[IndexedPassage]) -> list[Match]:
    """The overall match, and where it or another passage speaks against the claim, both sides."""
    rivals = rival_matches(claim, found, passages)
    if not rivals:
        return [found]
    if _is_disputed(claim, found):
        return [found, *(rival for rival in rivals if not _is_disputed(claim, rival))]
    return [found, *(rival for rival in rivals if _contradicts(claim, rival))]


def _is_disputed(claim: PreparedClaim, found: Match) -> bool:
    return bool(disputed_keys(claim, found)) or denies(claim, found)


def _contradicts(claim: PreparedClaim, rival: Match) -> bool:
    """True when the rival says the same but for the words in dispute; "14 days" of something else do not contradict."""
    if denies(claim, rival):
        return True
    disputed = disputed_keys(claim, rival)
    rest = sum(weight for key, weight in claim.weights.items() if key not in disputed)
    covered = sum(weight for key, weight in claim.weights.items() if key in rival.best.keys)
    return bool(disputed) and covered >= _SAME_SUBJECT * rest


def _judgement(scored: Sequence[_Scored], passages: Sequence[Passage]) -> ClaimJudgement:
    """Maximum support and maximum contradiction, apart; a superseded passage has no say beside one in force."""
    in_force = [one for one in scored if not is_superseded(passages[one.reading.found.passage])] or scored
    supporting = max(in_force, key=lambda one: one.support)
    opposing = max(in_force, key=lambda one: one.contradiction)
    shown = supporting if supporting.support >= opposing.contradiction else opposing
    found = shown.reading.found
    return ClaimJudgement(
        support=supporting.support,
        contradiction=opposing.contradiction,
        evidence=shown_evidence(found.passage, passages[found.passage], found.best, found.content_hash),
        why=explain(shown.reading.claim, found),
    )


def _unmatched(
    nearest: tuple[int, Piece] | None, indexed: Sequence[IndexedPassage], passages: Sequence[Passage]
) -> ClaimJudgement:
    """No support, beside the piece that a reader would look at first."""
    if nearest is None:
        return ClaimJudgement(support=0.0, contradiction=0.0, why=NO_EVIDENCE)
    number, piece = nearest
    shown = shown_evidence(number, passages[number], piece, indexed[number].content_hash)
    return ClaimJudgement(support=0.0, contradiction=0.0, evidence=shown, why=NO_EVIDENCE)
