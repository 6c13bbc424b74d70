"""Finds where sentences end inside a block; every look to the left or right is bounded, so time stays linear.

A missed end joins two statements, a false one tears one apart. Torn statements are judged wrongly, so when in doubt
there is no end.
"""

import re
from collections.abc import Iterator

from detectors.claims.citations import citations_end
from detectors.lexicon import load_lexicon

_END = re.compile(r"[.!?…。！？｡．؟۔।॥։።፧။។]+[\"'”’»›)\]}」』）】*_~`]*")
_UNSPACED = frozenset("。！？｡．")
_ALWAYS = frozenset("؟۔।॥։።፧။။។")
_QUOTE_CLOSERS = frozenset('」』”’"）')
_OPENERS = "([{\"'“„«‹¿¡*_`（「『<"
_NEXT_WORD = re.compile(r"[^\W\d_][\w'’]{0,23}")
_DOTTED = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]")
_LOOK_BACK = 32


def sentence_spans(text: str, start: int, end: int, *, is_uncapitalised: bool) -> Iterator[tuple[int, int]]:
    """Spans of the sentences of ``text[start:end]``, in order, without white space at their ends.

    ``is_uncapitalised`` says that the whole answer is written without capitals, so that a small letter may open a
    sentence.
    """
    position = start
    match = _END.search(text, position, end)
    while match is not None:
        after = citations_end(text, match.end(), end)
        if after > match.end() and text.startswith(".", after) and after < end:
            after += 1
        if _is_end(text, position, match, after, end, is_uncapitalised=is_uncapitalised):
            yield from _trimmed(text, position, after)
            position = after
        match = _END.search(text, after, end)
    yield from _trimmed(text, position, end)


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if start < end:
        yield start, end


def _is_end(  # noqa: PLR0913 - a decision list reads best as one list of returns
    text: str, sentence_start: int, match: re.Match[str], after: int, end: int, *, is_uncapitalised: bool
) -> bool:
    sign = match.group()
    if after >= end:
        return True
    following = after
    while following < end and text[following].isspace():
        following += 1
    if following >= end or not _ALWAYS.isdisjoint(sign):
        return True
    is_spaced = following > after
    if not _UNSPACED.isdisjoint(sign):
        return is_spaced or _ends_unspaced(text, match, after)
    word = _next_word(text, following, end)
    if not is_spaced:
        return after > match.end() or _lacks_space(text, match.start(), word)
    opens = _opens_sentence(text[following], word, is_uncapitalised=is_uncapitalised)
    if sign[0] != "." or sign.startswith(".."):
        return opens and not (sign[0] == "…" and text[following].isdigit())
    return opens and not _is_abbreviation(text, sentence_start, match.start(), text[following], word)


def _ends_unspaced(text: str, match: re.Match[str], after: int) -> bool:
    is_quoted = not _QUOTE_CLOSERS.isdisjoint(match.group())
    is_decimal = match.group() == "．" and text[after].isdigit()
    return not is_quoted and not is_decimal


def _next_word(text: str, start: int, end: int) -> str:
    while start < end and text[start] in _OPENERS:
        start += 1
    match = _NEXT_WORD.match(text, start, end)
    return match.group() if match else ""


def _lacks_space(text: str, dot: int, word: str) -> bool:
    """A missing blank as in ``in 5 days.The refund``; only before a word that is known to open sentences."""
    before = text[max(0, dot - 3) : dot]
    is_word = len(before) == 3 and before.isalpha() and before.islower()  # noqa: PLR2004 - not ``Node.js``, ``U.S.The``
    return is_word and word[:1].isupper() and word[1:].islower() and word.lower() in load_lexicon().starters


def _opens_sentence(char: str, word: str, *, is_uncapitalised: bool) -> bool:
    if char in ",;:)]}，；：、":
        return False
    is_small = word[:1].islower() and word == word.lower()  # iPhone and eBay may open a sentence
    return not is_small or is_uncapitalised


def _is_abbreviation(text: str, sentence_start: int, dot: int, next_char: str, word: str) -> bool:  # noqa: PLR0911 - decision list
    lexicon = load_lexicon()
    before = text[max(sentence_start, dot - _LOOK_BACK) : dot]
    words = before.split()
    if not words:
        return False
    token = words[-1].lstrip(_OPENERS)
    key = token.lower()
    pair = f"{words[-2].lower()} {key}" if len(words) > 1 else ""
    opens = word.lower() in lexicon.starters
    if key.isdigit():
        # "Steps: 1. Open it. 2. Save it.": a number that opens the sentence, or follows a colon, is a list marker
        is_marker = len(words) == 1 and sentence_start >= dot - _LOOK_BACK
        return is_marker or pair[: -len(key)].endswith(": ") or (len(key) <= 2 and word.lower() in lexicon.months)  # noqa: PLR2004 - days have two digits
    if not lexicon.abbreviations.isdisjoint((key, pair, key.rpartition("-")[2])):  # "Kansas City-St. Joseph"
        return True
    if len(token) == 1 and token.isalpha():
        return _is_initial(token, word, opens=opens)
    if key in lexicon.abbreviations_before_number and next_char.isdigit():
        return True
    if key in lexicon.abbreviations_before_starter or _DOTTED.fullmatch(token):
        return not opens
    return False


def _is_initial(letter: str, word: str, *, opens: bool) -> bool:
    """``J. Smith`` and ``z. B.``, but not ``vitamin C. The dose``; a small letter counts only before another."""
    return (letter.isupper() and not opens and bool(word)) or len(word) == 1
