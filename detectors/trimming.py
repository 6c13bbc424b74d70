"""Cuts claims out of an answer so that what remains reads as if they had never been there; nothing is ever added.

It works line by line, since what serves a claim alone (list marker, table row, heading, introduction) is a line's part.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from detectors.claims.parts import by_sentence
from detectors.outcome import BAD, WORST_FIRST
from schemas.claim import Claim
from schemas.verdict import ClaimVerdict

_WORD = re.compile(r"[^\W_]+")
_MARKER = re.compile(r"(?:\d{1,3}|[a-zA-Z])[.)]|[xX]\]")
_HEADING = re.compile(r"\s{0,3}(#{1,6})\s")
_BOLD_LINE = re.compile(r"\s*(?:\*\*[^*\n]+\*\*|__[^_\n]+__)\s*")
_ITEM = re.compile(r"(\s*)(?:[-*+•]\s|(?:\d{1,3}|[a-zA-Z])[.)]\s|\|)")
_COLON_END = (":", "：")
_CLOSERS = {")": "(", "]": "[", "”": "“", "»": "«", "）": "（", "」": "「"}
_MARKS = ("**", "__", '"')
_Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Line:
    text: str
    is_stated: bool
    """A claim that stays is on it."""


@dataclass(frozen=True, slots=True)
class _Spans:
    """Spans in order that do not overlap, searched by line."""

    starts: Sequence[int]
    ends: Sequence[int]

    def within(self, start: int, end: int) -> list[_Span]:
        """The parts of the spans that lie in a line, counted from its start; one around an empty line is (0, 0)."""
        first, after = bisect_right(self.ends, start), bisect_left(self.starts, max(end, start + 1))
        return [(max(self.starts[at], start) - start, min(self.ends[at], end) - start) for at in range(first, after)]


def without_bad_claims(claims: Sequence[ClaimVerdict], answer: str) -> str:
    """The answer without its unsupported and contradicted claims; the answer itself when it has none.

    A sentence in parts goes whole. What served them alone goes too: citations, list markers, table rows, a heading or
    introduction with nothing left below it, and blank lines in a row. Everything else stays, sign by sign. Time is
    linear in the length.
    """
    sentences = by_sentence(claims, answer, WORST_FIRST)
    cuts = _joined([judged.claim for judged in sentences if judged.label in BAD], answer)
    if not cuts.starts:
        return answer
    stays = [judged.claim for judged in sentences if judged.label not in BAD and judged.claim.is_factual]
    stated = _Spans([claim.start for claim in stays], [claim.end for claim in stays])
    kept: list[_Line] = []
    is_after_cut = False
    for start, text in _lines(answer):
        cut_here = cuts.within(start, start + len(text))
        is_stated = bool(stated.within(start, start + len(text)))
        rest = _without(text, cut_here)
        if cut_here and not is_stated and _is_scaffold(rest):
            is_after_cut = True
            continue
        if is_after_cut and rest.strip():
            _drop_dangling(kept, rest)
            is_after_cut = False
        kept.append(_Line(rest, is_stated=is_stated))
    if is_after_cut:
        _drop_dangling(kept, "")
    return "\n".join(line.text for line in kept)


def _is_scaffold(rest: str) -> bool:
    """Whether only markers, table bars, emphasis or brackets are left of a line."""
    words = list(islice(_WORD.finditer(rest), 2))
    return not words or (len(words) == 1 and _MARKER.match(rest, words[0].start()) is not None)


def _lines(answer: str) -> Iterator[tuple[int, str]]:
    start = 0
    for text in answer.split("\n"):
        yield start, text
        start += len(text) + 1


def _joined(claims: Sequence[Claim], answer: str) -> _Spans:
    """The spans of the claims, neighbours with only white space between them as one, so that pairs in them close."""
    starts: list[int] = []
    ends: list[int] = []
    for claim in claims:
        if ends and not answer[ends[-1] : claim.start].strip():
            ends[-1] = claim.end
        else:
            starts.append(claim.start)
            ends.append(claim.end)
    return _Spans(starts, ends)


def _without(line: str, cuts: Sequence[_Span]) -> str:
    if not cuts:
        return line
    pieces: list[str] = []
    position, has_room = 0, True
    for start, end in cuts:
        piece = line[position:start]
        pieces.append(piece.lstrip() if has_room and pieces else piece)
        closing, opening = _left_open(line[start:end])
        if closing and pieces:
            pieces[-1] = pieces[-1].rstrip() + closing + " "
        pieces.append(opening)
        has_room = bool(opening) or _ends_in_room(pieces)
        position = end
    tail = line[position:]
    text = "".join(pieces) + (tail.lstrip() if has_room else tail)
    return text if tail.strip() else text.rstrip()


def _ends_in_room(pieces: Sequence[str]) -> bool:
    """Whether white space, or nothing at all, stands before what comes next."""
    last = next((piece for piece in reversed(pieces) if piece), "")
    return not last or last[-1].isspace()


def _left_open(cut: str) -> tuple[str, str]:
    """Signs in a cut whose partners stay: those that close something before it, and those that open something after."""
    closing: list[tuple[int, str]] = []
    opened: list[tuple[int, str]] = []
    for at, char in enumerate(cut):
        if char in _CLOSERS.values():
            opened.append((at, char))
        elif char in _CLOSERS:
            if opened and opened[-1][1] == _CLOSERS[char]:
                opened.pop()
            else:
                closing.append((at, char))
    for mark in _MARKS:
        if cut.count(mark) % 2:
            first, last = cut.find(mark), cut.rfind(mark)
            is_at_start = first < len(cut) - last
            (opened if is_at_start else closing).append((first if is_at_start else last, mark))
    return _in_order(closing), _in_order(opened)


def _in_order(signs: Sequence[tuple[int, str]]) -> str:
    return "".join(sign for _, sign in sorted(signs))


def _drop_dangling(kept: list[_Line], following: str) -> None:
    """Take away what stood over the lines just cut and has nothing below it now; of blank lines there, keep one."""
    blank: _Line | None = None
    while kept and (not kept[-1].text.strip() or _is_left_alone(kept[-1], following)):
        line = kept.pop()
        blank = blank if line.text.strip() else line
    if blank is not None and kept and following:
        kept.append(blank)


def _is_left_alone(line: _Line, following: str) -> bool:
    if line.is_stated:
        return False
    item, next_item = _ITEM.match(line.text), _ITEM.match(following)
    heading, next_heading = _HEADING.match(line.text), _HEADING.match(following)
    if heading:
        return not following or (next_heading is not None and len(next_heading[1]) <= len(heading[1]))
    if _BOLD_LINE.fullmatch(line.text):
        return not following or next_heading is not None or _BOLD_LINE.fullmatch(following) is not None
    if "|" in line.text:
        return "|" not in following
    if line.text.rstrip(" *_").endswith(_COLON_END):
        is_list_below = next_item is not None and (item is None or len(next_item[1]) > len(item[1]))
        return not is_list_below
    return False
