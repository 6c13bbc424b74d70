"""What reviewers hand in, as a table or as JSON: one entry a label, with the row that it stands in."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from schemas.base import Record
from streams.reviews.rows import unsafe

ANSWER = "answer"


class GivenLabel(Record):
    """One filled-in label as text, not checked yet; ``claim`` is empty for the whole answer."""

    row: int
    ref: str = ""
    trace_id: str = ""
    claim: str = ""
    label: str
    reviewer: str = ""
    labelled_at: str = ""
    note: str = ""


class RowFault(Record):
    """What is wrong with a row, by its field."""

    row: int
    field: str
    text: str

    def __str__(self) -> str:
        return f"row {self.row}: {self.field}: {self.text}"


def given_labels(rows: Iterable[tuple[int, Mapping[str, Any]]]) -> Iterator[GivenLabel]:
    """Every row with a label; those that were left empty are passed over.

    A row of a table has a label of its own; a JSON object has one for the answer and one for each of its ``claims``.
    """
    for number, cells in rows:
        same = {name: _text(cells.get(name)) for name in ("ref", "trace_id", "reviewer", "labelled_at")}
        own = {"claim": _text(cells.get("claim")), "label": _text(cells.get("label")), "note": _text(cells.get("note"))}
        if own["label"]:
            yield GivenLabel(row=number, **same, **own)
        for claim in _claims(cells.get("claims")):
            if label := _text(claim.get("label")):
                place, note = _text(claim.get("index")), _text(claim.get("note"))
                yield GivenLabel(row=number, **same, claim=place, label=label, note=note)


def _claims(value: Any) -> list[Mapping[str, Any]]:
    return [claim for claim in value if isinstance(claim, Mapping)] if isinstance(value, list) else []


def _text(value: Any) -> str:
    return "" if value is None else unsafe(str(value).strip())
