"""Claims that people labelled, with the wrong words where spans or a comparison with the true version tell them."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

from detectors.claims import split_claims
from detectors.models.own.synthetic import Labelled
from schemas.claim import Claim

_EDITED = ("summedits", "bump")
Row = Mapping[str, Any]
Span = tuple[int, int]


def labelled(records: Sequence[Row]) -> list[list[Labelled]]:
    """Claims of each record, in order; where only the whole answer is labelled it is one claim."""
    return [
        _of_record(record, claims, spans) for record, claims, spans in zip(records, *wrong_spans(records), strict=True)
    ]


def wrong_spans(records: Sequence[Row]) -> tuple[list[list[Claim]], list[list[Span] | None]]:
    """Claims of each record, and the characters of its answer known to be wrong; None where only the whole is known.

    Edited answers are compared with the true version most like them.
    """
    truths: dict[tuple[str, str], list[str]] = defaultdict(list)
    for record in records:
        if record["dataset"] in _EDITED and not record["hallucinated"]:
            truths[record["dataset"], record["source_id"]].append(record["answer"])
    spans = [_spans(record, truths.get((record["dataset"], record["source_id"]), [])) for record in records]
    return [list(split_claims(record["answer"])) for record in records], spans


def _spans(record: Row, truths: Sequence[str]) -> list[Span] | None:
    answer = record["answer"]
    if record["spans"] is not None:
        return [(span["start"], span["end"]) for span in record["spans"]]
    if not record["hallucinated"]:
        return []
    if record["dataset"] in _EDITED and truths:
        return differing(answer, max(truths, key=lambda truth: _likeness(truth, answer)))
    return None


def _of_record(record: Row, claims: Sequence[Claim], spans: Sequence[Span] | None) -> list[Labelled]:
    group = f"{record['dataset']}/{record['task']}"
    if spans is None:
        return [Labelled(record["answer"], supported=False, wrong=None, group=group)]
    return [_of_claim(claim, spans, group) for claim in claims if claim.is_factual]


def _of_claim(claim: Claim, spans: Sequence[Span], group: str) -> Labelled:
    shift = len(claim.statement) - len(claim.text) - claim.start
    touching = [(max(start, claim.start), min(end, claim.end)) for start, end in spans]
    wrong = tuple((start + shift, end + shift) for start, end in touching if start < end)
    return Labelled(claim.statement, supported=not wrong, wrong=wrong, group=group)


def differing(answer: str, truth: str) -> list[Span]:
    """Characters of ``answer`` that ``truth`` has otherwise; of words left out, the words on either side."""
    own, theirs = _words(answer), _words(truth)
    matcher = SequenceMatcher(None, [text for text, _ in theirs], [text for text, _ in own], autojunk=False)
    spans = []
    for kind, _, _, start, end in matcher.get_opcodes():
        if kind == "equal" or not own:
            continue
        first, last = (start, end - 1) if end > start else (max(start - 1, 0), min(start, len(own) - 1))
        spans.append((own[first][1], own[last][1] + len(own[last][0])))
    return spans


def _words(text: str) -> list[tuple[str, int]]:
    words, at = [], 0
    for word in text.split():
        at = text.index(word, at)
        words.append((word, at))
        at += len(word)
    return words


def _likeness(left: str, right: str) -> float:
    return SequenceMatcher(None, left.split(), right.split(), autojunk=False).ratio()
