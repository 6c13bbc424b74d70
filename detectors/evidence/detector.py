"""The L1 detector: claims in, calibrated support and contradiction out, with the piece of text that decided.

A claim is matched to its best pieces over all passages; each number depends on the claim, the question and those
pieces alone, so neither batch mates nor padding change it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from detectors.evidence.claimtext import words_to_check
from detectors.evidence.features import disputed_keys, featurise
from detectors.evidence.matching import Match, PreparedClaim, match, prepare, rival_matches
from detectors.evidence.passages import IndexedPassage, PassageCache
from detectors.evidence.weights import Weights, load_weights
from detectors.evidence.why import NO_EVIDENCE, explain
from detectors.evidence.words import words_of
from schemas.claim import CheckItem
from schemas.trace import Passage
from schemas.verdict import ClaimJudgement, Evidence

_UNMATCHED = ClaimJudgement(support=0.0, contradiction=0.0, why=NO_EVIDENCE)
_DECIMALS = 4
_SAME_SUBJECT = 0.75


@dataclass(frozen=True, slots=True)
class _Reading:
    """A claim beside one match: over all passages, or inside a passage that disagrees with that match."""

    place: tuple[int, int]
    claim: PreparedClaim
    found: Match
    question: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Scored:
    reading: _Reading
    support: float
    contradiction: float


class EvidenceDetector:
    """Implements ``detectors.detector.Detector``; safe to share across threads.

    ``max_cached_characters`` bounds the passages kept tokenised, counted in characters of their text; the index takes
    some 30 bytes of memory a character.
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
        scored: dict[tuple[int, int], list[_Scored]] = {}
        for one in self._score([reading for at, item in enumerate(items) for reading in self._readings(at, item)]):
            scored.setdefault(one.reading.place, []).append(one)
        return [
            [
                _judgement(scored.get((at, number), []), item.passages) if claim.is_factual else ClaimJudgement()
                for number, claim in enumerate(item.claims)
            ]
            for at, item in enumerate(items)
        ]

    def _readings(self, at: int, item: CheckItem) -> Iterator[_Reading]:
        passages = self._cache.indexed(item.passages)
        question = frozenset(word.key for word in words_of(item.question))
        for number, words in enumerate(words_to_check(item.claims, item.question)):
            if words is not None:
                prepared = prepare(words, self._weights.terms.weight)
                for found in _matches(prepared, passages):
                    yield _Reading((at, number), prepared, found, question)

    def _score(self, readings: Sequence[_Reading]) -> list[_Scored]:
        if not readings:
            return []
        features = np.array([featurise(one.claim, one.found, one.question) for one in readings])
        support = self._weights.support.probability(features)
        # The second model tells contradicted from merely unsupported, given that a claim is not supported.
        contradiction = self._weights.contradiction.probability(features) * (1 - support)
        return [
            _Scored(reading, round(float(s), _DECIMALS), round(float(c), _DECIMALS))
            for reading, s, c in zip(readings, support, contradiction, strict=True)
        ]


@lru_cache(maxsize=1)
def load_evidence_detector() -> EvidenceDetector:
    """The detector with the weights shipped in the package; one a process, so that its passages are cached once."""
    return EvidenceDetector(load_weights())


def _matches(claim: PreparedClaim, passages: Sequence[IndexedPassage]) -> list[Match]:
    """The overall match, and where it or another passage speaks against the claim, both sides."""
    found = match(claim, passages)
    if found is None:
        return []
    rivals = rival_matches(claim, found, passages)
    if not rivals:
        return [found]
    if disputed_keys(claim, found):
        return [found, *(rival for rival in rivals if not disputed_keys(claim, rival))]
    return [found, *(rival for rival in rivals if _contradicts(claim, rival))]


def _contradicts(claim: PreparedClaim, rival: Match) -> bool:
    """True when the rival says the same but for the words in dispute; "14 days" of something else do not contradict."""
    disputed = disputed_keys(claim, rival)
    rest = sum(weight for key, weight in claim.weights.items() if key not in disputed)
    covered = sum(weight for key, weight in claim.weights.items() if key in rival.best.keys)
    return bool(disputed) and covered >= _SAME_SUBJECT * rest


def _judgement(scored: Sequence[_Scored], passages: Sequence[Passage]) -> ClaimJudgement:
    """Maximum support and maximum contradiction, apart; a superseded passage has no say beside one in force."""
    if not scored:
        return _UNMATCHED
    in_force = [one for one in scored if not _is_superseded(passages[one.reading.found.passage])] or scored
    supporting = max(in_force, key=lambda one: one.support)
    opposing = max(in_force, key=lambda one: one.contradiction)
    shown = supporting if supporting.support >= opposing.contradiction else opposing
    return ClaimJudgement(
        support=supporting.support,
        contradiction=opposing.contradiction,
        evidence=_evidence(shown.reading.found, passages),
        why=explain(shown.reading.claim, shown.reading.found),
    )


def _is_superseded(passage: Passage) -> bool:
    return passage.archived or bool(passage.superseded_by)


def _evidence(found: Match, passages: Sequence[Passage]) -> Evidence:
    passage, piece = passages[found.passage], found.best
    return Evidence(
        passage=found.passage,
        doc_id=passage.doc_id,
        passage_hash=found.content_hash,
        start=piece.start,
        end=piece.end,
        text=passage.text[piece.start : piece.end],
    )
