"""Which sentences of the passages stand beside a claim: greedily those that cover its telling words, in reading order.

The choice depends on the claim and on pieces that share a word with it, never on what else is in a batch.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from heapq import nlargest

from detectors.evidence.keyvalue import key_value_spans
from detectors.evidence.passages import IndexedPassage, Piece
from detectors.evidence.words import Word

_CANDIDATES = 24
_AGAIN = 0.15
"""What covering a word a second time counts: an equal sentence elsewhere often says what the first leaves open."""
_NEIGHBOUR = 0.05
_LINE = 400
"""Characters of a piece that are shown at most; it has 60 words, or is a blob."""

Place = tuple[int, int]
"""Passage and piece, by number."""
Passages = Sequence[tuple[IndexedPassage, str]]
"""Indexed passages with their texts."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Pieces in reading order as the network reads them; ``best`` is the one that covers the claim best."""

    places: tuple[Place, ...]
    texts: tuple[str, ...]
    best: Place


@dataclass(frozen=True, slots=True)
class Chooser:
    """``weight`` says how much a word tells, ``length`` how many word pieces a text has."""

    weight: Callable[[str], float]
    length: Callable[[str], int]

    def chunks(
        self, words: Sequence[Word], passages: Passages, room: int, most: int = 1, without: Iterable[Place] = ()
    ) -> list[Chunk]:
        """Up to ``most`` chunks of about ``room`` word pieces each, disjoint; empty when no piece shares a word."""
        weights = {word.key: self.weight(word.key) for word in words if not word.is_stop}
        scores = _scores(weights, [index for index, _ in passages])
        lines = _Lines(passages)
        taken = set(without)
        found: list[Chunk] = []
        while len(found) < most:
            left = {place: score for place, score in scores.items() if place not in taken}
            if not left:
                break
            ranked = nlargest(_CANDIDATES, left, key=lambda place: (left[place], -place[0], -place[1]))
            beside = [place for place in _beside(ranked[0], passages) if place not in {*ranked, *taken}]
            chosen = self._greedy(_Choice(weights, passages, ranked[0], [*ranked[1:], *beside]), lines, room)
            taken.update(chosen)
            places = tuple(sorted(chosen))
            found.append(Chunk(places, tuple(lines[place] for place in places), ranked[0]))
        return found

    def _greedy(self, choice: "_Choice", lines: "_Lines", room: int) -> list[Place]:
        """The best piece, and those chosen with it; one that is too long for what is left is passed over."""
        chosen, uncovered = [choice.best], set(choice.weights) - choice.piece(choice.best).keys
        room -= self.length(lines[choice.best])
        left = list(choice.others)
        while left and room > 0:
            place = max(left, key=lambda one: (choice.gain(one, uncovered), -one[0], -one[1]))
            left.remove(place)
            length = self.length(lines[place])
            if length <= room:
                chosen.append(place)
                uncovered -= choice.piece(place).keys
                room -= length
        return chosen


@dataclass(frozen=True, slots=True)
class _Choice:
    weights: dict[str, float]
    passages: Passages
    best: Place
    others: Sequence[Place]

    def piece(self, place: Place) -> Piece:
        return self.passages[place[0]][0].pieces[place[1]]

    def gain(self, place: Place, uncovered: set[str]) -> float:
        held = self.piece(place).keys
        shared = [key for key in self.weights if key in held]  # in the claim's order: sums are the same everywhere
        again = _AGAIN * sum(self.weights[key] for key in shared)
        is_near = place[0] == self.best[0] and abs(place[1] - self.best[1]) == 1
        return sum(self.weights[key] for key in shared if key in uncovered) + again + (_NEIGHBOUR if is_near else 0.0)


def _scores(weights: dict[str, float], passages: Sequence[IndexedPassage]) -> dict[Place, float]:
    scores: dict[Place, float] = {}
    for number, passage in enumerate(passages):
        for key, weight in weights.items():
            for piece in passage.postings.get(key, ()):
                place = (number, piece)
                scores[place] = scores.get(place, 0.0) + weight
    return scores


def _beside(place: Place, passages: Passages) -> Iterable[Place]:
    count = len(passages[place[0]][0].pieces)
    return ((place[0], at) for at in (place[1] - 1, place[1] + 1) if 0 <= at < count)


class _Lines(dict[Place, str]):
    """Texts of pieces, made when they are asked for; a key of JSON with its value reads ``outer key: value``."""

    def __init__(self, passages: Passages) -> None:
        super().__init__()
        self._passages = passages
        self._heads: dict[int, dict[int, tuple[str, int]]] = {}

    def __missing__(self, place: Place) -> str:
        index, text = self._passages[place[0]]
        piece = index.pieces[place[1]]
        head, start = "", piece.start
        if piece.is_key_value:
            if place[0] not in self._heads:
                self._heads[place[0]] = {
                    span.label_start: (f"{span.path} {span.key}".strip(), span.start) for span in key_value_spans(text)
                }
            head, start = self._heads[place[0]].get(piece.start, ("", piece.start))
        line = " ".join(text[start : piece.end][:_LINE].split())
        self[place] = f"{head}: {line}." if head else line
        return self[place]
