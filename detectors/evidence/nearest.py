"""The piece to show beside a claim of which no counting word is in the passages; for the reader, it decides nothing."""

from collections.abc import Sequence

from detectors.evidence.matching import PreparedClaim
from detectors.evidence.passages import IndexedPassage, Piece

_BEGINNING = 4
_SAME_BEGINNING, _SAME_KIND, _ASKED = 1.0, 0.75, 0.5


def nearest_piece(
    claim: PreparedClaim, question: frozenset[str], passages: Sequence[IndexedPassage]
) -> tuple[int, Piece] | None:
    """Passage number and piece with the most word beginnings, kinds of figure and words of the question in common.

    None when nothing at all is in common; linear in the text.
    """
    beginnings = {key[:_BEGINNING] for key in claim.keys if len(key) >= _BEGINNING}
    kinds = {amount.kind for amount in claim.amounts} - {""}
    scores: dict[tuple[int, int], float] = {}
    for number, passage in enumerate(passages):
        for key, pieces in passage.postings.items():
            likeness = _ASKED * (key in question) + _SAME_BEGINNING * (key[:_BEGINNING] in beginnings)
            is_figure = bool(kinds) and key[0] in "#@"
            for piece in pieces if likeness or is_figure else ():
                score = likeness + (_measures(passage.pieces[piece], key, kinds) if is_figure else 0.0)
                scores[number, piece] = scores.get((number, piece), 0.0) + score
    if not any(scores.values()):
        return None
    number, piece = max(scores, key=lambda at: (scores[at], -at[0], -at[1]))
    return number, passages[number].pieces[piece]


def _measures(piece: Piece, key: str, kinds: set[str]) -> float:
    return _SAME_KIND * any(amount.key == key and amount.kind in kinds for amount in piece.amounts)
