"""Payment cards and bank accounts: an issuer's range and form, and a check digit that holds, before anything counts."""

import re
from collections.abc import Iterator
from functools import lru_cache

from stdnum import numdb

from streams.redaction.hits import Hit, Recogniser, is_in_address
from streams.redaction.kinds import Kind

# Groups as they are printed on cards; the same separator throughout, so that a table of numbers makes no card.
_CARD = re.compile(
    r"(?<![0-9A-Za-z_])(?<![0-9][.,])"
    r"(?=([2-6][0-9]{3}([ -]?)[0-9]{4}\2[0-9]{4}\2[0-9]{4}(?:\2[0-9]{3})?(?![0-9])"
    r"|3[47][0-9]{2}([ -]?)[0-9]{6}\3[0-9]{5}(?![0-9])|3[0689][0-9]{2}([ -]?)[0-9]{6}\4[0-9]{4}(?![0-9])"
    r"|[2-6][0-9]{15,18}(?![0-9])))"
)
_ISSUED = re.compile(
    r"4(?:[0-9]{15}|[0-9]{18})|5[0-8][0-9]{14}|2(?:22[1-9]|2[3-9]|[3-6]|7[01]|720)[0-9]{12,14}|3[47][0-9]{13}"
    r"|3(?:0[0-5]|[689][0-9])[0-9]{11}|35(?:2[89]|[3-8][0-9])[0-9]{12}|6[0-9]{15,18}"
)
_DOUBLED = dict(zip("0123456789", (0, 2, 4, 6, 8, 1, 3, 5, 7, 9), strict=True))
_LUHN = 10
_IBAN_START = re.compile(r"(?<![0-9A-Za-z])[A-Za-z]{2}[0-9]{2}(?=[ -]?[0-9A-Za-z]{4})")
_IBAN_PART = re.compile(r"([0-9]+)![nac]")
_IBAN_CHECK = 97


def find_cards(text: str) -> Iterator[Hit]:
    """Card numbers of 14 to 19 digits, together or in the printed groups; the value is the digits."""
    for found in _CARD.finditer(text):
        digits = found.group(1).replace(" ", "").replace("-", "")
        if _ISSUED.fullmatch(digits) and is_luhn(digits) and not is_in_address(text, found.start()):
            yield Hit(Kind.CARD, found.start(), found.end(1), digits)


def is_luhn(digits: str) -> bool:
    """The check of card numbers (Luhn 1954, ISO/IEC 7812-1)."""
    total = sum(map(int, digits[::-2])) + sum(_DOUBLED[digit] for digit in digits[-2::-2])
    return total % _LUHN == 0


def find_ibans(text: str) -> Iterator[Hit]:
    """Account numbers of the country's length whose check digits hold (ISO 13616); the value has no blanks."""
    for found in _IBAN_START.finditer(text):
        end = _iban_end(text, found.start(), _iban_length(found.group()[:2].upper()))
        value = text[found.start() : end].replace(" ", "").replace("-", "").upper()
        if value and _checks(value):
            yield Hit(Kind.IBAN, found.start(), end, value)


def _iban_end(text: str, start: int, length: int) -> int:
    """Where ``length`` letters and digits with single blanks or dashes between them end; ``start`` if they do not."""
    if length == 0:
        return start
    left, at = length, start
    while left and at < len(text):
        if text[at].isascii() and text[at].isalnum():
            left -= 1
        elif text[at] not in " -" or not text[at - 1].isalnum():
            return start
        at += 1
    is_whole = left == 0 and not (at < len(text) and text[at].isascii() and text[at].isalnum())
    return at if is_whole else start


def _checks(value: str) -> bool:
    return int("".join(str(int(char, 36)) for char in value[4:] + value[:4])) % _IBAN_CHECK == 1


@lru_cache(maxsize=1024)
def _iban_length(country: str) -> int:
    """Length of that country's account numbers by the registry that python-stdnum carries; 0 for none."""
    known = numdb.get("iban").info(country)[0][1].get("bban", "")
    parts = _IBAN_PART.findall(known)
    return 4 + sum(map(int, parts)) if parts else 0


CARDS = Recogniser(Kind.CARD, r"[0-9](?:[ -]?[0-9]){13}", find_cards)
IBANS = Recogniser(Kind.IBAN, r"[A-Za-z]{2}[0-9]{2}[ -]?[0-9A-Za-z]{4}", find_ibans)
