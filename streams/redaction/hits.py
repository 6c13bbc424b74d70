"""A find in a text, and what stands around it: some shapes are personal data only beside a word that says so."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from streams.redaction.kinds import Kind

REACH = 32
"""Characters before a find in which a word may say what it is."""
MAX_ADDRESS_CHARS = 1_000
_BREAKS = " \n?\"'<>|"
_NUMBERED = re.compile(
    r"(?:\b(?:order|invoice|ref|reference|article|item|sku|part|ticket|case|tracking|model|serial|version|isbn|ean|"
    r"bestell\w*|rechnung\w*|auftrag\w*|artikel\w*|kunden\w*|commande|facture|pedido|factura|ordine|fattura|bestelling)"
    r"|\b(?:no|nr|num)\.|#|№)[^\n]{0,12}$",
    re.IGNORECASE,
)
_SAYS = re.compile(r"[A-Za-z#№]")


@dataclass(frozen=True, slots=True)
class Hit:
    """``text[start:end]`` is of ``kind``; ``value`` is what all spellings of it share."""

    kind: Kind
    start: int
    end: int
    value: str


Find = Callable[[str], Iterator[Hit]]
Echo = Callable[[str, frozenset[str]], Iterator[Hit]]


@dataclass(frozen=True, slots=True)
class Recogniser:
    """Finds one kind in texts with ASCII digits and plain blanks (``finder.folded``), in linear time.

    ``guard`` is a pattern for RE2 without which a text holds none; what it matches, it matches in any text around it
    (no anchors, no word boundaries). ``find`` gives what is certain; ``echo`` the values
    that are known from another text of the trace, in forms that alone would tell nothing.
    """

    kind: Kind
    guard: str
    find: Find
    echo: Echo | None = None


def before(text: str, start: int) -> str:
    """The end of the line before ``start``, at most ``REACH`` characters."""
    return text[max(0, start - REACH) : start].rpartition("\n")[2]


def is_numbered(text: str, start: int) -> bool:
    """Whether the words before ``start`` make it the number of an order, an article, a version and the like."""
    words = before(text, start)
    return words != "" and _SAYS.search(words) is not None and _NUMBERED.search(words) is not None


def is_in_address(text: str, start: int) -> bool:
    """Whether ``start`` lies in a web address, before its query: numbers there name pages, not people."""
    if start == 0 or text[start - 1].isspace():
        return False
    piece = text[max(0, start - MAX_ADDRESS_CHARS) : start]
    address = piece[max(map(piece.rfind, _BREAKS)) + 1 :]
    return "://" in address or "www." in address
