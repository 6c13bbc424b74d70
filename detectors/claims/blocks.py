"""Cuts an answer into blocks (paragraphs, list items, headings, table rows, code lines) before sentences are sought.

A line break inside a paragraph may be a hard wrap or the end of a statement; the rule is in ``_continues``.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from detectors.lexicon import load_lexicon


class BlockKind(StrEnum):
    """What a block is; only text is split into sentences."""

    TEXT = "text"
    HEADING = "heading"
    ROW = "row"
    CODE = "code"


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of the answer without its list marker or heading sign."""

    start: int
    end: int
    kind: BlockKind


@dataclass(frozen=True, slots=True)
class _Line:
    start: int
    """Where the content begins, after quote signs, list marker and heading sign."""
    end: int
    text: str
    has_marker: bool
    is_heading: bool
    is_rule: bool
    """Neither letters nor digits: a ruler, a fence, a lone sign."""
    is_blank: bool = False


_LINE = re.compile(r"[^\n\r\x0b\x0c\x85\u2028\u2029]*(?:\r\n|[\n\r\x0b\x0c\x85\u2028\u2029]|\Z)")
_MARKER = re.compile(
    r"[\s>]*(?P<heading>#{1,6}(?=\s))?(?P<marker>(?:[-*+–—·→](?=\s)|[•‣◦▪●○■□✓✔✗]|\(?\d{1,3}[.)）](?=\s)|"
    r"\(?[a-z][.)](?=\s)|"
    r"\(?[A-Z]\)(?=\s)|[ivx]{1,5}[.)](?=\s)|[\d一二三四五六七八九十]{1,3}、|（[\d一二三四五六七八九十]{1,3}）|[①-⑳]))?"
    r"(?:\s+\[[ xX]\](?=\s))?\s*"
)
_BLANK = _Line(start=0, end=0, text="", has_marker=False, is_heading=False, is_rule=False, is_blank=True)
# only a bare fence with one word at most: text on the line of a fence is text, or claims could hide there
_FENCE = re.compile(r"(?:`{3,}|~{3,})[\w+#.-]{0,30}\Z")
_BOLD_LINE = re.compile(r"(\*\*|__)[^*_\n]{1,100}\1:?|(\*\*|__)[^*_\n]{1,100}:\2")
_UNDERLINE = re.compile(r"={3,}|-{3,}")
_SEPARATOR_SIGNS = frozenset(" \t|:=+-")
_TERMINATORS = ".!?…。！？｡؟۔।॥։።፧။។:：;；"
_WRAP_CHARS = 60
_HEADING_WORDS = 8
_HEADING_CHARS = 80


def find_blocks(answer: str) -> Iterator[Block]:
    """Blocks in order; they do not overlap, and what lies between them holds markup and white space only."""
    lines = list(_lines(answer))
    last_content = max((number for number, line in enumerate(lines) if not line.is_blank), default=-1)
    is_code = False
    number = 0
    while number < len(lines):
        line = lines[number]
        is_fence = _FENCE.match(line.text) is not None
        if is_fence:
            is_code = not is_code
        if is_fence or line.is_blank or (line.is_rule and not is_code):
            number += 1
            continue
        after = number + 1
        kind = BlockKind.CODE if is_code else _kind(lines, number, has_more=number < last_content)
        if kind is BlockKind.TEXT:
            after = _paragraph_end(lines, number)
        yield Block(line.start, lines[after - 1].end, kind)
        number = after


def _lines(answer: str) -> Iterator[_Line]:
    for match in _LINE.finditer(answer):
        if match.end() == match.start():
            return
        text = match.group().strip()
        if not text:
            yield _BLANK
            continue
        end = match.start() + len(match.group().rstrip())
        marker = _MARKER.match(answer, match.start(), end)
        start = marker.end() if marker else match.start()
        yield _Line(
            start=start,
            end=end,
            text=text,
            has_marker=marker is not None and marker.group("marker") is not None,
            is_heading=marker is not None and marker.group("heading") is not None,
            is_rule=not any(char.isalnum() for char in answer[start:end]),
        )


def _kind(lines: Sequence[_Line], number: int, *, has_more: bool) -> BlockKind:
    line = lines[number]
    if line.is_heading:
        return BlockKind.HEADING
    following = lines[number + 1] if number + 1 < len(lines) else None
    if line.text.startswith("|") and line.text.count("|") > 1:
        is_header = following is not None and "-" in following.text and _SEPARATOR_SIGNS.issuperset(following.text)
        return BlockKind.HEADING if is_header else BlockKind.ROW
    if has_more and not line.has_marker and following is not None and _looks_like_heading(lines, number, following):
        return BlockKind.HEADING
    return BlockKind.TEXT


def _looks_like_heading(lines: Sequence[_Line], number: int, following: _Line) -> bool:
    """A bold or underlined line, or a short one alone in its block with neither verb, digit nor full stop."""
    text = lines[number].text
    if _BOLD_LINE.fullmatch(text):
        return True
    if len(text) > _HEADING_CHARS or text[-1] in _TERMINATORS:
        return False
    if _UNDERLINE.fullmatch(following.text):
        return True
    is_alone = (number == 0 or lines[number - 1].is_blank) and (following.is_blank or following.has_marker)
    words = text.lower().split()
    return (
        is_alone
        and len(words) <= _HEADING_WORDS
        and text[0].isupper()
        and not any(char.isdigit() for char in text)
        and not load_lexicon().verbs.intersection(words)
    )


def _paragraph_end(lines: Sequence[_Line], number: int) -> int:
    after = number + 1
    while after < len(lines) and _continues(lines[after - 1], lines[after]):
        after += 1
    return after


def _continues(line: _Line, following: _Line) -> bool:
    """Whether a line break is a hard wrap.

    Yes when the line ends a sentence anyway (the sentence rules then decide), breaks off after a comma, is long enough
    to have been wrapped, or the next line opens with a small letter.
    """
    if following.is_blank or following.is_rule or following.has_marker or following.is_heading:
        return False
    if following.text.startswith("|") or _FENCE.match(following.text) or line.text[-1] in ":：":
        return False
    is_open = line.text[-1] in _TERMINATORS or line.text[-1] in ",，、-–"
    return is_open or len(line.text) >= _WRAP_CHARS or following.text[0].islower()
