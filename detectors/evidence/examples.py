"""Labelled records as claims and indexed passages, for training and measuring; words are made once for all folds."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from detectors.claims import split_claims
from detectors.evidence.claimtext import words_to_check
from detectors.evidence.passages import IndexedPassage, index_passage
from detectors.evidence.words import Word, words_of

FOLDS = 5
SUPPORTED, UNSUPPORTED, CONTRADICTED, UNKNOWN = 0, 1, 2, -1
"""Labels of a claim; unknown where only the whole answer is labelled and it holds several claims."""


@dataclass(frozen=True, slots=True)
class ClaimExample:
    """One claim with its label and, where only the whole is known, what that says about contradiction."""

    words: tuple[Word, ...]
    text: str
    label: int


@dataclass(frozen=True, slots=True)
class AnswerExample:
    """One labelled answer. ``may_contradict``: its fault, if it has one, is of a kind that contradicts the passages."""

    record_id: str
    source: str
    group: str
    is_bad: bool
    may_contradict: bool | None
    question: frozenset[str]
    passages: tuple[IndexedPassage, ...]
    texts: tuple[str, ...]
    claims: tuple[ClaimExample, ...]
    weight: float = 1.0

    @property
    def fold(self) -> int:
        """The fold of its source: near-copies and shared pages stay together."""
        return fold_of(self.source)


def fold_of(source: str) -> int:
    """The fold of a source, as ``dataset/source_id``."""
    return int(hashlib.sha256(source.encode()).hexdigest(), 16) % FOLDS


def build_examples(records: Iterable[Mapping[str, Any]]) -> list[AnswerExample]:
    """Examples of records in the data set's format; answers without a factual claim are left out."""
    indexes: dict[str, IndexedPassage] = {}
    examples = []
    for record in records:
        texts = tuple(passage["text"] for passage in record["passages"])
        for text in texts:
            if text not in indexes:
                indexes[text] = index_passage(text)
        claims = _claims(record)
        if claims:
            examples.append(
                AnswerExample(
                    record_id=record["id"],
                    source=f"{record['dataset']}/{record['source_id']}",
                    group=f"{record['dataset']}/{record['task']}",
                    is_bad=bool(record["hallucinated"]),
                    may_contradict=_may_contradict(record),
                    question=frozenset(word.key for word in words_of(record["question"])),
                    passages=tuple(indexes[text] for text in texts),
                    texts=texts,
                    claims=claims,
                )
            )
    return examples


def _claims(record: Mapping[str, Any]) -> tuple[ClaimExample, ...]:
    claims = split_claims(record["answer"])
    checked = words_to_check(claims, record["question"])
    found = [(claim, words) for claim, words in zip(claims, checked, strict=True) if words is not None]
    spans = record["spans"]
    examples = []
    for claim, words in found:
        if spans is not None:
            label = _span_label(spans, claim.start, claim.end)
        elif not record["hallucinated"]:
            label = SUPPORTED
        elif len(found) == 1:
            label = CONTRADICTED if _may_contradict(record) else UNSUPPORTED
        else:
            label = UNKNOWN
        examples.append(ClaimExample(tuple(words), claim.text, label))
    return tuple(examples)


def _span_label(spans: Sequence[Mapping[str, Any]], start: int, end: int) -> int:
    touching = {span["label"] for span in spans if span["start"] < end and span["end"] > start}
    if "contradicted" in touching:
        return CONTRADICTED
    return UNSUPPORTED if touching else SUPPORTED


def _may_contradict(record: Mapping[str, Any]) -> bool | None:
    """Whether a fault of this record speaks against the passages; None where the data does not tell."""
    if record["spans"] is not None:
        return any(span["label"] == "contradicted" for span in record["spans"])
    if "label4" in record:
        return bool(record["label4"] == "refute")
    edits = record.get("edit_types")
    if not edits:
        return False if record["dataset"] == "wice" else None
    if record["dataset"] == "bump":
        return all(str(edit).startswith("Intrinsic") for edit in edits)
    return "hallucinated_fact_insertion" not in edits
