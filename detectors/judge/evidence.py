"""Which evidence a judge sees of long contexts: passages whole where all fit, else stretches around the best pieces.

Nothing is left out in silence: the prompt and the judgement say how much was not shown.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from detectors.completion import tokens_of
from detectors.evidence.passages import IndexedPassage, PassageCache
from detectors.evidence.words import words_of
from detectors.judge.rendering import Shown, escaped
from schemas.trace import Passage
from schemas.verdict import Evidence

_FRAME_TOKENS = 12
"""What an entry takes beside its text."""
_PARTS = 3
"""No single passage takes more than this part of the room while others wait."""
_CANDIDATES = 64
"""Further pieces of passages that are shown already."""
_FIGURE, _WORD, _ASKED, _DECIDED = 2.0, 1.0, 0.25, 100.0


@dataclass(frozen=True, slots=True)
class Selection:
    """What is shown, in the order of the passages; ``left_out`` passages are not shown at all."""

    shown: tuple[Shown, ...]
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Wanted:
    """What evidence is looked for; ``decided`` is the piece that the layer below decided by."""

    claim: str
    question: str
    decided: Evidence | None = None


def select(wanted: Wanted, passages: Sequence[Passage], room_tokens: int, cache: PassageCache) -> Selection:
    """Evidence of about ``room_tokens`` at most; empty where not even the best piece fits."""
    costs = [_cost(passage.text) for passage in passages]
    if sum(costs) <= room_tokens:
        return Selection(tuple(Shown(n, 0, len(one.text), one.text) for n, one in enumerate(passages)))
    indexed = cache.indexed(passages)
    shown: list[Shown] = []
    left = room_tokens
    for number, piece in _best_first(wanted, indexed):
        if left <= _FRAME_TOKENS:
            break
        start, end = indexed[number].pieces[piece].start, indexed[number].pieces[piece].end
        if any(one.passage == number and one.start < end and start < one.end for one in shown):
            continue
        share = min(left, max(room_tokens // _PARTS, _cost(passages[number].text[start:end])))
        is_new = all(one.passage != number for one in shown)
        found = (
            Shown(number, 0, len(passages[number].text), passages[number].text)
            if is_new and costs[number] <= share
            else _stretch(number, piece, indexed[number], passages[number].text, share, shown)
        )
        if found is not None:
            shown.append(found)
            left -= _cost(found.text)
    shown.sort(key=lambda one: (one.passage, one.start))
    return Selection(tuple(shown), len(passages) - len({one.passage for one in shown}))


def best_piece(wanted: Wanted, shown: Shown, passages: Sequence[Passage], cache: PassageCache) -> Evidence:
    """The piece of what was shown that is most like the claim: what people see beside a verdict that rests on it."""
    passage = passages[shown.passage]
    (indexed,) = cache.indexed([passage])
    inside = [piece for piece in indexed.pieces if shown.start <= piece.start and piece.end <= shown.end]
    keys = _weights(wanted)
    best = max(inside, key=lambda piece: sum(keys.get(key, 0.0) for key in piece.keys), default=None)
    start, end = (best.start, best.end) if best else (shown.start, shown.end)
    known = wanted.decided
    if known is not None and known.passage == shown.passage and shown.start <= known.start and known.end <= shown.end:
        start, end = known.start, known.end
    return Evidence(
        passage=shown.passage,
        doc_id=passage.doc_id,
        passage_hash=indexed.content_hash,
        start=start,
        end=end,
        text=passage.text[start:end],
    )


def _cost(text: str) -> int:
    return tokens_of(escaped(text)) + _FRAME_TOKENS


def _weights(wanted: Wanted) -> dict[str, float]:
    """What each word of the claim counts, figures twice; words of the question a little."""
    asked = {word.key: _ASKED for word in words_of(wanted.question) if not word.is_stop}
    own = {word.key: _FIGURE if word.key[0] in "#@" else _WORD for word in words_of(wanted.claim) if not word.is_stop}
    return asked | own


def _best_first(wanted: Wanted, indexed: Sequence[IndexedPassage]) -> Iterator[tuple[int, int]]:
    """Passage and piece, by number: the best of every passage, then others; without a word in common last, in order."""
    scores: dict[tuple[int, int], float] = {}
    for key, weight in _weights(wanted).items():
        for number, passage in enumerate(indexed):
            for piece in passage.postings.get(key, ()):
                scores[number, piece] = scores.get((number, piece), 0.0) + weight
    known = wanted.decided
    if known is not None and known.passage < len(indexed):
        pieces = indexed[known.passage].pieces
        near = next((n for n, piece in enumerate(pieces) if piece.start <= known.start < piece.end), None)
        if near is not None:
            scores[known.passage, near] = scores.get((known.passage, near), 0.0) + _DECIDED
    ranked = sorted(scores, key=lambda place: (-scores[place], place))
    best: dict[int, tuple[int, int]] = {}
    for place in ranked:
        best.setdefault(place[0], place)
    yield from best.values()
    first = set(best.values())
    yield from islice((place for place in ranked if place not in first), _CANDIDATES)
    yield from ((number, 0) for number, passage in enumerate(indexed) if passage.pieces and number not in best)


def _stretch(  # noqa: PLR0913, PLR0917 - a place, its text, and how far it may grow
    number: int, piece: int, indexed: IndexedPassage, text: str, room: int, shown: Sequence[Shown]
) -> Shown | None:
    """Whole pieces around one, alternately behind and before it, up to what is shown already; None: it does not fit."""
    pieces = indexed.pieces
    taken = [(one.start, one.end) for one in shown if one.passage == number]
    first = last = piece
    if _cost(text[pieces[piece].start : pieces[piece].end]) > room:
        return None
    grown = True
    while grown:
        grown = False
        sides = ((first, last + 1), (first - 1, last))
        for low, high in sides if last - piece <= piece - first else sides[::-1]:
            if low < 0 or high >= len(pieces):
                continue
            start, end = pieces[low].start, pieces[high].end
            is_free = all(end <= a or b <= start for a, b in taken)
            if is_free and _cost(text[start:end]) <= room:
                first, last, grown = low, high, True
                break
    start, end = pieces[first].start, pieces[last].end
    return Shown(number, start, end, text[start:end], is_part=True)
