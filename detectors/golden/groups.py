"""Cases that belong together: one source, one trace, or nearly the same question; a split never tears them."""

from collections.abc import Iterable, Sequence

from detectors.golden.near import SIMILARITY, near_pairs
from schemas.golden import GoldenCase


def groups_of(cases: Sequence[GoldenCase], similarity: float = SIMILARITY) -> list[tuple[int, ...]]:
    """Places of the cases, group by group, in the order of their first case.

    Being near is passed on: of three questions in a row that each resemble the next, all three are one group.
    """
    parent = list(range(len(cases)))
    for one, other in _ties(cases, similarity):
        first, second = sorted((_root(parent, one), _root(parent, other)))
        parent[second] = first
    found: dict[int, list[int]] = {}
    for place in range(len(cases)):
        found.setdefault(_root(parent, place), []).append(place)
    return [tuple(places) for places in found.values()]


def _ties(cases: Sequence[GoldenCase], similarity: float) -> Iterable[tuple[int, int]]:
    seen: dict[tuple[str, str], int] = {}
    for place, case in enumerate(cases):
        for name, value in (("source", case.source_id), ("trace", case.trace_id)):
            if value:
                yield seen.setdefault((name, value), place), place
    for pair in near_pairs([case.question for case in cases], similarity):
        yield pair.first, pair.second


def _root(parent: list[int], place: int) -> int:
    while parent[place] != place:
        parent[place] = parent[parent[place]]
        place = parent[place]
    return place
