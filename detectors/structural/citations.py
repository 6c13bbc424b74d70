"""Matches the citations of an answer with the passages: by document id, chunk id, or number.

A number means the passage of that rank when ranks are distinct and count from 1, else its place in the list from 1.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from detectors.claims.citations import bracketed_tokens
from schemas.claim import Claim
from schemas.trace import Passage

_DIGITS = re.compile(r"\d+")
_MAX_NUMBER_DIGITS = 3


@dataclass(frozen=True, slots=True)
class Citations:
    """``by_claim``: for each claim the indices of the passages that it cites; ``unknown``: ids that match none.

    ``meant``: for each id that matches, the passages that it may mean (all versions and chunks of a document).
    """

    by_claim: tuple[tuple[int, ...], ...]
    unknown: tuple[str, ...]
    meant: tuple[tuple[int, ...], ...] = ()

    @property
    def exist(self) -> bool:
        """True when the answer cites anything, known or not."""
        return bool(self.unknown) or any(self.by_claim)


def resolve_citations(claims: Sequence[Claim], passages: Sequence[Passage]) -> Citations:
    """What each claim cites.

    Besides the certain citations of a claim, anything in brackets counts that equals a passage's id; and as unknown,
    what has the shape of one (``(kb-99)`` beside passages ``kb-12``, ``kb-7``).
    """
    index = _index(passages)
    shapes = {_shape(identifier) for identifier in index} - {""}
    by_claim: list[tuple[int, ...]] = []
    unknown: list[str] = []
    meant: list[tuple[int, ...]] = []
    for claim in claims:
        found: list[int] = []
        for identifier in claim.citations:
            matches = _matches(identifier, index, passages)
            found += matches
            meant += [tuple(matches)] if matches else []
            unknown += [] if matches else [identifier]
        for token in _uncertain(claim):
            matches = index.get(token.casefold(), [])
            found += matches
            meant += [tuple(matches)] if matches else []
            unknown += [token] if not matches and _shape(token.casefold()) in shapes else []
        by_claim.append(tuple(dict.fromkeys(found)))
    return Citations(tuple(by_claim), tuple(dict.fromkeys(unknown)), tuple(dict.fromkeys(meant)))


def add_known_citations(claims: Sequence[Claim], passages: Sequence[Passage]) -> tuple[Claim, ...]:
    """The claims, each with what it cites only by a passage's id (``[terms]``, ``(kb-7)``) among its citations too."""
    if not any(map(_uncertain, claims)):
        return tuple(claims)
    index = _index(passages)
    return tuple(_with_known(claim, index) for claim in claims)


def _with_known(claim: Claim, index: dict[str, list[int]]) -> Claim:
    known = tuple(token for token in _uncertain(claim) if token.casefold() in index)
    return claim.model_copy(update={"citations": claim.citations + known}) if known else claim


def _uncertain(claim: Claim) -> list[str]:
    if not ("[" in claim.text or "(" in claim.text):
        return []
    certain = set(claim.citations)
    return [token for token in bracketed_tokens(claim.text) if token not in certain and not _is_number(token)]


def _index(passages: Sequence[Passage]) -> dict[str, list[int]]:
    index: dict[str, list[int]] = {}
    for position, passage in enumerate(passages):
        doc, chunk = passage.doc_id.casefold(), passage.chunk_id.casefold()
        names = {doc, chunk}
        if doc and chunk:
            names |= {f"{doc}#{chunk}", f"{doc}:{chunk}", f"{doc}/{chunk}"}
        if doc and passage.version:
            names.add(f"{doc}@{passage.version.casefold()}")
        for name in names - {""}:
            index.setdefault(name, []).append(position)
    return index


def _matches(identifier: str, index: dict[str, list[int]], passages: Sequence[Passage]) -> list[int]:
    named = index.get(identifier.casefold())
    if named is not None:
        return named
    return _numbered(int(identifier), passages) if _is_number(identifier) else []


def _numbered(number: int, passages: Sequence[Passage]) -> list[int]:
    ranks = [passage.rank for passage in passages]
    is_ranked = len(set(ranks)) == len(ranks)
    if is_ranked and number in ranks and (number == 0 or 0 not in ranks):
        return [ranks.index(number)]
    return [number - 1] if 1 <= number <= len(passages) else []


def _is_number(text: str) -> bool:
    return text.isdecimal() and len(text) <= _MAX_NUMBER_DIGITS


def _shape(identifier: str) -> str:
    """The id with runs of digits as one 0; empty unless it holds letters and digits."""
    has_both = any(char.isalpha() for char in identifier) and any(char.isdigit() for char in identifier)
    return _DIGITS.sub("0", identifier) if has_both else ""
