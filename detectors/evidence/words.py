"""Text to words: stems, figures and flags, cached per spelling, because the same words come back in every trace."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b

import snowballstemmer

from detectors.evidence.lexicon import (
    ABSOLUTES,
    HEDGES,
    MULTIPLIERS,
    NEGATIONS,
    NUMBER_WORDS,
    OPPOSITES,
    STOPWORDS,
)
from detectors.evidence.measures import Measure, measure_of

_CLOCK = r"\d{1,2}(?:[:.]\d{1,2})?\s?[aApP]\.?[mM]\b\.?|\d{1,2}:\d{1,2}(?!\d)"
_AMOUNT = (
    r"(?:[$€£¥₹]\s?)?\d{1,40}(?:,\d{3}){0,9}(?:\.\d{1,40})?"
    r"(?:\s?(?:%|percent\b|per\s?cent\b|million\b|billion\b|thousand\b|trillion\b|bn\b)|[km]\b"
    r"|\s?[$€£¥₹](?!\s?\d))?"
)
_SPOKEN = (
    r"\b(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)-(?:one|two|three|four|five|six|seven|eight|nine)\b"
)
# Scripts without spaces: one sign, one word.
_SIGN = r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]"
# The bound keeps a blob without spaces from becoming one giant word; it is split, never cut.
# An accent may be a sign of its own behind its letter.
_WORD = r"[^\W\d_](?:(?![\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff])[^\W_]|[\u0300-\u036f]|(?<=\w)['’](?=[^\W\d_])){0,63}"
# What stands for a number or an address that was taken out: one word, equal where the value was equal.
_PLACEHOLDER = r"\[[A-Z]{2,12}_[0-9a-f]{6}\]"
TOKEN = re.compile(f"{_PLACEHOLDER}|{_CLOCK}|{_AMOUNT}|{_SPOKEN}|{_SIGN}|{_WORD}", re.IGNORECASE)
_MAIL = r"[\w.+-]{1,64}+@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}"
_MAIL_OR_TOKEN = re.compile(f"{_MAIL}|{TOKEN.pattern}", re.IGNORECASE)

# The only tokens with a blank inside: "5 PM", "$ 5", "5 %", "5 per cent", "5 million". Any other text may be cut at its
# blanks first, and a spelling between two blanks comes back in every trace.
_WITH_BLANK = re.compile(
    r"[\d$€£¥₹](?:\s(?:[\d%$€£¥₹]|[ap]\.?m|per|million|billion|thousand|trillion|bn)|per\s)", re.IGNORECASE
)
_LONGEST_KEPT = 32
# "2024-03-01" and "3/14/2024"; "1/3/2024" is a day in March to some and one in January to others, and stays figures.
_DATE = re.compile(r"(?<![\d/-])(?:(\d{4})-(\d{1,2})-(\d{1,2})|(\d{1,2})/(\d{1,2})/(\d{4}))(?![\d/-])")
_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_LAST_DAY = 31

_FIGURE = re.compile(r"([$€£¥₹])?\s?(\d[\d,]*(?:\.\d+)?)\s?(.*)", re.DOTALL)
_TIME = re.compile(r"(\d{1,2})(?:[:.](\d{1,2}))?\s?([ap])?", re.IGNORECASE)
_NOON = 12
_CURRENCY = frozenset("$€£¥₹")


@dataclass(frozen=True, slots=True)
class Word:
    """One spelling: ``key`` is what is compared (a stem, ``#30`` for a figure, ``@1020`` for minutes of the day)."""

    key: str
    text: str = ""
    is_stop: bool = False
    is_capital: bool = False
    is_negation: bool = False
    is_hedge: bool = False
    is_absolute: bool = False
    value: float | None = None
    unit: str = ""
    opposites: frozenset[str] = frozenset()
    measure: Measure | None = None


def tokenise(text: str) -> Iterator[tuple[Word, int]]:
    """Words of ``text`` with their start offsets, in order; linear in the length of the text."""
    done = 0
    for date in _dates(text):
        yield from _placed(text, done, date.start())
        for word in _scanned(_written_out(date)):
            yield word, date.start()
        done = date.end()
    yield from _placed(text, done, len(text))


def words_of(text: str) -> list[Word]:
    """Words of ``text`` in order, without offsets; a date in digits reads as "1 March 2024"."""
    if _dates(text):
        text = _DATE.sub(_written_out, text)
    if _WITH_BLANK.search(text):
        return _scanned(text)
    found: list[Word] = []
    for spelling in text.split():
        found += _kept(spelling) if len(spelling) <= _LONGEST_KEPT else _scanned(spelling)
    return found


def first_places(words: Sequence[Word]) -> dict[str, int]:
    """First position of each counting key."""
    found: dict[str, int] = {}
    for at, word in enumerate(words):
        if not word.is_stop:
            found.setdefault(word.key, at)
    return found


def first_offset(text: str) -> int:
    """Where the first word of ``text`` begins; the length of ``text`` when it holds none."""
    match = _pattern(text).search(text)
    return len(text) if match is None else match.start()


def _dates(text: str) -> list[re.Match[str]]:
    return list(_DATE.finditer(text)) if "-" in text or "/" in text else []


def _written_out(date: re.Match[str]) -> str:
    """The date in words, a blank on both sides; as it is written where no such day exists or two may be meant."""
    year, month, day, first, second, late_year = date.groups()
    if year is None:
        year = late_year
        month, day = (second, first) if int(first) > len(_MONTHS) else (first, second)
        is_clear = int(first) > len(_MONTHS) or int(second) > len(_MONTHS) or first == second
    else:
        is_clear = True
    if not is_clear or not 1 <= int(month) <= len(_MONTHS) or not 1 <= int(day) <= _LAST_DAY:
        return date.group()
    return f" {int(day)} {_MONTHS[int(month) - 1]} {year} "


def _placed(text: str, start: int, end: int) -> Iterator[tuple[Word, int]]:
    pattern = _pattern(text)
    return ((analyse(match.group()), match.start()) for match in pattern.finditer(text, start, end))


def _scanned(text: str) -> list[Word]:
    return [analyse(token) for token in _pattern(text).findall(text)]


@lru_cache(maxsize=1 << 16)
def _kept(spelling: str) -> tuple[Word, ...]:
    return tuple(_scanned(spelling))


def _pattern(text: str) -> re.Pattern[str]:
    return _MAIL_OR_TOKEN if "@" in text else TOKEN


@lru_cache(maxsize=1 << 17)
def stem(word: str) -> str:
    """Snowball stem of a lower-case word; a stemmer is made per call because its state is not thread-safe."""
    stemmed: str = snowballstemmer.stemmer("english").stemWord(word)
    return stemmed


@lru_cache(maxsize=1 << 17)
def analyse(token: str) -> Word:
    """The word behind one spelling, as ``TOKEN`` matched it."""
    if token[0] == "[" or "@" in token:
        return _address(token)
    if token[0].isdecimal() or token[0] in _CURRENCY:
        return _time(token) or _figure(token)
    low = unicodedata.normalize("NFKC", token).lower().replace("’", "'")
    spoken = _spoken_number(low)
    if spoken is not None:
        return Word(key=_figure_key(spoken), text=token, value=spoken)
    bare = low.removesuffix("'s")
    is_negation = bare in NEGATIONS or bare.endswith("n't")
    return Word(
        key=stem(bare),
        text=token,
        is_stop=bare in STOPWORDS or is_negation,
        is_capital=token[0].isupper(),
        is_negation=is_negation,
        is_hedge=bare in HEDGES,
        is_absolute=bare in ABSOLUTES,
        opposites=frozenset(stem(other) for other in OPPOSITES.get(bare, ())),
        measure=measure_of(bare, is_capital=token[0].isupper()),
    )


def _address(token: str) -> Word:
    """A figure of a kind of its own, far below all that people write, so that it is near no other figure."""
    low = token.strip("[]").lower()
    kind = "email" if "@" in low else low.partition("_")[0]
    place = int.from_bytes(blake2b(low.encode("utf-8", "replace"), digest_size=4).digest())
    return Word(key=f"#{low}", text=token, value=(1 + place / 0x100000000) / 1e9, unit=f"[{kind}]")


def _figure_key(value: float) -> str:
    return f"#{value:.10g}"


def _spoken_number(low: str) -> float | None:
    tens, _, ones = low.partition("-")
    if ones:
        return NUMBER_WORDS[tens] + NUMBER_WORDS.get(ones, 1.0)
    return NUMBER_WORDS.get(low)


def _time(token: str) -> Word | None:
    """``5 PM``, ``17:00`` and ``17:0`` as minutes of the day; None when the token is no time."""
    if ":" not in token and not token.lower().rstrip(".").endswith("m"):
        return None
    match = _TIME.match(token)
    if match is None or (":" not in token and match.group(3) is None):
        return None
    hour, minute, half = int(match.group(1)), int(match.group(2) or 0), (match.group(3) or "").lower()
    if half and hour <= _NOON:
        hour = hour % _NOON + (_NOON if half == "p" else 0)
    minutes = hour * 60 + minute
    return Word(key=f"@{minutes}", text=token, value=float(minutes), unit="clock")


def _figure(token: str) -> Word:
    match = _FIGURE.match(token)
    if match is None:  # decimal digits of other scripts
        return Word(key=f"#{token}", text=token)
    sign, digits, tail = match.groups()
    value = float(digits.replace(",", ""))
    tail = tail.lower()
    unit = sign or (tail if tail in _CURRENCY else "")
    if tail in MULTIPLIERS:
        value *= MULTIPLIERS[tail]
    elif tail.startswith(("%", "per")):
        unit = "%"
    return Word(key=_figure_key(value), text=token, value=value, unit=unit)
