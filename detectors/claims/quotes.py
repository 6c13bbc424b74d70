"""Finds quotations, brackets and addresses in which no sentence of the answer ends; one pass with a stack, linear.

A quotation that stands inside a sentence belongs to it with all its full stops: torn apart it would be judged wrongly.
A quotation that is a sentence or more of its own is split like other text.
"""

import re
from collections.abc import Iterator, Sequence

_CLOSERS = {
    "“": "”",
    "„": "“”",
    "«": "»",
    "»": "«",
    "‹": "›",
    "「": "」",
    "『": "』",
    "《": "》",
    "‘": "’‘",
    "‚": "‘’",
    '"': '"',
    "`": "`",
    "(": ")",
    "（": "）",
}
_CLOSING = frozenset("".join(_CLOSERS.values()))
_SIGN = re.compile(r"[“”„«»‹›「」『』《》‘’‚\"`()（）]")
_ADDRESS = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]{1,15}://[^\s<>()*|`\"“”«»「」（）。！？、，；：\u0964]{1,2000}")
_MAX_CHARS = 300
_MAX_SKIPPED = 3
_PLAIN_CLOSERS = frozenset("»›”」』》)）")
"""A blank may stand before these: ``« Prenez. »``."""
_AMBIGUOUS = frozenset('“‘»"`')

Span = tuple[int, int]


def enclosed_spans(text: str, start: int, end: int) -> list[Span]:
    """Quotations and brackets of up to 300 characters and addresses in ``text[start:end]``, by their start.

    Spans are nested or apart, never crossing. What is opened and not closed, or crosses another, is no span.
    """
    spans = list(_pairs(text, start, end))
    if "://" in text[start:end]:
        spans += [(match.start(), match.end()) for match in _ADDRESS.finditer(text, start, end)]
    return sorted(spans, key=lambda span: (span[0], -span[1]))


class Enclosure:
    """Tells, for positions asked in rising order, the innermost span around each; linear over all questions."""

    def __init__(self, spans: Sequence[Span]) -> None:
        """``spans`` as ``enclosed_spans`` gives them."""
        self._spans = spans
        self._next = 0
        self._open: list[Span] = []

    def around(self, position: int, after: int) -> Iterator[Span]:
        """Spans that begin before ``position`` and end behind ``after``, innermost first."""
        while self._next < len(self._spans) and self._spans[self._next][0] < position:
            while self._open and self._open[-1][1] <= self._spans[self._next][0]:
                self._open.pop()
            self._open.append(self._spans[self._next])
            self._next += 1
        while self._open and self._open[-1][1] <= after:
            self._open.pop()
        return reversed(self._open)


def _pairs(text: str, start: int, end: int) -> Iterator[Span]:
    stack: list[tuple[str, int]] = []
    for match in _SIGN.finditer(text, start, end):
        sign, position = match.group(), match.start()
        opened = _partner(stack, sign) if _may_close(text, position, end, sign) else None
        if opened is not None:
            begin = stack[opened][1]
            del stack[opened:]
            if position - begin <= _MAX_CHARS:
                yield begin, position + 1
        elif sign in _CLOSERS and _may_open(text, position, start, sign):
            stack.append((sign, position))


def _partner(stack: Sequence[tuple[str, int]], sign: str) -> int | None:
    """Place of the opening sign on the stack; at most three unclosed ones are passed over."""
    for place in range(len(stack) - 1, max(-1, len(stack) - 2 - _MAX_SKIPPED), -1):
        if sign in _CLOSERS[stack[place][0]]:
            return place
    return None


def _may_close(text: str, position: int, end: int, sign: str) -> bool:
    if sign not in _CLOSING:
        return False
    is_apostrophe = sign in "’‘" and position + 1 < end and text[position + 1].isalnum()
    return not is_apostrophe and (sign in _PLAIN_CLOSERS or not text[position - 1 : position].isspace())


def _may_open(text: str, position: int, start: int, sign: str) -> bool:
    return sign not in _AMBIGUOUS or position == start or not text[position - 1].isalnum()
