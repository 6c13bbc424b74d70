"""A piece of a passage as the evidence that people see, and which passages are in force."""

from detectors.evidence.passages import Piece
from schemas.trace import Passage
from schemas.verdict import Evidence


def shown_evidence(number: int, passage: Passage, piece: Piece, content_hash: str) -> Evidence:
    """``piece`` of ``passage``, the ``number``-th of its item; ``content_hash`` is the whole passage's."""
    return Evidence(
        passage=number,
        doc_id=passage.doc_id,
        passage_hash=content_hash,
        start=piece.start,
        end=piece.end,
        text=passage.text[piece.start : piece.end],
    )


def is_superseded(passage: Passage) -> bool:
    """Whether it has no say beside one in force."""
    return passage.archived or bool(passage.superseded_by)
