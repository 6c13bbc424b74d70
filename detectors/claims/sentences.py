"""Finds where sentences end inside a block; every look to the left or right is bounded, so time stays linear.

A missed end joins two statements, a false one tears one apart. Torn statements are judged wrongly, so when in doubt
there is no end.
"""

import re
from collections.abc import Iterator

from detectors.claims.abbreviations import is_abbreviation
from detectors.claims.citations import citations_end
from detectors.claims.quotes import Enclosure, Span, enclosed_spans
from detectors.claims.scripts import ALWAYS, COMBINING, MARKS, UNSPACED, is_cjk
from detectors.claims.unmarked import clause_spans
from detectors.lexicon import load_lexicon

_CLOSER = (
    r"[\"'”“‘’«»‹›)\]}」』）】》*_~`\u00b9\u00b2\u00b3\u2070-\u2079]|</[a-zA-Z][a-zA-Z0-9]{0,15}>|&(?:quot|rdquo|rsquo);"
    r"|[ \u00a0\u202f][»›](?=[\s.,;:!?)]|\Z)"  # French sets a blank before it
)
_END = re.compile(rf"[.;|；{MARKS}]+(?:{_CLOSER})*")
_GAP = re.compile(
    r"(?:[\s\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]|&(?:nbsp|ensp|emsp|thinsp|\#160|\#xa0);)*", re.IGNORECASE
)
_OPENERS = "([{\"'“„«»‹›¿¡*_`（「『<‘‚《"
_OPENING = re.compile(rf"(?:<[a-zA-Z][^<>\n]{{0,100}}>|[{re.escape(_OPENERS)}])*")
_LEADING = re.compile(rf"[\s{re.escape(_OPENERS)}]*")
_NEXT_WORD = re.compile(rf"[^\W\d_][\w'’{COMBINING}]{{0,23}}")
_QUOTE_CLOSERS = frozenset('」』”’"）)')
_GREEK = re.compile("[\u0370-\u03ff\u1f00-\u1fff]")
_DEVANAGARI = re.compile("[\u0900-\u097f]")
_CLAUSE_CHARS = 5
_SIDE_CHARS = 3


def sentence_spans(text: str, start: int, end: int, *, is_uncapitalised: bool) -> Iterator[Span]:
    """Spans of the sentences of ``text[start:end]``, in order, without white space at their ends.

    ``is_uncapitalised`` says that the whole answer is written without capitals, so that a small letter may open a
    sentence.
    """
    position, content = start, _content(text, start, end)
    match = _END.search(text, position, end)
    enclosure = Enclosure(enclosed_spans(text, start, end) if match is not None else ())
    while match is not None:
        after = citations_end(text, match.end(), end)
        if after > match.end() and text.startswith(".", after) and after < end:
            after += 1
        is_inside = _is_enclosed(text, enclosure, content, match, end)
        if not is_inside and _is_end(text, position, match, after, end, is_uncapitalised=is_uncapitalised):
            yield from _trimmed(text, position, after)
            position, content = after, _content(text, after, end)
        match = _END.search(text, after, end)
    yield from _trimmed(text, position, end)


def _trimmed(text: str, start: int, end: int) -> Iterator[Span]:
    gap = _GAP.match(text, start, end)
    start = gap.end() if gap else start
    while end > start and text[end - 1].isspace():
        end -= 1
    if start < end:
        yield from clause_spans(text, start, end)


def _content(text: str, start: int, end: int) -> int:
    """Where the first word of the sentence stands, behind white space, markup and opening signs."""
    match = _LEADING.match(text, start, end)
    return match.end() if match else start


def _is_enclosed(text: str, enclosure: Enclosure, content: int, match: re.Match[str], end: int) -> bool:
    """Whether a quotation or bracket that belongs to a longer sentence goes on behind the sign."""
    return any(
        begin > content or not _ends_there(text, close, end)
        for begin, close in enclosure.around(match.start(), match.end())
    )


def _ends_there(text: str, close: int, end: int) -> bool:
    """Whether a sentence ends with the quotation: before the end of the block, or before a word that opens one."""
    following = _GAP.match(text, close, end)
    after = following.end() if following else close
    if after >= end:
        return True
    return after > close and not text[after].islower() and text[after] not in ",;:—–-"


def _is_end(  # noqa: PLR0913 - a decision list reads best as one list of returns
    text: str, sentence_start: int, match: re.Match[str], after: int, end: int, *, is_uncapitalised: bool
) -> bool:
    sign = match.group()
    if sign[0] in ";|；" and not _ends_like_mark(text, sentence_start, match):
        return False
    gap = _GAP.match(text, after, end)
    following = gap.end() if gap else after
    if following >= end or not ALWAYS.isdisjoint(sign):
        return True
    is_spaced = following > after
    if not UNSPACED.isdisjoint(sign):
        return is_spaced or _ends_unspaced(text, match, after)
    word = _next_word(text, following, end)
    if not is_spaced:
        return after > match.end() or _lacks_space(text, match.start(), text[after], word)
    opens = _opens_sentence(text[following], word, is_uncapitalised=is_uncapitalised)
    if sign[0] != "." or sign.startswith(".."):
        return opens and not (sign[0] == "…" and text[following].isdigit())
    return opens and not is_abbreviation(text, sentence_start, match.start(), text[following], word)


def _ends_like_mark(text: str, start: int, match: re.Match[str]) -> bool:
    """A Greek question mark, a danda typed as a bar, or a Chinese semicolon behind a clause."""
    sign, at = match.group()[0], match.start()
    if at == start:
        return False
    if sign == ";":
        return _GREEK.match(text[at - 1]) is not None
    if sign == "|":
        return _DEVANAGARI.match(text[at - 1]) is not None
    return at - start >= _CLAUSE_CHARS


def _ends_unspaced(text: str, match: re.Match[str], after: int) -> bool:
    is_quoted = not _QUOTE_CLOSERS.isdisjoint(match.group()) and text[after] not in _OPENERS
    is_decimal = match.group() == "．" and text[after].isdigit()
    return not is_quoted and not is_decimal


def _next_word(text: str, start: int, end: int) -> str:
    opening = _OPENING.match(text, start, end)
    match = _NEXT_WORD.match(text, opening.end() if opening else start, end)
    return match.group() if match else ""


def _lacks_space(text: str, dot: int, following: str, word: str) -> bool:
    """A missing blank as in ``in 5 days.The refund``; only before a word that is known to open sentences.

    Scripts without capitals need no such word: between two letters of Chinese, or two words of Arabic, a dot ends.
    """
    before = text[max(0, dot - _SIDE_CHARS) : dot]
    if is_cjk(following):
        return bool(before) and is_cjk(before[-1])
    if len(before) < _SIDE_CHARS or not before.isalpha():  # not ``Node.js``, ``U.S.The``
        return False
    if before.lower() == before.upper():
        return len(word) >= _SIDE_CHARS and word.lower() == word.upper()
    return before.islower() and word[:1].isupper() and word[1:].islower() and word.lower() in load_lexicon().starters


def _opens_sentence(char: str, word: str, *, is_uncapitalised: bool) -> bool:
    if char in ",;:)]}，；：、":
        return False
    is_small = word[:1].islower() and word == word.lower()  # iPhone and eBay may open a sentence
    return not is_small or is_uncapitalised
