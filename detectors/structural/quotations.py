"""Finds what an answer sets in quotation marks or in a block quote; whether it is a quotation of a source is not asked.

Marks pair up within a paragraph or list item, so that a stray one costs no more than that. Where an apostrophe could
close a quotation just as well, there is none: a torn quotation would be accused of not being verbatim.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_CLOSERS = {
    '"': '"',
    "“": '”"',
    "„": '“”"',
    "‟": "”",
    "”": "”",
    "«": "»",
    "»": "«",
    "‹": "›",
    "›": "‹",
    "「": "」",
    "『": "』",
    "〝": "〞〟",
    "＂": "＂",
    "｢": "｣",
}
_MARKS = re.compile("[" + "".join(_CLOSERS) + "」』〞〟｣]")
_LOOSE = frozenset('"”»›')
"""Marks that open only after a gap and before a letter, because they close in other languages."""
_SINGLE_OPENER = re.compile(r"['‘‚](?=[^\W\d])(?<![\w'‘’‚]['‘‚])")
_SINGLE_CLOSER = re.compile(r"['’‘](?!\w)(?<=[^\s(\[{'‘‚]['’‘])")
_POSSESSIVE = re.compile(r"[sxzSXZ]['’] +[^\W\d_]")
_OPENERS = tuple(_CLOSERS)
_BREAK = re.compile(r"\n[^\S\n]*(?=\n|\||(?:[-*+•‣]|\d{1,3}[.)])\s)")
_CODE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|`[^`\n]{1,300}`", re.DOTALL)
_BLOCK = re.compile(r"^[^\S\n]{0,3}>[^\n]*(?:\n[^\S\n]{0,3}>[^\n]*)*", re.MULTILINE)
_SIGN = re.compile(r"^[^\S\n]{0,3}>[\s>]*", re.MULTILINE)
_CALLOUT = re.compile(r"\W*(?:!|(?:[*_]{1,2})?[^\W\d_]{2,20}(?: [^\W\d_]{2,20})?(?:[*_]{1,2})?\s?[:：])")
_SOURCE_LINE = re.compile(r"\n\s*(?:[—–―]|--)[^\n]*\Z")
_MAX_DEPTH = 12

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Quotation:
    """What stands between the marks: ``answer[start:end]``, with the signs of a block quote still in it."""

    start: int
    end: int
    is_block: bool = False


def find_quotations(answer: str) -> list[Quotation]:
    """The outermost quotations in order; linear in the answer's length, never raises for content.

    Left out: what stands in code, an answer that is JSON as a whole, values of attributes and inch marks.
    """
    has_doubles = any(opener in answer for opener in _OPENERS)
    has_singles = _SINGLE_OPENER.search(answer) is not None
    if not (has_doubles or has_singles or ">" in answer) or _is_json(answer):
        return []
    code = [match.span() for match in _CODE.finditer(answer)] if "`" in answer or "~" in answer else []
    paragraphs = list(_paragraphs(answer)) if has_doubles or has_singles else []
    doubles = [span for start, end in paragraphs for span in _paired(answer, start, end, code)] if has_doubles else []
    singles = [span for start, end in paragraphs for span in _single(answer, start, end, code)] if has_singles else []
    marked = _outermost([*doubles, *singles])
    blocks = [span for span in _blocks(answer) if not _touches(span, marked) and not _touches(span, code)]
    found = [*(Quotation(*span) for span in marked), *(Quotation(*span, is_block=True) for span in blocks)]
    return sorted(found, key=lambda quotation: quotation.start)


def without_block_signs(text: str) -> str:
    """The text of a block quote without ``>`` at the head of its lines, and without a last line that names a source."""
    return _SOURCE_LINE.sub("", _SIGN.sub("", text))


def _is_json(answer: str) -> bool:
    stripped = answer.strip()
    return (stripped[:1] + stripped[-1:]) in {"{}", "[]"} and '"' in stripped


def _paragraphs(answer: str) -> Iterator[Span]:
    start = 0
    for match in _BREAK.finditer(answer):
        yield start, match.start()
        start = match.end()
    yield start, len(answer)


def _paired(answer: str, start: int, end: int, code: Sequence[Span]) -> list[Span]:
    found: list[Span] = []
    open_marks: list[tuple[str, int]] = []
    for match in _MARKS.finditer(answer, start, end):
        mark, position = match.group(), match.start()
        if code and _touches((position, position + 1), code):
            continue
        depth = _closed_depth(answer, mark, position, open_marks)
        if depth is not None:
            found.append((open_marks[depth][1] + 1, position))
            del open_marks[depth:]
        elif _can_open(answer, mark, position) and len(open_marks) < _MAX_DEPTH:
            open_marks.append((mark, position))
    return found


def _closed_depth(answer: str, mark: str, position: int, open_marks: Sequence[tuple[str, int]]) -> int | None:
    if mark == '"' and (answer[position - 1 : position].isspace() or answer[position + 1 : position + 2].isalnum()):
        return None
    depths = (depth for depth in reversed(range(len(open_marks))) if mark in _CLOSERS[open_marks[depth][0]])
    return next(depths, None)


def _can_open(answer: str, mark: str, position: int) -> bool:
    before, after = answer[max(0, position - 1) : position], answer[position + 1 : position + 2]
    if mark not in _LOOSE:
        return mark in _CLOSERS
    is_value = before in {"=", "\\"} or (mark == '"' and answer[max(0, position - 4) : position].rstrip()[-2:] == '":')
    return not is_value and not before.isalnum() and bool(after) and not after.isspace()


def _single(answer: str, start: int, end: int, code: Sequence[Span]) -> Iterator[Span]:
    openers = [match.start() for match in _SINGLE_OPENER.finditer(answer, start, end)]
    if not openers:
        return
    closers = [match.start() for match in _SINGLE_CLOSER.finditer(answer, start, end)]
    place = 0
    for opener, following in zip(openers, [*openers[1:], end], strict=True):
        while place < len(closers) and closers[place] <= opener:
            place += 1
        between = closers[place : place + 2]
        is_only = bool(between) and between[0] < following and (len(between) == 1 or between[1] >= following)
        if is_only and not _POSSESSIVE.match(answer, between[0] - 1) and not _touches((opener, opener + 1), code):
            yield opener + 1, between[0]


def _blocks(answer: str) -> Iterator[Span]:
    if ">" not in answer:
        return
    for match in _BLOCK.finditer(answer):
        if not _CALLOUT.match(_SIGN.sub("", match.group()[:200])):
            yield match.span()


def _outermost(spans: Sequence[Span]) -> list[Span]:
    kept: list[Span] = []
    for span in sorted(spans, key=lambda span: (span[0], -span[1])):
        if not kept or span[0] >= kept[-1][1]:
            kept.append(span)
    return kept


def _touches(span: Span, others: Sequence[Span]) -> bool:
    """Whether the span overlaps one of ``others``, which are in order and do not overlap."""
    low, high = 0, len(others)
    while low < high:
        middle = (low + high) // 2
        if others[middle][1] <= span[0]:
            low = middle + 1
        else:
            high = middle
    return low < len(others) and others[low][0] < span[1]
