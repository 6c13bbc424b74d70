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
    """Claims of each record, in order; those whose label nobody gave are left out."""
    truths: dict[tuple[str, str], list[str]] = defaultdict(list)
    for record in records:
        if record["dataset"] in _EDITED and not record["hallucinated"]:
            truths[record["dataset"], record["source_id"]].append(record["answer"])
    return [_of_record(record, truths.get((record["dataset"], record["source_id"]), [])) for record in records]


def _of_record(record: Row, truths: Sequence[str]) -> list[Labelled]:
    answer, group = record["answer"], f"{record['dataset']}/{record['task']}"
    claims = [claim for claim in split_claims(answer) if claim.is_factual]
    if record["spans"] is not None:
        spans: list[Span] | None = [(span["start"], span["end"]) for span in record["spans"]]
    elif not record["hallucinated"]:
        spans = []
    elif record["dataset"] in _EDITED and truths:
        spans = differing(answer, max(truths, key=lambda truth: _likeness(truth, answer)))
    else:
        spans = None
    if spans is None:
        # One label for the whole: it is learned as one claim.
        return [Labelled(answer, supported=False, wrong=None, group=group)]
    return [_of_claim(claim, spans, group) for claim in claims]


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
