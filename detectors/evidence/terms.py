"""How much a word's presence in the evidence tells, learned without labels from passages and answers.

Rare words tell more than common ones; words that answers bring along of their own accord ("mention", "overall",
"various") tell little even when rare, because they are missing from the passages of good answers too.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from math import log

_MIN_COUNT = 3
_PRIOR_USES = 3.0
_LEAST_SHARE = 0.1


@dataclass(frozen=True, slots=True)
class Terms:
    """Weights in (0, 1] by counting key; figures weigh ``figure``, unknown words ``unknown``."""

    table: dict[str, float]
    unknown: float = 0.95
    figure: float = 0.6

    def weight(self, key: str) -> float:
        """The weight of one counting key."""
        if key[0] in "#@":
            return self.figure
        return self.table.get(key, self.unknown)


def learn_terms(passages: Iterable[Iterable[str]], answers: Iterable[tuple[Iterable[str], Iterable[str]]]) -> Terms:
    """Terms from the keys of each distinct passage, and from pairs (keys of an answer, keys of its passages)."""
    documents: Counter[str] = Counter()
    count = 0
    for keys in passages:
        documents.update(set(keys))
        count += 1
    uses: Counter[str] = Counter()
    absences: Counter[str] = Counter()
    for own, context in answers:
        held = set(context)
        unique = set(own)
        documents.update(unique)
        uses.update(unique)
        absences.update(unique - held)
        count += 1
    usual = sum(absences.values()) / max(sum(uses.values()), 1)
    table = {
        key: round(_rarity(seen, count) * _told(uses[key], absences[key], usual), 3)
        for key, seen in sorted(documents.items())
        if seen >= _MIN_COUNT and key[0] not in "#@"
    }
    return Terms(table)


def _rarity(seen: int, count: int) -> float:
    return max(log(count / seen) / log(count), 0.02) if count > 1 else 1.0


def _told(uses: int, absences: int, usual: float) -> float:
    """1 for a word as often absent as words are on the whole, falling to 0.1 for one that is always absent."""
    share = (absences + _PRIOR_USES * usual) / (uses + _PRIOR_USES)
    return max(1 - max(share - usual, 0.0) / (1 - usual), _LEAST_SHARE) if usual < 1 else 1.0
