"""Phone numbers: candidates by their form, valid by the ranges that phonenumbers carries, without its slow matcher.

Its matcher takes 2 ms a kilobyte; testing candidates against the same ranges takes microseconds.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from phonenumbers import COUNTRY_CODE_TO_REGION_CODE, SUPPORTED_REGIONS, PhoneMetadata

from streams.redaction.hits import Hit, Recogniser, before, is_in_address, is_numbered
from streams.redaction.kinds import Kind

_RUN = re.compile(r"[+(0-9][0-9 .\-/()+]{5,}+")
_BETWEEN = r"[ .\-/()]{1,3}"
_CANDIDATE = re.compile(
    r"(?:(?<![0-9+#@])(?=[+(])|(?<![\w+#@])(?<![0-9][.,:\-/])(?<![\w]-))"
    rf"(?=((?:\(?\+ ?\(?[0-9]{{1,15}}+(?![0-9])(?:{_BETWEEN}[0-9]{{1,12}}+(?![0-9])){{0,7}}+)"
    rf"|(?:\(?[0-9]{{1,15}}+(?![0-9])(?:{_BETWEEN}[0-9]{{1,12}}+(?![0-9]))?+"
    rf"(?:{_BETWEEN}[0-9]{{2,12}}+(?![0-9])){{0,6}}+)))"
)
# Nine digits, or any number behind a plus.
_GUARD = r"\+ ?\(?[0-9]|[0-9](?:[ .\-/()]{0,3}[0-9]){8}"
_OPTIONAL_ZERO = re.compile(r"\(0\)")
_GROUP = re.compile(r"[0-9]+")
_DATE = re.compile(
    r"(?<![0-9])(?:[0-9]{1,2}[./-][0-9]{1,2}[./-](?:19|20)[0-9]{2}|(?:19|20)[0-9]{2}[./-][0-9]{2}[./-][0-9]{2})"
)
_AMERICAN = r"(?:1[ .-])?(?:\([2-9][0-9]{2}\) ?|[2-9][0-9]{2}[.-])[0-9]{3}[.-][0-9]{4}(?![0-9])"
# What only phone numbers look like: +…, 0…, (0…, and the North American 415-555-2671.
_FORM = re.compile(rf"\(?\+|\(?0|{_AMERICAN}")
# "Cambridge, MA 02138 617-576-5000"
_POSTCODE = re.compile(rf"[0-9]{{5}} {_AMERICAN}")
_AMERICAN_CODE = 1
_CALLED = re.compile(
    r"(?:\b(?:tele)?(?:phone|fon|fono|fonnummer|fone|foon|fax)(?!_)|\b(?:tel|ph|mob|call|cell|mobile?|handy|hotline|"
    r"whatsapp|sms|text|dial|ruf\w*|durchwahl|portable|appele[rz]|num[ée]ro|m[óo]vil|llam[ae]\w*|cellulare|chiam\w+|bel|"
    r"mobiel|celular|ligue|ligar|t[ée]l\w*)\b)[^\n]{0,24}$",
    re.IGNORECASE,
)
_LETTER = re.compile(r"[A-Za-z]")
_KINDS = (
    "fixed_line", "mobile", "toll_free", "premium_rate", "shared_cost", "voip", "personal_number", "pager", "uan",
    "voicemail",
)  # fmt: skip
_FEWEST, _MOST = 7, 15
_FEWEST_NATIONAL = 9
_SHORT_TAIL, _LONG_GROUP = 2, 4


@dataclass(frozen=True, slots=True)
class _Region:
    code: str
    prefix: str
    pattern: re.Pattern[str]

    def national(self, digits: str) -> str:
        """The number without the prefix that is dialled within the country; empty when it is not valid there."""
        bare = digits.removeprefix(self.prefix) if self.prefix else digits
        return next((one for one in (bare, digits) if self.pattern.fullmatch(one)), "")


def is_region(region: str) -> bool:
    """Whether numbers of these two letters are known."""
    return region in SUPPORTED_REGIONS


def phones_of(regions: Sequence[str]) -> Recogniser:
    """A recogniser of international numbers, and of national ones of these regions, the first that fits.

    Regions are ISO 3166 letters (``is_region``). The value is E.164.
    """
    known = tuple(_region(region) for region in regions)

    def find(text: str) -> Iterator[Hit]:
        return _hits(text, lambda start, written: _certain_end(text, start, written, known))

    def echo(text: str, numbers: frozenset[str]) -> Iterator[Hit]:
        forms = {form: number for number in numbers for form in _forms(number)}
        return _hits(text, lambda _, written: _known_end(written, forms))

    return Recogniser(Kind.PHONE, _GUARD, find, echo)


_End = tuple[int, str]


def _hits(text: str, end_of: Callable[[int, str], _End]) -> Iterator[Hit]:
    done = 0
    runs = (run for run in _RUN.finditer(text) if sum(map(str.isdigit, run.group())) >= _FEWEST)
    for found in (found for run in runs for found in _CANDIDATE.finditer(text, *run.span())):
        start, written = found.start(), found.group(1)
        if start < done or len(written) < _FEWEST:
            continue
        end, number = end_of(start, written)
        if number and not is_in_address(text, start):
            closes = written[end : end + 1] == ")" and "(" in written[:end] and ")" not in written[:end]
            done = start + end + closes
            if _is_end(text, done):
                yield Hit(Kind.PHONE, start, done, number)


def _certain_end(text: str, start: int, written: str, regions: Sequence[_Region]) -> _End:
    """Where the number ends and what it is, if its form or a word before it says phone; else an empty number.

    A form counts for nothing behind a word that makes it the number of an order or the like.
    """
    has_form = _FORM.match(written) is not None
    is_called = _is_called(before(text, start))
    if not is_called and (not has_form or is_numbered(text, start)):
        return 0, ""
    if _POSTCODE.match(written):
        return 0, ""
    for end in _ends(written):
        number = _number(written[:end], regions)
        if number and (is_called or not written[:end].isdigit()):
            return end, number
    return 0, ""


def _is_called(words: str) -> bool:
    """Whether a word before the number says phone, and none behind it says order or the like."""
    called = _CALLED.search(words) if _LETTER.search(words) else None
    return called is not None and not is_numbered(words[called.start() :], len(words))


def _known_end(written: str, forms: Mapping[str, str]) -> _End:
    return next(
        ((end, forms[digits]) for end in _ends(written) if (digits := _digits(written[:end])) in forms), (0, "")
    )


def _ends(written: str) -> Iterator[int]:
    """Places where the number may end, the longest first; "20" after a blank and a long group is another number."""
    groups = list(_GROUP.finditer(written))
    for at in range(len(groups) - 1, -1, -1):
        last, previous = groups[at], groups[at - 1] if at else None
        is_tail = (
            previous is not None
            and len(last.group()) <= _SHORT_TAIL
            and len(previous.group()) >= _LONG_GROUP
            and written[previous.end() : last.start()].isspace()
        )
        if not is_tail:
            yield last.end()


def _digits(spelled: str) -> str:
    return "".join(_GROUP.findall(_OPTIONAL_ZERO.sub("", spelled)))


def _forms(number: str) -> Iterator[str]:
    """The digits under which a number in E.164 may stand: with and without the code of its country."""
    digits = number[1:]
    yield from (digits, f"00{digits}")
    for length in (1, 2, 3):
        if int(digits[:length]) in COUNTRY_CODE_TO_REGION_CODE:
            yield from (digits[length:], f"0{digits[length:]}")


def _number(spelled: str, regions: Sequence[_Region]) -> str:
    """The number in E.164; empty when it is valid nowhere."""
    digits = _digits(spelled)
    is_abroad = "+" in spelled[:2]
    if not _FEWEST <= len(digits) <= _MOST + (not is_abroad) * 2 or _DATE.search(spelled):
        return ""
    if is_abroad:
        return _international(digits)
    if digits.startswith("00"):
        return _international(digits[2:])
    if len(digits) < _FEWEST_NATIONAL:
        return ""
    for region in regions:
        national = region.national(digits)
        if national:
            return f"+{region.code}{national}"
    return ""


def _international(digits: str) -> str:
    for length in (1, 2, 3):
        code = digits[:length]
        for region in COUNTRY_CODE_TO_REGION_CODE.get(int(code), ()) if code else ():
            national = _region(region, int(code)).national(digits[length:])
            if national:
                return f"+{code}{national}"
    return ""


def _is_end(text: str, end: int) -> bool:
    after = text[end : end + 2]
    return (
        not after[:1].isalnum()
        and after[:1] not in ("_", "%", "€", "$")
        and not (after[:1] in ".,:" and after[1:].isdigit())
    )


@lru_cache(maxsize=512)
def _region(region: str, code: int = 0) -> _Region:
    """Ranges of a region; ``001`` stands for numbers of no country, which are known by their code."""
    is_nowhere = region == "001"
    numbers = (
        PhoneMetadata.metadata_for_nongeo_region(code, None)
        if is_nowhere
        else PhoneMetadata.metadata_for_region(region, None)
    )
    if numbers is None:
        return _Region(str(code), "", re.compile("(?!)"))
    found = [getattr(numbers, kind) for kind in _KINDS]
    patterns = [kind.national_number_pattern for kind in found if kind is not None and kind.national_number_pattern]
    if numbers.country_code == _AMERICAN_CODE:  # made-up ones, such as 555-0100, look the same to readers
        patterns = ["[2-9][0-9]{9}"]
    joined = "|".join(f"(?:{pattern})" for pattern in dict.fromkeys(patterns))
    return _Region(str(numbers.country_code), numbers.national_prefix or "", re.compile(joined or "(?!)"))
