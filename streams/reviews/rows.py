"""One answer for a reviewer, as JSON or as rows of a table with empty cells for labels.

A table may be opened in a spreadsheet: a cell that would be read as a formula gets an apostrophe in front (CWE-1236).
"""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from sampling.review_labels import Item
from schemas.base import Record, UtcDatetime
from schemas.labels import RiskTier
from schemas.verdict import Verdict
from streams.reviews.refs import ReviewRef, sealed
from streams.store import StoredTrace

COLUMNS = ("ref", "trace_id", "claim", "question", "passages", "text", "label", "note", "reviewer", "labelled_at")
SAID = "said"
DETECTOR = "detector_label"
NOTHING: Mapping[Item, str] = MappingProxyType({})
MOST_OF_A_CELL = 32_767
"""Characters that a spreadsheet takes in one cell; longer ones it cuts without a word."""
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


class ShownPassage(Record):
    """A passage as the reviewer reads it; ``number`` counts from 1 in the order in which the model saw them."""

    number: int
    doc_id: str
    text: str


class ShownClaim(Record):
    """A claim to be labelled; ``detector_label`` is empty in a blinded export, ``said`` unless it is in dispute."""

    index: int
    text: str
    label: str = ""
    note: str = ""
    said: str = ""
    detector_label: str = ""


class ReviewRow(Record):
    """An answer to be labelled; the reviewer fills in ``label``, ``reviewer``, ``labelled_at`` and ``note``."""

    ref: str
    trace_id: str
    ts: UtcDatetime
    intent: str
    tier: RiskTier
    question: str
    passages: tuple[ShownPassage, ...]
    answer: str
    claims: tuple[ShownClaim, ...]
    label: str = ""
    note: str = ""
    reviewer: str = ""
    labelled_at: str = ""
    said: str = ""
    detector_label: str = ""


def review_row(
    ref: ReviewRef, stored: StoredTrace, salt: bytes, *, is_blind: bool, said: Mapping[Item, str] = NOTHING
) -> ReviewRow:
    """The answer of a ref with the claims of its verdict; ``said`` is what reviewers said, where it is to be shown."""
    trace = stored.drawn.trace
    verdict = verdict_of(stored, ref.fingerprint)
    return ReviewRow(
        ref=sealed(ref, salt),
        trace_id=ref.trace_id,
        ts=ref.ts,
        intent=ref.intent,
        tier=ref.tier,
        question=trace.question,
        passages=tuple(
            ShownPassage(number=number, doc_id=passage.doc_id, text=passage.text)
            for number, passage in enumerate(trace.passages or (), start=1)
        ),
        answer=trace.answer or "",
        claims=tuple(
            ShownClaim(
                index=index,
                text=judged.claim.text,
                said=said.get((ref.ts, ref.trace_id, index), ""),
                detector_label="" if is_blind else judged.label.value,
            )
            for index, judged in enumerate(verdict.claims if verdict else ())
        ),
        said=said.get((ref.ts, ref.trace_id, None), ""),
        detector_label="" if is_blind or verdict is None else verdict.outcome.value,
    )


def verdict_of(stored: StoredTrace, fingerprint: str) -> Verdict | None:
    """The verdict of one detector; None when it is not there."""
    return next((verdict for verdict in stored.verdicts if verdict.fingerprint == fingerprint), None)


def as_csv(rows: Sequence[ReviewRow], *, is_blind: bool) -> str:
    """A table with a heading: for each answer one row for the whole and one a claim below it, in UTF-8 with a mark.

    The mark makes spreadsheets read it as UTF-8. Question and passages stand in the answer's row.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    is_disputed = any(row.said or any(claim.said for claim in row.claims) for row in rows)
    columns = (*COLUMNS, *((SAID,) if is_disputed else ()), *(() if is_blind else (DETECTOR,)))
    writer.writerow(columns)
    for row in rows:
        for cells in _cells(row):
            writer.writerow([safe(cells.get(name, "")) for name in columns])
    return "\ufeff" + out.getvalue()


def longest_cell(rows: Iterable[ReviewRow]) -> int:
    """Characters of the longest cell that ``as_csv`` makes; 0 without rows."""
    return max((len(text) for row in rows for cells in _cells(row) for text in cells.values()), default=0)


def safe(cell: str) -> str:
    """A cell that no spreadsheet takes for a formula."""
    return f"'{cell}" if cell.startswith(_FORMULA) else cell


def unsafe(cell: str) -> str:
    """The text behind ``safe``."""
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(_FORMULA) else cell


def _cells(row: ReviewRow) -> Iterable[dict[str, str]]:
    same = {"ref": row.ref, "trace_id": row.trace_id}
    passages = "\n\n".join(f"[{passage.number}] {passage.doc_id}\n{passage.text}" for passage in row.passages)
    seen = {"question": row.question, "passages": passages, "text": row.answer}
    yield {**same, **seen, SAID: row.said, DETECTOR: row.detector_label}
    for claim in row.claims:
        yield {**same, "claim": str(claim.index), "text": claim.text, SAID: claim.said, DETECTOR: claim.detector_label}
