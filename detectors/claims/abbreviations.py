"""Decides whether a dot belongs to an abbreviation, an initial, an ordinal or a date, and so ends no sentence."""

import re

from detectors.lexicon import load_lexicon

_DOTTED = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]")
_MONTH = re.compile(r"\s{0,3}\d{1,2}\.\s?\d")
_YEAR = re.compile(r"\s{0,3}\d{2,4}(?!\d)")
_DAY = re.compile(r"\d{1,2}\.\s{0,3}\d{1,2}\Z")
_OPENERS = "([{\"'“„«»‹›¿¡*_`（「『<‘‚《"
_LOOK_BACK = 32
_DAY_CHARS = 2
_DATE_CHARS = 8
_CODE_CHARS = 2


def is_abbreviation(text: str, sentence_start: int, dot: int, next_char: str, word: str) -> bool:
    """Whether the dot at ``dot`` ends no sentence, although ``word`` behind it could open one."""
    lexicon = load_lexicon()
    words = text[max(sentence_start, dot - _LOOK_BACK) : dot].split()
    if not words:
        return False
    token = words[-1].lstrip(_OPENERS)
    key = token.lower()
    lead = words[-2].lower() if len(words) > 1 else ""
    opens = word.lower() in lexicon.starters
    if key.isdigit():
        is_marker = len(words) == 1 and sentence_start >= dot - _LOOK_BACK
        return is_marker or lead.endswith(":") or (len(key) <= _DAY_CHARS and _is_ordinal(text, dot, lead, word))
    keys = (key, f"{lead} {key}", key.rpartition("-")[2])  # "Kansas City-St. Joseph"
    if not lexicon.abbreviations.isdisjoint(keys) and not _is_state_code(token, lead, opens=opens):
        return True
    if len(token) == 1 and token.isalpha():
        return _is_initial(token, word, opens=opens)
    if key in lexicon.abbreviations_before_number and next_char.isdigit():
        return True
    is_open = not lexicon.abbreviations_before_starter.isdisjoint(keys)
    return (is_open or _DOTTED.fullmatch(token) is not None) and not opens


def _is_ordinal(text: str, dot: int, lead: str, word: str) -> bool:
    """``am 3. Mai``, ``der 2. Weltkrieg`` and ``12. 3. 2026``, in the languages that write ordinals with a dot."""
    lexicon = load_lexicon()
    if word:
        low = word.lower()
        return low in lexicon.months or (lead in lexicon.before_ordinal and low not in lexicon.starters)
    return _MONTH.match(text, dot + 1) is not None or (
        _YEAR.match(text, dot + 1) is not None and _DAY.search(text[max(0, dot - _DATE_CHARS) : dot]) is not None
    )


def _is_state_code(token: str, lead: str, *, opens: bool) -> bool:
    """``Goleta, CA. Known for`` against ``ca. 5``."""
    return len(token) == _CODE_CHARS and token.isalpha() and token.isupper() and (opens or lead.endswith(","))


def _is_initial(letter: str, word: str, *, opens: bool) -> bool:
    """``J. Smith`` and ``z. B.``, but not ``vitamin C. The dose``; a small letter counts only before another."""
    return (letter.isupper() and not opens and bool(word)) or len(word) == 1
