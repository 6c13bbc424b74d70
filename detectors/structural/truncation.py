"""Whether the packed prompt holds the retrieved passages whole: what was cut there, the model never saw.

Claims are still judged against all that was retrieved. Retrieval found it, so an answer that says the same is right;
that the model could not know it is a fault of the packing, and this finding says so to those who own it.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from detectors.structural.context import is_blank, is_redaction_marker
from detectors.structural.folding import fold
from schemas.finding import MAX_DETAIL_CHARS, Finding, StructuralRule
from schemas.trace import Passage, Trace

_PIECE_CHARS = 160
_LEAST_PIECE_CHARS = 12
_SAMPLE = 8
_MAX_FINDINGS = 5
_MAX_COMPARED_CHARS = 200_000_000
_MISSING = "not in the prompt"


def truncation_findings(trace: Trace) -> list[Finding]:
    """A finding for each passage of which the packed prompt holds nothing or only a part; none without a prompt.

    A passage is compared line by line, long lines in pieces, after folding, so that a template may put headers, quote
    signs or numbers between them, and placeholders of personal data do no harm. At most five findings, the last of
    which counts the others; one alone, without a passage, where the prompt holds none at all. Compares at most 200
    million characters: passages beyond that count as whole.
    """
    passages = trace.passages or ()
    if not passages or trace.packed_prompt is None or is_blank(trace.packed_prompt):
        return []
    cut = list(_cut_passages(passages, _Prompt(trace.packed_prompt)))
    missing = [position for position, what in cut if what == _MISSING]
    if len(missing) == len(passages) > 1:
        return [Finding(rule=StructuralRule.CONTEXT_TRUNCATED, detail="the prompt holds no passage")]
    found = [_finding(position, passages, what) for position, what in cut[:_MAX_FINDINGS]]
    if len(cut) > _MAX_FINDINGS:
        more = f"{cut[_MAX_FINDINGS - 1][1]}; and {len(cut) - _MAX_FINDINGS} more passages are not whole"
        found[-1] = _finding(cut[_MAX_FINDINGS - 1][0], passages, more)
    return found


def _finding(position: int, passages: Sequence[Passage], what: str) -> Finding:
    detail = f"{what}: {passages[position].doc_id}"[:MAX_DETAIL_CHARS]
    return Finding(rule=StructuralRule.CONTEXT_TRUNCATED, passage=position, detail=detail)


class _Prompt:
    """The packed prompt, folded when first needed; beyond the limit of comparisons it holds everything."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._folded: str | None = None
        self._left = _MAX_COMPARED_CHARS

    def has_as_is(self, text: str) -> bool:
        return self._has(text, self._text)

    def has(self, piece: str) -> bool:
        if self._folded is None:
            self._folded = fold(self._text)
        return self._has(piece, self._folded)

    def _has(self, part: str, text: str) -> bool:
        if self._left <= 0:
            return True
        found = text.find(part)
        self._left -= len(text) if found < 0 else found
        return found >= 0


def _cut_passages(passages: Sequence[Passage], prompt: _Prompt) -> Iterator[tuple[int, str]]:
    known: dict[str, str] = {}
    for position, passage in enumerate(passages):
        text = passage.text
        if text not in known:
            is_whole = is_blank(text) or is_redaction_marker(text) or prompt.has_as_is(text)
            known[text] = "" if is_whole else _what_is_cut(text, prompt)
        if known[text]:
            yield position, known[text]


def _what_is_cut(text: str, prompt: _Prompt) -> str:
    """What the prompt holds of the passage; empty when its last piece is there and most of the others are."""
    pieces = list(_pieces(text))
    sample = [*pieces[: -1 : max(1, len(pieces) // _SAMPLE)], *pieces[-1:]]
    held = [prompt.has(piece) for piece in sample]
    if not any(held):
        return _MISSING if pieces else ""
    if held[-1]:
        return "" if 2 * sum(held) > len(held) else "only its end is in the prompt"
    first_missing = bisect_left(pieces, True, key=lambda piece: not prompt.has(piece))  # noqa: FBT003 - False before True
    return f"only {100 * first_missing // len(pieces)} % of it is in the prompt"


def _pieces(text: str) -> Iterator[str]:
    for line in text.splitlines():
        folded = fold(line)
        for start in range(0, len(folded), _PIECE_CHARS):
            piece = folded[start : start + _PIECE_CHARS].strip()
            if len(piece) >= _LEAST_PIECE_CHARS:
                yield piece
