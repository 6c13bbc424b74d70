"""Numbers set high: footnote marks such as ``days.¹`` and ``<sup>2</sup>``, told apart from exponents and units."""

import re

RAISED = re.compile(r"<sup>\s?\[?\^?(\d{1,3}(?:\s?[,–-]\s?\d{1,3}){0,20})\]?\s?</sup>|([¹²³⁰⁴-⁹]{1,3})", re.IGNORECASE)
_FROM_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_AREA_WORDS = frozenset(
    {"feet", "foot", "metre", "metres", "meter", "meters", "mile", "miles", "inch", "inches", "yard"}
)
_ENDS = re.compile(r"[.!?…。！？¹²³⁰⁴-⁹]\s+$")
_LOOK_BACK = 16
_MIN_WORD_CHARS = 4
_FIRST_UNSPACED = "\u3040"
"""From here on scripts write no spaces between words, so that a word's length says nothing."""


def raised_numbers(match: re.Match[str], text: str) -> str:
    """The numbers of a match of ``RAISED`` as plain digits, empty when they are an exponent.

    Exponents follow a digit, a short word such as ``km``, a word for a length, or nothing at all.
    """
    start = match.start()
    before = text[max(0, start - _LOOK_BACK) : start]
    word = re.search(r"[^\W_]*$", before)
    letters = word.group() if word else ""
    if letters:
        is_short = len(letters) < _MIN_WORD_CHARS and letters[-1] < _FIRST_UNSPACED
        is_exponent = is_short or not letters.isalpha() or letters.lower() in _AREA_WORDS
    else:
        is_exponent = not before.strip() or before[-1] in "_^/" or (before[-1].isspace() and not _ENDS.search(before))
    if is_exponent:
        return ""
    return match.group(1) or match.group(2).translate(_FROM_RAISED)
