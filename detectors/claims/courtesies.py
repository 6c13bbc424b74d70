"""Recognises sentences of pure courtesy or comment on the answer itself: greetings, thanks, offers, "in summary"."""

import re
import unicodedata

from detectors.lexicon import Lexicon

_PART = re.compile(r"[,!.，！。、~–—-]+\s{0,3}")
_MAX_PARTS = 4
_SEVERAL_CHARS = 160


def is_courtesy(form: str, lexicon: Lexicon) -> bool:
    """Whether the sentence, in normal form, holds nothing else; several courtesies may follow one another.

    ``Hello John, thanks for asking!`` is one, ``Hello John, your refund was issued.`` is not.
    """
    if form[:1].isalnum() and lexicon.courtesy_openers.match(form) is None:
        return False
    plain = _bare(form)
    return _is_one(form, plain, lexicon) or _are_several(plain, lexicon)


def _are_several(plain: str, lexicon: Lexicon) -> bool:
    if len(plain) > _SEVERAL_CHARS:
        return False
    parts = [part for part in _PART.split(plain, maxsplit=_MAX_PARTS) if part.strip()]
    return 1 < len(parts) <= _MAX_PARTS and all(_is_one(part, _bare(part), lexicon) for part in parts)


def _is_one(form: str, plain: str, lexicon: Lexicon) -> bool:
    return (
        (lexicon.greetings.fullmatch(plain) is not None and not _says_more(plain, lexicon))
        or lexicon.thanks.fullmatch(plain) is not None
        or lexicon.offers.match(plain) is not None
        or lexicon.meta.fullmatch(form) is not None
        or (plain != form and lexicon.meta.fullmatch(plain) is not None)
    )


def _says_more(greeting: str, lexicon: Lexicon) -> bool:
    """``Hello, shipping is free``: the words behind a greeting are a name, unless there is a verb among them."""
    return not lexicon.verbs.isdisjoint(greeting.replace(",", " ").split()[1:])


def _bare(form: str) -> str:
    """Without signs and emoji at both ends; combining signs of the last letter stay."""
    start, end = 0, len(form)
    while start < end and not form[start].isalnum():
        start += 1
    while end > start and not (form[end - 1].isalnum() or _is_mark(form[end - 1])):
        end -= 1
    return form[start:end]


def _is_mark(char: str) -> bool:
    """Whether the character is a vowel sign or accent of the letter before it, or part of a spelling (``'``)."""
    return unicodedata.category(char) in {"Mn", "Mc"} and char != "\ufe0f"
