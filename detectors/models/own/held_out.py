"""Answers of sources that the network never saw, read by it and judged by an L1 that never saw them either."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from detectors.detector import Detector
from detectors.models.answerkinds import AnswerKind, kind_of
from detectors.models.own.detector import Reading
from detectors.models.own.human import Row, wrong_spans
from detectors.models.stacking import Features, Reader, stack_features
from schemas.claim import CheckItem
from schemas.trace import Passage
from schemas.verdict import ClaimJudgement

PARTS = 5
_ANSWERS_A_CALL = 32


@dataclass(frozen=True, slots=True)
class Answer:
    """One labelled answer with what both layers say; ``supported`` is each claim's label, None where nobody knows."""

    record: Row
    item: CheckItem
    kind: AnswerKind
    supported: tuple[bool | None, ...]
    first: tuple[ClaimJudgement, ...]
    read: tuple[Reading | None, ...]

    @property
    def features(self) -> list[Features | None]:
        """Features of the stack, a claim each."""
        return stack_features(self.first, self.read)

    @property
    def source(self) -> str:
        """What is held out as a whole."""
        return f"{self.record['dataset']}/{self.record['source_id']}"

    @property
    def part(self) -> int:
        """One of ``PARTS`` parts of the sources: what is fitted on the others is measured on it."""
        return int(hashlib.sha256(f"part {self.source}".encode()).hexdigest(), 16) % PARTS


def answers(records: Sequence[Row], l1: Detector, l2: Reader) -> list[Answer]:
    """Both layers on ``records``; those without a factual claim are left out."""
    found: list[Answer] = []
    claims, spans = wrong_spans(records)
    items = [
        CheckItem(record["question"], _passages(record), record["answer"], split)
        for record, split in zip(records, claims, strict=True)
    ]
    for at in range(0, len(items), _ANSWERS_A_CALL):
        part = slice(at, at + _ANSWERS_A_CALL)
        judged, read = l1.judge(items[part]), l2.read(items[part])
        for record, item, known, first, reading in zip(
            records[part], items[part], spans[part], judged, read, strict=True
        ):
            if any(claim.is_factual for claim in item.claims):
                labels = _labels(item, known)
                found.append(Answer(record, item, kind_of(item), labels, tuple(first), tuple(reading)))
    return found


def _passages(record: Mapping[str, Any]) -> list[Passage]:
    return [Passage(doc_id=one["doc_id"], text=one["text"]) for one in record["passages"]]


def _labels(item: CheckItem, spans: Sequence[tuple[int, int]] | None) -> tuple[bool | None, ...]:
    factual = sum(claim.is_factual for claim in item.claims)
    labels: list[bool | None] = []
    for claim in item.claims:
        if not claim.is_factual:
            labels.append(None)
        elif spans is not None:
            labels.append(not any(start < claim.end and end > claim.start for start, end in spans))
        else:
            labels.append(False if factual == 1 else None)
    return tuple(labels)
