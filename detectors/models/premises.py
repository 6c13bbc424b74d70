"""What a claim is held against: the best sentences of each promising passage, of all together, and the whole context.

One passage at a time, so that a passage that supports and one that contradicts are never mixed into one premise; all
together, because a claim may join what two passages say. Which sentences are taken depends on those that share a word
with the claim: unrelated text, before or behind them, changes nothing.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from detectors.evidence.matching import match, prepare
from detectors.evidence.passages import PassageCache
from detectors.evidence.shown import is_superseded, shown_evidence
from detectors.evidence.terms import Terms
from detectors.models.options import ModelOptions
from detectors.models.own.asking import AskedClaim
from detectors.models.own.evidence import Chooser, Passages, Place
from detectors.models.tokens import TextEncoder
from schemas.claim import CheckItem
from schemas.trace import Passage
from schemas.verdict import Evidence

_CACHED_CHARACTERS = 1_000_000


@dataclass(frozen=True, slots=True)
class Premise:
    """A text to hold a claim against; ``evidence`` is its telling piece, None where no word of it tells."""

    text: str
    evidence: Evidence | None


@dataclass(frozen=True, slots=True)
class Context:
    """The passages of one item, indexed, those in force first asked."""

    passages: Sequence[Passage]
    indexed: Passages
    in_force: Sequence[int]
    """Numbers of the passages that hold text and are not superseded; all with text where every one is superseded."""

    @property
    def is_empty(self) -> bool:
        """True when there is nothing to hold a claim against."""
        return not self.in_force


class Premises:
    """Chooses premises; safe to share across threads."""

    def __init__(self, encoder: TextEncoder, terms: Terms, options: ModelOptions) -> None:
        self._encoder = encoder
        self._weight = terms.weight
        self._chooser = Chooser(terms.weight, encoder.length_of_line)
        self._most = options.evidence_passages
        self._overlap = options.overlap_tokens
        self._has_full_context = options.full_context
        self._cache = PassageCache(_CACHED_CHARACTERS)

    def context(self, item: CheckItem) -> Context:
        """The passages of ``item``."""
        indexed = self._cache.indexed(item.passages)
        texts = [self._encoder.clean(passage.text) for passage in item.passages]
        full = [number for number, text in enumerate(texts) if text.strip()]
        current = [number for number in full if not is_superseded(item.passages[number])]
        return Context(item.passages, list(zip(indexed, texts, strict=True)), current or full)

    def of(self, claim: AskedClaim, context: Context, room: int) -> list[Premise]:
        """The premises of ``claim``, none above ``room`` tokens by much; at least one for a context with text.

        A superseded passage has no say beside one in force that shares a word with the claim.
        """
        found = self._chosen(claim, context, context.in_force, room)
        if not found and len(context.in_force) < len(context.indexed):
            found = self._chosen(claim, context, range(len(context.indexed)), room)
        if not found:
            found = [Premise(text, None) for text in islice(self._windows(context, room), self._most)]
        if self._has_full_context:
            best = found[0].evidence
            whole = "\n".join(context.indexed[number][1] for number in context.in_force)
            found += [Premise(text, best) for text in self._encoder.windows(whole, room, self._overlap)]
        return found

    def joined(self, claim: AskedClaim, context: Context, room: int) -> list[str]:
        """The best sentences of all passages in force, about ``room`` tokens in reading order: a text a passage."""
        passages = [context.indexed[number] for number in context.in_force]
        texts: dict[int, list[str]] = {}
        for chunk in self._chooser.chunks(claim.words, passages, room):
            for (at, _), text in zip(chunk.places, chunk.texts, strict=True):
                texts.setdefault(at, []).append(text)
        return [" ".join(lines) for lines in texts.values()]

    def telling(self, claim: AskedClaim, context: Context) -> Evidence | None:
        """The piece to show beside ``claim``, where the model itself names none."""
        passages = [context.indexed[number] for number in context.in_force]
        chunks = self._chooser.chunks(claim.words, passages, 0)
        return _evidence(context, context.in_force, chunks[0].best) if chunks else None

    def _chosen(self, claim: AskedClaim, context: Context, numbers: Sequence[int], room: int) -> list[Premise]:
        passages = [context.indexed[number] for number in numbers]
        found = match(prepare(claim.words, self._weight), [index for index, _ in passages])
        if found is None:
            return []
        ranked = list(dict.fromkeys(at for (at, _), _ in found.ranked))[: self._most]
        groups = [[at] for at in ranked] + ([list(range(len(passages)))] if len(ranked) > 1 else [])
        return [
            Premise(text, _evidence(context, [numbers[at] for at in group], chunk.best))
            for group in groups
            for chunk in self._chooser.chunks(claim.words, [passages[at] for at in group], room)
            for text in self._encoder.windows(" ".join(chunk.texts), room, min(self._overlap, room // 2))
        ]

    def _windows(self, context: Context, room: int) -> Iterator[str]:
        for number in context.in_force:
            yield from self._encoder.windows(context.indexed[number][1], room, min(self._overlap, room // 2))


def _evidence(context: Context, numbers: Sequence[int], place: Place) -> Evidence:
    number = numbers[place[0]]
    index, _ = context.indexed[number]
    return shown_evidence(number, context.passages[number], index.pieces[place[1]], index.content_hash)
