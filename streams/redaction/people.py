"""Names and network addresses: off by default, because no rule finds all names, and four numbers may be a version."""

import re
from collections.abc import Iterator
from ipaddress import ip_address

from streams.redaction.hits import Hit, Recogniser
from streams.redaction.kinds import Kind

_TITLE = (
    r"(?:Mr|Mrs|Ms|Miss|Mx|Dr|Prof|Sir|Madam|Herrn?|Frau|Mme|Mlle|Monsieur|Madame|Sra?|Señora?|Sig|Signora?|Dhr|"
    r"Meneer|Mevrouw|Pani?)\b\.?"
)
_SAID = (
    r"(?:[Mm]y name is|[Ii]ch heiße|[Mm]ein Name ist|[Jj]e m['’]appelle|[Mm]e llamo|[Mm]i chiamo|[Mm]ijn naam is|"
    r"[Mm]eu nome é)"
)
_NAME = r"[^\W\d_a-zß-ÿ][^\W\d_]{0,40}+(?:['’-][^\W\d_]{1,40}+){0,3}+"
_NAMED = re.compile(rf"(?<!\w)(?:(?:{_TITLE} ){{1,3}}|{_SAID} )({_NAME}(?: {_NAME}){{0,2}})")
_WORD = re.compile(rf"(?<![\w\[]){_NAME}")
_IP = re.compile(
    r"(?<![\w.:])(?:[0-9]{1,3}(?:\.[0-9]{1,3}){3}(?![\w.]*[0-9])|(?:[0-9A-Fa-f]{0,4}:){2,7}[0-9A-Fa-f]{0,4}(?![\w:]))"
)


def find_names(text: str) -> Iterator[Hit]:
    """Words behind a title or "my name is", each a find of its own, so that "Ms Ada Lind" and "Ms Lind" share one."""
    for found in _NAMED.finditer(text):
        yield from map(_hit, _WORD.finditer(text, found.start(1), found.end(1)))


def echo_names(text: str, known: frozenset[str]) -> Iterator[Hit]:
    """Words with a capital that are such a name elsewhere."""
    return (hit for hit in map(_hit, _WORD.finditer(text)) if hit.value in known)


def _hit(found: re.Match[str]) -> Hit:
    return Hit(Kind.NAME, found.start(), found.end(), found.group().casefold())


def find_ips(text: str) -> Iterator[Hit]:
    """IPv4 and IPv6 addresses; the value is the short form."""
    for found in _IP.finditer(text):
        try:
            address = ip_address(found.group())
        except ValueError:
            continue
        yield Hit(Kind.IP, found.start(), found.end(), str(address))


NAMES = Recogniser(Kind.NAME, r"\pL[.]? \pL", find_names, echo_names)
IPS = Recogniser(Kind.IP, r"[0-9]\.[0-9]|:[0-9A-Fa-f]{0,4}:", find_ips)
