"""Cuts an answer into blocks (paragraphs, list items, headings, table rows, code lines) before sentences are sought.

A line break inside a paragraph may be a hard wrap or the end of a statement; the rule is in ``_continues``.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from detectors.claims.fences import code_lines
from detectors.claims.lines import BLANK, Line, find_lines
from detectors.claims.scripts import is_unspaced
from detectors.claims.titles import is_label, is_title


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


_SEPARATOR_SIGNS = frozenset(" \t|:=+-")
_TERMINATORS = ".!?…。！？｡؟۔।॥։።፧။។:：;；"
_OPEN_ENDS = ",，、،-–"
_KEY = re.compile(r"[^\s:：,，.。][^:：,，.。]{0,40}[:：](?=\s|$)")
_SENTENCE_END = re.compile(r"[.!?]\s")
_WRAP_CHARS = 60
_HEADING_WORDS = 12


def find_blocks(answer: str) -> Iterator[Block]:
    """Blocks in order; they do not overlap, and what lies between them holds markup and white space only."""
    lines = find_lines(answer)
    fences, code = code_lines([line.text for line in lines])
    last_content = max((number for number, line in enumerate(lines) if not line.is_blank), default=-1)
    number, is_table = 0, False
    while number < len(lines):
        line = lines[number]
        is_code = number in code
        if number in fences or line.is_blank or (line.is_rule and not is_code):
            is_table = is_table and not line.is_blank
            number += 1
            continue
        kind = BlockKind.CODE if is_code else _kind(lines, number, has_more=number < last_content, is_table=is_table)
        is_table = "|" in line.text and (is_table or (kind is BlockKind.HEADING and not line.is_heading))
        after = _paragraph_end(lines, number, fences) if kind is BlockKind.TEXT else number + 1
        yield Block(line.start, lines[after - 1].end, kind)
        number = after


def _kind(lines: Sequence[Line], number: int, *, has_more: bool, is_table: bool) -> BlockKind:
    line = lines[number]
    if line.is_heading:
        return BlockKind.TEXT if _states(line.content) else BlockKind.HEADING
    following = lines[number + 1] if number + 1 < len(lines) else BLANK
    row = _row_kind(line, following, is_table=is_table)
    if row is not None:
        return row
    before = lines[number - 1] if number else BLANK
    if has_more and (is_label(line, following) or is_title(line, before, following)):
        return BlockKind.HEADING
    return BlockKind.TEXT


def _states(heading: str) -> bool:
    """A heading that closes like a sentence, or is as long as one, is one: a claim must not hide behind ``#``."""
    return heading[-1] in ".。।" or len(heading.split()) > _HEADING_WORDS


def _row_kind(line: Line, following: Line, *, is_table: bool) -> BlockKind | None:
    if line.tag == "tr" or (line.tag == "thead" and "<th" in line.content.lower()):
        return (
            BlockKind.HEADING if "<th" in line.content.lower() and "<td" not in line.content.lower() else BlockKind.ROW
        )
    pipes = line.text.count("|")
    if pipes and _is_separator(following):
        return BlockKind.HEADING
    is_tabbed = "\t" in line.content and _SENTENCE_END.search(line.content) is None  # prose may hold a stray tab
    if (line.text.startswith("|") and pipes > 1) or (is_table and pipes) or is_tabbed:
        return BlockKind.ROW
    return None


def _is_separator(line: Line) -> bool:
    return "-" in line.text and "|" in line.text and _SEPARATOR_SIGNS.issuperset(line.text)


def _paragraph_end(lines: Sequence[Line], number: int, fences: frozenset[int]) -> int:
    after = number + 1
    while after < len(lines) and after not in fences and _continues(lines[after - 1], lines[after]):
        after += 1
    return after


def _continues(line: Line, following: Line) -> bool:
    """Whether a line break is a hard wrap.

    Yes when the line ends a sentence anyway (the sentence rules then decide), breaks off after a comma, is long enough
    to have been wrapped, or the next line opens with a small letter. Never between two lines of the form
    ``key: value``, and length says nothing in scripts without spaces, which are not wrapped by hand.
    """
    if following.is_blank or following.is_rule or following.has_marker or following.is_heading or following.tag:
        return False
    last = line.text[-1]
    if following.text.startswith("|") or last in ":：" or "\t" in following.content:
        return False
    if _KEY.match(following.text) and _KEY.match(line.content):
        return False
    is_open = last in _TERMINATORS or last in _OPEN_ENDS
    is_long = len(line.text) >= _WRAP_CHARS and not is_unspaced(last)
    return is_open or is_long or following.text[0].islower()
