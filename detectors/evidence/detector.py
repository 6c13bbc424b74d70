"""The L1 detector: claims in, calibrated support and contradiction out, with the piece of text that decided.

A claim is matched to its best pieces over all passages; each number depends on the claims of the answer, the question
and those pieces alone, so neither batch mates nor padding change it.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from detectors.detector import JudgedAnswer
from detectors.evidence.anchoring import moved
from detectors.evidence.claimtext import words_to_check
from detectors.evidence.conflicts import denies
from detectors.evidence.features import NOTHING, absences, disputed_keys, featurise
from detectors.evidence.forest import Array
from detectors.evidence.matching import Match, PreparedClaim, rival_matches
from detectors.evidence.nearest import nearest_piece
from detectors.evidence.passages import IndexedPassage, PassageCache, Piece
from detectors.evidence.restate import matched
from detectors.evidence.shown import is_superseded, shown_evidence
from detectors.evidence.weights import Weights, decided, load_weights
from detectors.evidence.why import NO_EVIDENCE, explain
from detectors.evidence.words import words_of
from schemas.claim import CheckItem
from schemas.trace import Passage
from schemas.verdict import ClaimJudgement

_DECIMALS = 4
_Place = tuple[int, int]
"""Of a claim: the item, and the claim in it."""
_SAME_SUBJECT = 0.75


@dataclass(frozen=True, slots=True)
class _Reading:
    """A claim beside one match: over all passages, or inside a passage that disagrees with that match."""

    place: _Place
    claim: PreparedClaim
    found: Match
    question: frozenset[str]
    passages: Sequence[IndexedPassage]


@dataclass(frozen=True, slots=True)
class _Answer:
    """Score of an answer, and how far its claims move for it, in log-odds."""

    score: float
    shift: float


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
        support, contradiction = self._weights.judge(features)
        rows_of = {place: _in_force(rows, readings, items) for place, rows in _by_claim(readings).items()}
        deciding = {place: max(rows, key=lambda row: support[row]) for place, rows in rows_of.items()}
        opposing = {place: max(float(contradiction[row]) for row in rows) for place, rows in rows_of.items()}
        answers = self._answers(judged, deciding, opposing, features, support)
        by = np.array([answers[reading.place[0]].shift for reading in readings], dtype=np.float64)
        support, contradiction = moved(support, contradiction, decided(features), by)
        for (at, number), rows in rows_of.items():
            scored = [(readings[row], _rounded(support[row]), _rounded(contradiction[row])) for row in rows]
            judged[at][number] = _judgement(scored, items[at].passages)
        scores = [answers[at].score if at in answers else None for at in range(len(items))]
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

    def _answers(
        self,
        judged: Sequence[Sequence[ClaimJudgement]],
        deciding: Mapping[_Place, int],
        opposing: Mapping[_Place, float],
        features: Array,
        support: Array,
    ) -> dict[int, _Answer]:
        """Answers with a claim to judge, by place; ``judged`` has the claims without evidence, which are empty rows."""
        unmatched = {
            (at, no) for at, claims in enumerate(judged) for no, one in enumerate(claims) if one.support is not None
        }
        places = sorted(unmatched.union(deciding))
        if not places:
            return {}
        # The last row is that of a claim without evidence, as in training.
        at_row = [deciding.get(place, -1) for place in places]
        rows, values = np.vstack([features, NOTHING])[at_row], np.append(support, 0.0)[at_row]
        counts = Counter(at for at, _ in places)
        sizes = [*counts.values()]
        scores = self._weights.score_answers(rows, values, sizes)
        against = np.array([opposing.get(place, 0.0) for place in places])
        by = self._weights.shifts(rows, values, against, sizes, scores)
        return {at: _Answer(_rounded(score), float(shift)) for at, score, shift in zip(counts, scores, by, strict=True)}


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


def _by_claim(readings: Sequence[_Reading]) -> dict[_Place, list[int]]:
    found: dict[_Place, list[int]] = {}
    for row, reading in enumerate(readings):
        found.setdefault(reading.place, []).append(row)
    return found


def _in_force(rows: list[int], readings: Sequence[_Reading], items: Sequence[CheckItem]) -> list[int]:
    """A superseded passage has no say beside one in force."""
    passages = items[readings[rows[0]].place[0]].passages
    return [row for row in rows if not is_superseded(passages[readings[row].found.passage])] or rows


def _judgement(scored: Sequence[tuple[_Reading, float, float]], passages: Sequence[Passage]) -> ClaimJudgement:
    """Maximum support and maximum contradiction, apart."""
    supporting = max(scored, key=lambda one: one[1])
    opposing = max(scored, key=lambda one: one[2])
    reading = (supporting if supporting[1] >= opposing[2] else opposing)[0]
    found = reading.found
    return ClaimJudgement(
        support=supporting[1],
        contradiction=opposing[2],
        evidence=shown_evidence(found.passage, passages[found.passage], found.best, found.content_hash),
        why=explain(reading.claim, found),
    )


def _rounded(score: float) -> float:
    return round(float(score), _DECIMALS)


def _unmatched(
    nearest: tuple[int, Piece] | None, indexed: Sequence[IndexedPassage], passages: Sequence[Passage]
) -> ClaimJudgement:
    """No support, beside the piece that a reader would look at first."""
    if nearest is None:
        return ClaimJudgement(support=0.0, contradiction=0.0, why=NO_EVIDENCE)
    number, piece = nearest
    shown = shown_evidence(number, passages[number], piece, indexed[number].content_hash)
    return ClaimJudgement(support=0.0, contradiction=0.0, evidence=shown, why=NO_EVIDENCE)
