"""Finds citation ids in a text; only what certainly is a citation counts, the rest is left to matching known ids.

Certain are ``[1]``, ``[1, 3-5]``, ``[^2]``, ``[kb-12]``, ``[Source 3]``, ``【4†source】`` and ``(source: kb-12)``;
``[sic]``, ``(2019)``, ``[EMAIL_1]`` and the text of a Markdown link are not citations.
"""

import re
from collections.abc import Iterator

_BRACKET = re.compile(r"\[\^?([^\[\]\n]{1,80})\]|【([^【】\n]{1,80})】")
_PAREN = re.compile(r"\(([^()\n]{1,80})\)")
_DIGITS = re.compile(r"\d+")
_NUMBER = re.compile(r"\d{1,3}")
_RANGE = re.compile(r"(\d{1,3})\s?[-–]\s?(\d{1,3})")
_KIND = (
    r"(?:sources?|src|docs?|documents?|passages?|refs?|references?|chunks?|citations?|"
    r"quellen?|dokumente?|fuentes?|fonti?)"
)
_NAMED = re.compile(_KIND + r"(?:\s?[:#]\s?|\s)(\S{1,64})", re.IGNORECASE)
_NAMED_NUMBERS = re.compile(
    _KIND + r"\s?[:#]?\s?\d{1,3}(?:(?:\s?[,&]\s?|\s(?:and|und|et|y|e)\s)\d{1,3}){0,20}", re.IGNORECASE
)
_ID = re.compile(r"[^\W_][\w.:/#@+-]{1,63}")
_PAREN_ID = re.compile(r"(?:doc|source|src|ref|kb|chunk|passage|faq|policy)[-_:#]?\w*\d[\w.:/#-]*", re.IGNORECASE)
_LOCATOR = re.compile(r"(?:pp?\.?|pages?|§+|sec(?:tion|\.)?|lines?|ch\.?|s\.)\s?\d{1,5}(?:[-–]\d{1,5})?", re.IGNORECASE)
_PLACEHOLDER = re.compile(
    r"(?:email|e-mail|phone|name|person|iban|card|ssn|address|redacted|removed|masked|hidden|date|url|ip|pii|user|"
    r"account|location|org|id)(?:[_:#-][\w-]*)?",
    re.IGNORECASE,
)
_MAX_RANGE = 50


def find_citations(text: str) -> tuple[str, ...]:
    """Ids of the certain citations in order of appearance, each once; ranges such as ``[1-3]`` are spelled out."""
    found = (identifier for _, _, identifiers in _certain(text) for identifier in identifiers)
    return tuple(dict.fromkeys(found))


def strip_citations(text: str) -> str:
    """The text without its certain citations."""
    kept: list[str] = []
    position = 0
    for start, end, _ in _certain(text):
        kept.append(text[position:start])
        position = max(position, end)
    return "".join(kept) + text[position:]


def bracketed_tokens(text: str) -> tuple[str, ...]:
    """Everything in square or round brackets that could be a citation when its id is known, each once.

    Content parted by comma or semicolon gives its parts; the text of a Markdown link is left out.
    """
    tokens = (part for _, _, content in _brackets(text) for part in _parts(content))
    return tuple(dict.fromkeys(tokens))


def citations_end(text: str, start: int, end: int) -> int:
    """Where a run of certain citations that begins at ``start`` (after up to three blanks) ends; else ``start``."""
    position = start
    while position < end:
        opening = position
        while opening < end and opening - position < 3 and text[opening] in " \t\u00a0":  # noqa: PLR2004 - three blanks
            opening += 1
        match = _BRACKET.match(text, opening, end) or _PAREN.match(text, opening, end)
        if match is None or not _identifiers(match, text):
            break
        position = match.end()
    return position


def _certain(text: str) -> Iterator[tuple[int, int, list[str]]]:
    for match in _matches(text):
        identifiers = _identifiers(match, text)
        if identifiers:
            yield match.start(), match.end(), identifiers


def _brackets(text: str) -> Iterator[tuple[int, int, str]]:
    for match in _matches(text):
        if not _is_link_text(match, text):
            yield match.start(), match.end(), match.group(1) or match.group(match.lastindex or 0)


def _matches(text: str) -> list[re.Match[str]]:
    square = list(_BRACKET.finditer(text)) if "[" in text or "【" in text else []
    rounded = list(_PAREN.finditer(text)) if "(" in text else []
    return sorted(square + rounded, key=lambda match: match.start()) if square and rounded else square or rounded


def _identifiers(match: re.Match[str], text: str) -> list[str]:
    content = match.group(match.lastindex or 0)
    if _NAMED_NUMBERS.fullmatch(content):
        return _DIGITS.findall(content)
    if match.re is _PAREN:
        return _parenthesised(content)
    if _is_link_text(match, text) and not _NUMBER.fullmatch(content):
        return []
    identifiers: list[str] = []
    for part in _parts(content):
        found = _part_identifiers(part)
        if not found and not _LOCATOR.fullmatch(part):
            return []
        identifiers += found
    return identifiers


def _parenthesised(content: str) -> list[str]:
    named = _NAMED.fullmatch(content)
    if named:
        return [named.group(1)] if any(char.isdigit() for char in named.group(1)) or ":" in content else []
    return [content] if _PAREN_ID.fullmatch(content) else []


def _part_identifiers(part: str) -> list[str]:
    if _NUMBER.fullmatch(part):
        return [part]
    span = _RANGE.fullmatch(part)
    if span:
        first, last = int(span.group(1)), int(span.group(2))
        return [str(number) for number in range(first, last + 1)] if 0 <= last - first < _MAX_RANGE else []
    named = _NAMED.fullmatch(part)
    if named:
        return [named.group(1)]
    return [part] if _is_identifier(part) else []


def _is_identifier(part: str) -> bool:
    if not _ID.fullmatch(part) or _PLACEHOLDER.fullmatch(part):
        return False
    has_letter = any(char.isalpha() for char in part)
    return has_letter and any(char.isdigit() or char in "-_:#" for char in part)


def _parts(content: str) -> list[str]:
    before_mark = content.partition("†")[0]
    return [part.strip() for part in re.split(r"[,;]", before_mark) if part.strip()]


def _is_link_text(match: re.Match[str], text: str) -> bool:
    return match.re is _BRACKET and text.startswith("(", match.end())
