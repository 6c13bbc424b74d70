"""A claim matched to the pieces of text that cover it best; what lies elsewhere never counts, so padding is inert."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, wraps
from heapq import nlargest
from itertools import pairwise
from typing import Any, TypeVar

from detectors.evidence.figures import Figure, figures_of
from detectors.evidence.kinds import Amount, amounts_of
from detectors.evidence.passages import IndexedPassage, Piece
from detectors.evidence.relations import antonyms_of
from detectors.evidence.words import Word, first_places

_Answer = TypeVar("_Answer")
_CANDIDATES = 16
_UNION_PIECES = 3
# A further piece joins the union only when it stands near the best one in coverage and adds something, so that a long
# context cannot lend a claim its missing words one by one.
_UNION_MIN_SHARE_OF_BEST = 0.35
_UNION_MIN_GAIN = 0.08
_RIVAL_SHARE_OF_BEST = 0.5
_MOST_RIVALS = 2


@dataclass(frozen=True)
class PreparedClaim:
    """A claim ready to match: words, counting keys in order without repeats, their weights, names and figures.

    ``is_measured``: it names a unit, a month or a day of the week.
    """

    words: tuple[Word, ...]
    keys: tuple[str, ...]
    weights: dict[str, float]
    total: float
    names: frozenset[str]
    figures: tuple[Figure, ...]
    is_measured: bool = False

    @cached_property
    def has_negation(self) -> bool:
        """True when a negation stands anywhere in it."""
        return any(word.is_negation for word in self.words)

    @cached_property
    def has_hedge(self) -> bool:
        """True when a hedge stands anywhere in it."""
        return any(word.is_hedge for word in self.words)

    @cached_property
    def turning(self) -> tuple[Word, ...]:
        """Its words that have an opposite."""
        return tuple([word for word in self.words if word.opposites])

    @cached_property
    def antonyms(self) -> list[tuple[str, frozenset[str]]]:
        """Its keys that have antonyms, none of which it holds itself."""
        held = [(key, antonyms_of(key)) for key in self.keys]
        return [(key, antonyms) for key, antonyms in held if antonyms and antonyms.isdisjoint(self.weights)]

    @cached_property
    def phrases(self) -> list[tuple[str, str]]:
        """Keys that stand directly beside each other, in order."""
        return [(left.key, right.key) for left, right in pairwise(self.words)]

    @cached_property
    def places(self) -> dict[str, int]:
        """First place among all words of each key that counts."""
        return first_places(self.words)

    @property
    def has_names(self) -> bool:
        """True when a name or an initialism stands in it."""
        return bool(self.names) or any(word.is_capital and word.text.isupper() for word in self.words)

    @cached_property
    def movable(self) -> list[str]:
        """Its names and figures in order, those that begin a sentence too."""
        capitals = {word.key for word in self.words if word.is_capital}
        return [key for key in self.keys if key in capitals or key[0] in "#@"]

    @cached_property
    def amounts(self) -> list[Amount]:
        """Its figures with what they measure."""
        return amounts_of(self.words)


@dataclass(frozen=True, slots=True)
class Match:
    """The best piece, the union it leads, and what stands in and directly around the union.

    It belongs to one claim; ``known`` holds what was asked of the two, see ``once``.
    """

    passage: int
    content_hash: str
    best: Piece
    chosen: tuple[Piece, ...]
    best_score: float
    runner_up: float
    union_keys: frozenset[str]
    window_keys: frozenset[str]
    window_figures: tuple[Figure, ...]
    near_key_values: tuple[Piece, ...]
    near: tuple[Piece, ...]
    ranked: tuple[tuple[tuple[int, int], float], ...]
    known: dict[Callable[..., Any], Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    def near_keys(self) -> frozenset[str]:
        """All words of the candidates for the best piece and of the window; made on demand, few claims need it."""
        return self.window_keys.union(*(piece.keys for piece in self.near))


def once(ask: Callable[[PreparedClaim, Match], _Answer]) -> Callable[[PreparedClaim, Match], _Answer]:
    """``ask`` answered once for a claim and its match, because features, disputes and the reason all ask the same."""

    @wraps(ask)
    def answer(claim: PreparedClaim, found: Match) -> _Answer:
        known = found.known
        if ask not in known:
            known[ask] = ask(claim, found)
        kept: _Answer = known[ask]
        return kept

    return answer


def prepare(words: Sequence[Word], weight: Callable[[str], float]) -> PreparedClaim:
    """The claim's words with the weight of each counting key."""
    weights: dict[str, float] = {}
    names = set()
    for at, word in enumerate(words):
        if word.is_stop:
            continue
        if word.key not in weights:
            weights[word.key] = weight(word.key)
        # A capital at the start of a sentence says nothing, unless a second one follows it.
        if word.is_capital and word.value is None and (at > 0 or (len(words) > 1 and words[1].is_capital)):
            names.add(word.key)
    return PreparedClaim(
        tuple(words),
        tuple(weights),
        weights,
        sum(weights.values()),
        frozenset(names),
        figures_of(words),
        any(word.measure is not None or word.unit for word in words),
    )


def match(claim: PreparedClaim, passages: Sequence[IndexedPassage]) -> Match | None:
    """The pieces that cover ``claim`` best over all passages; None when no counting word of it occurs anywhere."""
    entries: list[tuple[float, int, int]] = []
    weights = claim.weights.items()
    for number, passage in enumerate(passages):
        postings = passage.postings
        scores: dict[int, float] = {}
        for key, weight in weights:
            if key in postings:
                for piece in postings[key]:
                    scores[piece] = scores.get(piece, 0.0) + weight
        entries += [(score, -number, -piece) for piece, score in scores.items()]
    if not entries:
        return None
    ranked = [((-number, -piece), score) for score, number, piece in nlargest(_CANDIDATES, entries)]
    return _match_of(claim, passages, ranked)


def rival_matches(claim: PreparedClaim, found: Match, passages: Sequence[IndexedPassage]) -> list[Match]:
    """Matches inside single other passages that cover at least half as much as ``found``; at most two."""
    if len(passages) == 1:
        return []
    rivals = []
    others = {number for (number, _), _ in found.ranked} - {found.passage}
    for number in sorted(others):
        ranked = [(at, score) for at, score in found.ranked if at[0] == number]
        if ranked[0][1] >= _RIVAL_SHARE_OF_BEST * found.ranked[0][1]:
            rivals.append(_match_of(claim, passages, ranked))
    return sorted(rivals, key=lambda rival: -rival.best_score)[:_MOST_RIVALS]


def _match_of(
    claim: PreparedClaim, passages: Sequence[IndexedPassage], ranked: Sequence[tuple[tuple[int, int], float]]
) -> Match:
    chosen = _union(claim, passages, ranked)
    (first, piece), best_score = ranked[0]
    union_keys: frozenset[str] = frozenset().union(*(passages[p].pieces[i].keys for p, i in chosen))
    around = sorted({(p, n) for p, i in chosen for n in (i - 1, i, i + 1) if 0 <= n < len(passages[p].pieces)})
    window = [passages[p].pieces[n] for p, n in around]
    near = [passages[p].pieces[i] for (p, i), _ in ranked]
    return Match(
        passage=first,
        content_hash=passages[first].content_hash,
        best=passages[first].pieces[piece],
        chosen=tuple(passages[p].pieces[i] for p, i in chosen),
        best_score=best_score / claim.total,
        runner_up=ranked[1][1] / claim.total if len(ranked) > 1 else 0.0,
        union_keys=union_keys,
        window_keys=union_keys.union(*(other.keys for other in window)),
        window_figures=tuple(f for other in window for f in other.figures) if claim.figures else (),
        near_key_values=tuple(other for other in near if other.is_key_value),
        near=tuple(near),
        ranked=tuple(ranked),
    )


def _union(
    claim: PreparedClaim, passages: Sequence[IndexedPassage], ranked: Sequence[tuple[tuple[int, int], float]]
) -> list[tuple[int, int]]:
    (first, piece), best_score = ranked[0]
    chosen = [(first, piece)]
    held = passages[first].pieces[piece].keys
    # A list, not a set: in which order the weights are added decides the last bit, and that may decide between two.
    missing = [key for key in claim.keys if key not in held]
    near = [at for at, score in ranked[1:] if score >= _UNION_MIN_SHARE_OF_BEST * best_score] if missing else []
    keys = [passages[p].pieces[i].keys for p, i in near]
    while missing and near and len(chosen) < _UNION_PIECES:
        gains = [sum([claim.weights[key] for key in missing if key in held]) for held in keys]
        top = max(range(len(near)), key=gains.__getitem__)
        if gains[top] < _UNION_MIN_GAIN * claim.total:
            break
        chosen.append(near.pop(top))
        held = keys.pop(top)
        missing = [key for key in missing if key not in held]
    return chosen
