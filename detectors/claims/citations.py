"""Finds citation ids in a text; only what certainly is a citation counts, the rest is left to matching known ids.

Certain are ``[1]``, ``[1, 3-5]``, ``[^2]``, ``[kb-12]``, ``[Source 3]``, ``[source:terms]``, ``【4†source】``,
``(source: kb-12)``, ``days.¹`` and ``<sup>2</sup>``. Not citations: ``[sic]``, ``(2019)``, ``[EMAIL_1]``, ``[x]``, the
text of a Markdown link, ``m²``, ``Table [2]``, the interval ``[0, 1]``, ``list[0] = 1`` and what stands in code.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from detectors.claims.raised import RAISED, raised_numbers

_BRACKET = re.compile(r"\[\^?([^\[\]\n]{1,80})\]|【([^【】\n]{1,80})】|［([^［］\n]{1,80})］")
_PAREN = re.compile(r"\(([^()\n]{1,80})\)|（([^（）\n]{1,80})）")
_CODE = re.compile(r"`[^`\n]{1,200}`")
_PARTED = re.compile(r"[,;，；、]")
_DIGITS = re.compile(r"\d+")
_NUMBER = re.compile(r"\d{1,3}")
_RANGE = re.compile(r"(\d{1,3})\s?[-–—]\s?(\d{1,3})")
_KIND = (
    r"(?:sources?|src|docs?|documents?|passages?|refs?|references?|chunks?|citations?|cite|context|kb|faq|"
    r"quellen?|dokumente?|fuentes?|documentos?|fonti?|documenti?|fontes?|bron(?:nen)?)"
)
_NAMED = re.compile(_KIND + r"(?:\s?[:#：]\s?|\s)(\S{1,64})", re.IGNORECASE)
_NAMED_NUMBERS = re.compile(
    _KIND + r"(?:\s?[:#：]\s?|\s)\d{1,3}(?:(?:\s?[,&]\s?|\s(?:and|und|et|y|e)\s)(?:" + _KIND + r"\s)?\d{1,3}){0,20}",
    re.IGNORECASE,
)
_TITLED_NUMBER = re.compile(_KIND + r"\s?#?\s?(\d{1,3})\s?[:–—|-]\s?\D.{0,70}", re.IGNORECASE)
_ID = re.compile(r"[^\W_][\w.:/#@+-]{1,63}")
_PREFIXED = re.compile(
    r"(?:doc|document|source|src|ref|kb|chunk|passage|faq|policy|article|page|file|node|quelle|dok)"
    r"[-_:#./]?\w*\d[\w.:/#@-]*",
    re.IGNORECASE,
)
_SMALL_ID = re.compile(r"[a-z][a-z0-9]*(?:[-_./:#@][a-z0-9]+)+")
_PARTED_ID = re.compile(r"[^\W\d_][\w./-]*[#@:][\w./-]+")
_PLACED = re.compile(r"\d{1,3}:\d{1,3}")
_HASH = re.compile(r"[0-9a-f]{8,40}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_PAREN_ID = re.compile(r"(?:doc|source|src|ref|kb|chunk|passage|faq|policy)[-_:#]?\w*\d[\w.:/#-]*", re.IGNORECASE)
_LOCATOR = re.compile(r"(?:pp?\.?|pages?|§+|sec(?:tion|\.)?|lines?|ch\.?|s\.)\s?\d{1,5}(?:[-–]\d{1,5})?", re.IGNORECASE)
_PLACEHOLDER = re.compile(
    r"(?:email|e-mail|mail|phone|name|person|iban|card|ssn|address|redacted|removed|masked|hidden|date|time|url|link|ip|"
    r"pii|user|account|location|org|id|order|number|city|company|customer|your|insert)(?:[_:#-][\w-]*)?",
    re.IGNORECASE,
)
_BEFORE_LABEL = re.compile(
    r"(?:\b(?:tables?|figures?|fig\.?|equations?|eq\.?|steps?|sections?|chapters?|items?|rows?|columns?|options?|"
    r"between|range|interval|tabelle|abbildung|abb\.|schritt|abschnitt|tabla|figura|paso|tableau|étape)|[∈=])\s?$",
    re.IGNORECASE,
)
_AFTER_INDEX = re.compile(r"(?:\[\d{1,3}\]){0,5}(?:\s?[-+*/]?=[^=]|\s?==|\.[a-z_]\w{0,40}\()")
_LABEL_CHARS = 16
_OPENERS = frozenset("[【［(（<¹²³⁰⁴⁵⁶⁷⁸⁹")
"""What a certain citation begins with."""
_MAX_RANGE = 50
_BLANKS = " \t\u00a0"
_MAX_KNOWN_CHARS = 1000
"""Longer texts are looked through each time: finds that are kept must stay small."""


@dataclass(frozen=True, slots=True)
class Bracket:
    """Something in brackets: ``text[start:end]``, with its content and whether the brackets are square."""

    start: int
    end: int
    content: str
    is_square: bool


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
    tokens = (part for bracket in find_brackets(text) for part in split_parts(bracket.content))
    return tuple(dict.fromkeys(tokens))


def find_brackets(text: str) -> Iterator[Bracket]:
    """Everything in square or round brackets, in order, but the text of Markdown links and what stands in code."""
    for match in _matches(text):
        if match.re is not RAISED and not _is_link_text(match, text):
            yield Bracket(match.start(), match.end(), _content(match), match.re is _BRACKET)


def split_parts(content: str) -> list[str]:
    """The parts of a bracket's content, parted by comma or semicolon; what follows a dagger is left out."""
    before_mark = content.partition("†")[0]
    return [part for raw in _PARTED.split(before_mark) if (part := raw.strip())]


def is_placeholder(token: str) -> bool:
    """True for what stands for something removed or still to be filled in: ``EMAIL_1``, ``order-number``."""
    return _PLACEHOLDER.fullmatch(token) is not None


def citations_end(text: str, start: int, end: int) -> int:
    """Where a run of certain citations that begins at ``start`` (after up to three blanks) ends; else ``start``."""
    position = start
    while position < end:
        opening = position
        while opening < end and opening - position < 3 and text[opening] in _BLANKS:  # noqa: PLR2004 - three blanks
            opening += 1
        if opening == end or text[opening] not in _OPENERS:
            break
        match = (
            _BRACKET.match(text, opening, end) or _PAREN.match(text, opening, end) or RAISED.match(text, opening, end)
        )
        if match is None or not _identifiers(match, text):
            break
        position = match.end()
    return position


def _certain(text: str) -> Sequence[tuple[int, int, list[str]]]:
    """Where each certain citation begins and ends, and the ids that it names."""
    return _known_certain(text) if len(text) <= _MAX_KNOWN_CHARS else _find_certain(text)


def _find_certain(text: str) -> tuple[tuple[int, int, list[str]], ...]:
    found = ((*match.span(), _identifiers(match, text)) for match in _matches(text))
    return tuple(one for one in found if one[2])


_known_certain = lru_cache(maxsize=64)(_find_certain)  # a claim is asked for its citations again and again


def _matches(text: str) -> list[re.Match[str]]:
    """All that may be a citation, in order of appearance."""
    found: list[re.Match[str]] = []
    if "[" in text or "【" in text or "［" in text:
        found += _BRACKET.finditer(text)
    if "(" in text or "（" in text:
        found += _PAREN.finditer(text)
    if not text.isascii() or "<" in text:
        found += RAISED.finditer(text)
    if not found:
        return found
    if "`" in text:
        code = [match.span() for match in _CODE.finditer(text)]
        found = [match for match in found if not _is_within(match, code)]
    return sorted(found, key=lambda match: match.start())


def _is_within(match: re.Match[str], spans: list[tuple[int, int]]) -> bool:
    """Inside a code span, but not all of it: someone may write ````[1]```` for a citation."""
    low, high = 0, len(spans)
    while low < high:
        middle = (low + high) // 2
        if spans[middle][1] <= match.start():
            low = middle + 1
        else:
            high = middle
    if low == len(spans) or spans[low][0] > match.start():
        return False
    return spans[low] != (match.start() - 1, match.end() + 1)


def _content(match: re.Match[str]) -> str:
    return match.group(match.lastindex or 0)


def _identifiers(match: re.Match[str], text: str) -> list[str]:
    content = _content(match)
    if match.re is RAISED:
        return _of_parts(split_parts(raised_numbers(match, text)))
    if _NAMED_NUMBERS.fullmatch(content):
        return _DIGITS.findall(content)
    return _parenthesised(content) if match.re is _PAREN else _bracketed(match, text, content)


def _bracketed(match: re.Match[str], text: str, content: str) -> list[str]:
    if _is_link_text(match, text) and not _NUMBER.fullmatch(content):
        return []
    if content.endswith("†source") and _PLACED.match(content):
        return [content.partition("†")[0]]
    titled = _TITLED_NUMBER.fullmatch(content)
    if titled:
        return [titled.group(1)]
    identifiers = _of_parts(split_parts(content))
    is_plain = all(map(str.isdecimal, identifiers))
    return [] if is_plain and identifiers and _is_label_or_index(match, text, identifiers) else identifiers


def _of_parts(parts: list[str]) -> list[str]:
    """Ids of all parts; none when one of them is neither an id nor a place in a document."""
    identifiers: list[str] = []
    for part in parts:
        found = _part_identifiers(part)
        if not found and not _LOCATOR.fullmatch(part):
            return []
        identifiers += found
    return identifiers


def _is_label_or_index(match: re.Match[str], text: str, numbers: list[str]) -> bool:
    """``Table [2]``, ``x in [0, 1]`` and ``items[2] = 5`` number something else."""
    if len(numbers) == 2 and int(numbers[0]) == 0 and int(numbers[1]) > 0:  # noqa: PLR2004 - an interval has two ends
        return True
    start, end = match.span()
    if _BEFORE_LABEL.search(text, max(0, start - _LABEL_CHARS), start):
        return True
    is_attached = start > 0 and (text[start - 1].isalnum() or text[start - 1] in "_)]")
    return is_attached and match.group()[0] == "[" and _AFTER_INDEX.match(text, end) is not None


def _parenthesised(content: str) -> list[str]:
    named = _NAMED.fullmatch(content)
    if named:
        return [named.group(1)] if any(char.isdigit() for char in named.group(1)) or ":" in content else []
    return [content] if _PAREN_ID.fullmatch(content) else []


def _part_identifiers(part: str) -> list[str]:
    if _NUMBER.fullmatch(part):
        return [str(int(part))]
    span = _RANGE.fullmatch(part)
    if span:
        first, last = int(span.group(1)), int(span.group(2))
        return [str(number) for number in range(first, last + 1)] if 0 <= last - first < _MAX_RANGE else []
    named = _NAMED.fullmatch(part)
    if named:
        return [named.group(1)]
    return [part] if _is_identifier(part) else []


def _is_identifier(part: str) -> bool:
    """Whether a part has the form of an id whatever the ids of the passages look like."""
    if not _ID.fullmatch(part) or _PLACEHOLDER.fullmatch(part):
        return False
    if _PREFIXED.fullmatch(part) or _PARTED_ID.fullmatch(part):
        return True
    has_digit = any(char.isdigit() for char in part)
    return has_digit and (
        _SMALL_ID.fullmatch(part) is not None or (_HASH.fullmatch(part) is not None and not part.isdecimal())
    )


def _is_link_text(match: re.Match[str], text: str) -> bool:
    return match.re is _BRACKET and text.startswith("(", match.end())
