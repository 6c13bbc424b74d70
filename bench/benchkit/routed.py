"""Detectors for answers whose sources are known: each judged by weights that never saw its source, or by its label."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from detectors.detector import Detector
from detectors.evidence.examples import FOLDS, fold_of
from schemas.claim import CheckItem, Claim
from schemas.trace import passage_hash
from schemas.verdict import ClaimJudgement

Key = tuple[tuple[str, ...], str]
"""Hashes of the passages, and the answer: what a judgement depends on, besides the question of the same source."""


def key_of(passages: Iterable[str], answer: str) -> Key:
    """The key of an answer on these passage texts."""
    return tuple(passage_hash(text) for text in passages), answer


def source_fold(record: Mapping[str, Any]) -> int:
    """The fold of a record's source by the rule of training; weights of that number were trained without it."""
    return fold_of(f"{record['dataset']}/{record['source_id']}")


@dataclass(slots=True)
class RoutedDetector:
    """One evidence detector a fold; an item goes to the one of its source. Equal items are judged once.

    A second look has other passages, such as the user's own words, or only some of the claims; it goes by its answer.

    ``shifts``: added to a fold's support on the log-odds scale, so that a threshold chosen for the fold becomes the
    one threshold of the policy. Implements ``detectors.detector.Detector``.
    """

    folds: Sequence[Detector]
    fold_of_text: Mapping[str, int]
    shifts: Sequence[float] = (0.0,) * FOLDS
    known: dict[tuple[Key, str, Sequence[Claim]], list[ClaimJudgement]] = field(default_factory=dict)
    name: str = "evidence-by-fold"

    @property
    def fingerprint(self) -> str:
        """The folds' fingerprints and shifts."""
        parts = [f"{one.fingerprint}{shift:+.4f}" for one, shift in zip(self.folds, self.shifts, strict=True)]
        return "folds-" + "-".join(parts)

    def judge(self, items: Sequence[CheckItem]) -> list[list[ClaimJudgement]]:
        """One list per item. Raises StopIteration where neither passages nor answer belong to a source."""
        return [self._one(item) for item in items]

    def _one(self, item: CheckItem) -> list[ClaimJudgement]:
        texts = [passage.text for passage in item.passages]
        key = key_of(texts, item.answer), item.question, tuple(item.claims)
        if key not in self.known:
            hashes = (passage_hash(text) for text in (*texts, item.answer))
            fold = next(self.fold_of_text[one] for one in hashes if one in self.fold_of_text)
            (judged,) = self.folds[fold].judge([item])
            self.known[key] = [_shifted(judgement, self.shifts[fold]) for judgement in judged]
        return self.known[key]


def text_folds(records: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Fold by the hash of the first passage, and of the answer, the first record's where several say the same.

    Raises ValueError when two folds share a first passage: then no fold is unseen.
    """
    found: dict[str, int] = {}
    for record in records:
        first = passage_hash(record["passages"][0]["text"])
        fold = source_fold(record)
        if found.setdefault(first, fold) != fold:
            raise ValueError(f"record {record['id']}: its first passage also belongs to a source of another fold")
    for record in records:
        found.setdefault(passage_hash(record["answer"]), source_fold(record))
    return found


def logit(probability: float) -> float:
    """Log-odds, finite at 0 and 1."""
    clipped = min(max(probability, 1e-6), 1 - 1e-6)
    return math.log(clipped / (1 - clipped))


def _shifted(judgement: ClaimJudgement, shift: float) -> ClaimJudgement:
    if judgement.support is None or shift == 0.0:
        return judgement
    return judgement.model_copy(update={"support": 1 / (1 + math.exp(-logit(judgement.support) - shift))})


@dataclass(frozen=True, slots=True)
class LabelDetector:
    """Says what people said: the yardstick of what the rest of the pipeline does with a perfect detector."""

    bad_of: Mapping[Key, bool]
    name: str = "human-labels"
    fingerprint: str = "human-labels"

    def judge(self, items: Sequence[CheckItem]) -> list[list[ClaimJudgement]]:
        """Support 0 or 1 for every factual claim, by the label of the answer; 0 beside passages that nobody judged."""
        return [
            [
                ClaimJudgement(support=float(not self._is_bad(item)), contradiction=0.0)
                if claim.is_factual
                else ClaimJudgement()
                for claim in item.claims
            ]
            for item in items
        ]

    def _is_bad(self, item: CheckItem) -> bool:
        return self.bad_of.get(key_of((passage.text for passage in item.passages), item.answer), True)
