"""Reads an answer as lines, before blocks are made of them: markers, headings, blank lines, HTML tags that end a line.

A block-level tag counts as a line break, so that HTML and Markdown answers take the same way from here on.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_NEWLINES = "\n\r\x0b\x0c\x85\u2028\u2029"
_TAG = (
    r"</?(?P<tag>p|div|br|hr|ul|ol|li|dl|dt|dd|h[1-6]|table|thead|tbody|tr|caption|blockquote|pre|section|article"
    r"|summary|details|header|footer|figcaption)(?:[\s/][^<>]{0,200})?>"
)
_BREAK = re.compile(rf"\r\n|[{_NEWLINES}]")
_BREAK_OR_TAG = re.compile(rf"\r\n|[{_NEWLINES}]|{_TAG}", re.IGNORECASE)
_EMOJI = "\u2600-\u27bf\u2b05-\u2b55\U0001f300-\U0001faff"
_MARKER = re.compile(
    r"[\s>]*(?P<heading>#{1,6}(?=\s))?(?:\s*)(?P<marker>(?:[-*+–—·→:](?=\s)|[•‣◦▪●○■□✓✔✗]|\(?\d{1,3}[.)）](?=\s)|"
    r"\(?[a-zа-я][.)](?=\s)|\(?[A-Z]\)(?=\s)|[ivx]{1,5}[.)](?=\s)|"
    r"[\d一二三四五六七八九十]{1,3}、|（[\d一二三四五六七八九十]{1,3}）|[①-⑳]|[0-9]\ufe0f?\u20e3|"
    rf"[{_EMOJI}]\ufe0f?(?=\s)))?"
    r"(?:\s+\[[ xX]\](?=\s))?\s*"
)


_ROW = re.compile(r"[ \t>]*\|")
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the answer; ``start`` is where its content begins, after quote signs, marker and heading sign."""

    start: int
    end: int
    text: str
    """The line without white space at its ends, marker included."""
    content: str
    indent: int
    marker: str
    tag: str
    """The HTML tag before the line, in small letters, a closing one with its slash; empty for plain text."""
    is_heading: bool
    is_rule: bool
    """Neither letters nor digits: a ruler, a fence, a lone sign."""
    is_blank: bool = False

    @property
    def has_marker(self) -> bool:
        """Whether the line is an item of a list."""
        return bool(self.marker) or self.tag in {"li", "dd"}


BLANK = Line(
    start=0, end=0, text="", content="", indent=0, marker="", tag="", is_heading=False, is_rule=False, is_blank=True
)


def find_lines(answer: str) -> list[Line]:
    """Lines of the answer in order; what lies between two of them is white space, markers and tags."""
    return list(_lines(answer))


def _lines(answer: str) -> Iterator[Line]:
    start, tag = 0, ""
    is_row = _ROW.match(answer) is not None
    for match in (_BREAK_OR_TAG if "<" in answer else _BREAK).finditer(answer):
        opened = match.groupdict().get("tag")
        if opened is not None and is_row:
            continue  # a <br> inside a Markdown table does not end the row
        line = _line(answer, start, match.start(), tag)
        if not (line.is_blank and (opened or tag)):
            yield line
        if opened is not None:
            tag = ("/" if match.group().startswith("</") else "") + opened.lower()
        elif not line.is_blank:
            tag = ""
        start = match.end()
        is_row = _ROW.match(answer, start) is not None
    if start < len(answer):
        yield _line(answer, start, len(answer), tag)


def _line(answer: str, start: int, end: int, tag: str) -> Line:
    raw = answer[start:end]
    text = raw.strip()
    if not text:
        return BLANK
    end = start + len(raw.rstrip())
    match = _MARKER.match(answer, start, end)
    begin = match.end() if match else start
    content = answer[begin:end]
    return Line(
        start=begin,
        end=end,
        text=text,
        content=content,
        indent=len(raw) - len(raw.lstrip()),
        marker=(match.group("marker") or "") if match else "",
        tag=tag,
        is_heading=(match is not None and match.group("heading") is not None) or tag in _HEADINGS,
        is_rule=not any(map(str.isalnum, content)),
    )
