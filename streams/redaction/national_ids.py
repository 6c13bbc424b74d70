"""National numbers of persons: a shape, the check digits of python-stdnum, and a word beside those with a weak shape.

One look over the tokens of a text serves all of them, since a shape is found in a dictionary.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from stdnum.at import vnr
from stdnum.be import nn
from stdnum.br import cpf
from stdnum.ca import sin
from stdnum.ch import ssn as ahv
from stdnum.cn import ric
from stdnum.de import idnr
from stdnum.dk import cpr
from stdnum.es import dni, nie
from stdnum.fi import hetu
from stdnum.fr import nir
from stdnum.in_ import aadhaar, pan
from stdnum.it import codicefiscale
from stdnum.kr import rrn
from stdnum.mx import curp
from stdnum.nl import bsn
from stdnum.no import fodselsnummer
from stdnum.pl import pesel
from stdnum.se import personnummer
from stdnum.tr import tckimlik
from stdnum.us import itin, ssn

from streams.redaction.hits import Hit, Recogniser, before, is_in_address, is_numbered
from streams.redaction.kinds import Kind, NationalId

_TOKEN = re.compile(
    r"(?<![0-9A-Za-z_])(?<![0-9][.,])[A-Za-z]{0,6}+-?[0-9](?:[0-9A-Za-z.+-]{0,28}[0-9A-Za-z])?(?![0-9A-Za-z_])"
)
_NINO = re.compile(
    r"(?<![0-9A-Za-z_])([A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]) ?[0-9]{2} ?[0-9]{2} ?[0-9]{2} ?[A-D](?![0-9A-Za-z_])",
    re.IGNORECASE,
)
_NINO_UNUSED = frozenset(("BG", "GB", "NK", "KN", "TN", "NT", "ZZ"))
_SHAPE = str.maketrans("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", "9" * 10 + "A" * 52)
_SEPARATORS = str.maketrans("", "", " -+.")
_MOST_TOKENS = 7
_GUARD = (
    r"[0-9](?:[ .+-]?[0-9]){8}|[0-9]{7,8}-?[A-Za-z]|[0-9]{6}[A-Za-z][0-9]{3}"
    r"|[A-Za-z]{4}(?:[A-Za-z][0-9]{4}[A-Za-z]|[A-Za-z]{2}[0-9]{2}[A-Za-z][0-9]{2}|[0-9]{6}[A-Za-z])"
)


@dataclass(frozen=True, slots=True)
class Number:
    """``shapes`` have 9 for a digit and A for a letter; with ``words`` the number counts only behind one of them.

    Numbers with few check digits need words: a tenth of all order numbers of that length would pass otherwise.
    """

    shapes: tuple[str, ...]
    is_valid: Callable[[str], bool]
    words: str = ""


NUMBERS: dict[NationalId, tuple[Number, ...]] = {
    NationalId.US_SSN: (
        Number(("999-99-9999",), ssn.is_valid),
        Number(("999999999", "999 99 9999"), ssn.is_valid, r"ssn|social security"),
    ),
    NationalId.US_ITIN: (Number(("999-99-9999",), itin.is_valid),),
    NationalId.GB_NINO: (),
    NationalId.DE_IDNR: (Number(("99999999999", "99 999 999 999"), idnr.is_valid),),
    NationalId.FR_NIR: (
        Number(("999999999999999", "99999A999999999", "9 99 99 99 999 999 99", "9 99 99 9A 999 999 99"), nir.is_valid),
    ),
    NationalId.ES_DNI: (Number(("99999999A", "99999999-A"), dni.is_valid),),
    NationalId.ES_NIE: (Number(("A9999999A", "A-9999999-A", "A9999999-A"), nie.is_valid),),
    NationalId.IT_CODICEFISCALE: (Number(("AAAAAA99A99A999A",), codicefiscale.is_valid),),
    NationalId.NL_BSN: (Number(("999999999", "9999.99.999"), bsn.is_valid, r"bsn|burgerservice\w*|sofi\w*"),),
    NationalId.BE_NN: (Number(("99.99.99-999.99",), nn.is_valid),),
    NationalId.CH_AHV: (Number(("9999999999999", "999.9999.9999.99"), ahv.is_valid),),
    NationalId.AT_SVNR: (
        Number(("9999999999", "9999 999999"), vnr.is_valid, r"svnr|sozialversicherung\w*|versicherungsnummer"),
    ),
    NationalId.PL_PESEL: (Number(("99999999999",), pesel.is_valid, r"pesel"),),
    NationalId.SE_PERSONNUMMER: (Number(("999999-9999", "999999+9999", "99999999-9999"), personnummer.is_valid),),
    NationalId.DK_CPR: (Number(("9999999999", "999999-9999"), cpr.is_valid, r"cpr\w*|personnummer"),),
    NationalId.NO_FODSELSNUMMER: (
        Number(("99999999999", "999999 99999"), fodselsnummer.is_valid, r"f[øo]dselsnummer|personnummer"),
    ),
    NationalId.FI_HETU: (
        Number(("999999-9999", "999999-999A", "999999+999A", "999999A999A", "999999A9999"), hetu.is_valid),
    ),
    NationalId.BR_CPF: (
        Number(("999.999.999-99",), cpf.is_valid),
        Number(("99999999999",), cpf.is_valid, r"cpf"),
    ),
    NationalId.MX_CURP: (Number(("AAAA999999AAAAAA99", "AAAA999999AAAAAAA9"), curp.is_valid),),
    NationalId.IN_AADHAAR: (Number(("999999999999", "9999 9999 9999"), aadhaar.is_valid, r"aa?dh?aar|uidai|uid"),),
    NationalId.IN_PAN: (Number(("AAAAA9999A",), pan.is_valid),),
    NationalId.CA_SIN: (
        Number(("999999999", "999 999 999", "999-999-999"), sin.is_valid, r"sin|social insurance|assurance sociale"),
    ),
    NationalId.CN_RIC: (Number(("999999999999999999", "99999999999999999A"), ric.is_valid),),
    NationalId.KR_RRN: (Number(("999999-9999999",), rrn.is_valid),),
    NationalId.TR_KIMLIK: (Number(("99999999999",), tckimlik.is_valid, r"kimlik|tckn"),),
}
"""Some have a shape that needs no word, and others that do; the British one has a recogniser of its own."""

_Rule = tuple[Callable[[str], bool], re.Pattern[str] | None]


def ids_of(names: Sequence[NationalId]) -> list[Recogniser]:
    """Recognisers of these numbers; the value is letters and digits alone."""
    rules: dict[str, list[_Rule]] = {}
    for number in (number for name in names for number in NUMBERS[name]):
        words = re.compile(rf"\b(?:{number.words})\b", re.IGNORECASE) if number.words else None
        for shape in number.shapes:
            rules.setdefault(shape, []).append((number.is_valid, words))
    beginnings = frozenset(shape[:end] for shape in rules for end, char in enumerate(shape) if char == " ")

    def find(text: str) -> Iterator[Hit]:
        for start, written, shape in _shaped(text, beginnings):
            if any(_is_meant(text, start, written, rule) for rule in rules.get(shape, ())):
                yield _hit(start, written)

    def echo(text: str, known: frozenset[str]) -> Iterator[Hit]:
        hits = (_hit(start, written) for start, written, shape in _shaped(text, beginnings) if shape in rules)
        return (hit for hit in hits if hit.value in known)

    own = [Recogniser(Kind.ID, _GUARD, find, echo)] if rules else []
    return [*own, _BRITISH] if NationalId.GB_NINO in names else own


def _shaped(text: str, beginnings: frozenset[str]) -> Iterator[tuple[int, str, str]]:
    """Start, spelling and shape of each token, and of tokens with single blanks between while these begin a shape."""
    tokens = list(_TOKEN.finditer(text))
    for at, first in enumerate(tokens):
        start, end = first.span()
        for following in (*tokens[at + 1 : at + _MOST_TOKENS], None):
            written = text[start:end]
            shape = written.translate(_SHAPE)
            yield start, written, shape
            if following is None or shape not in beginnings or text[end : following.start()] != " ":
                break
            end = following.end()


def _is_meant(text: str, start: int, written: str, rule: _Rule) -> bool:
    is_valid, words = rule
    if words is not None and words.search(before(text, start)) is None:
        return False
    return is_valid(written) and not (words is None and is_numbered(text, start)) and not is_in_address(text, start)


def _find_nino(text: str) -> Iterator[Hit]:
    """British numbers have no check digit; prefixes that are never given out and a word that says order tell."""
    for found in _NINO.finditer(text):
        start = found.start()
        is_given_out = found.group(1).upper() not in _NINO_UNUSED
        if is_given_out and not is_numbered(text, start) and not is_in_address(text, start):
            yield _hit(start, found.group())


def _hit(start: int, written: str) -> Hit:
    return Hit(Kind.ID, start, start + len(written), written.translate(_SEPARATORS).upper())


_BRITISH = Recogniser(Kind.ID, r"[A-Za-z]{2} ?[0-9]{2} ?[0-9]{2} ?[0-9]{2} ?[A-Da-d]", _find_nino)
