"""Our cross-encoder as a detector: support by the network, the words it doubts as explanation.

It tells supported from not supported; what contradicts and what is merely missing it was not taught, so it gives no
contradiction. ``detectors.models.stacking`` joins it with L1, which does.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import tanh
from typing import Protocol

from detectors.evidence.passages import IndexedPassage, PassageCache
from detectors.evidence.shown import is_superseded, shown_evidence
from detectors.evidence.terms import Terms
from detectors.evidence.why import NO_EVIDENCE
from detectors.evidence.words import words_of
from detectors.models.calibration import Calibration
from detectors.models.own.asking import AskedClaim, asked_claims
from detectors.models.own.encoding import LONGEST, LONGEST_CLAIM, SPECIAL, Encoder, Pair
from detectors.models.own.evidence import Chooser, Chunk, Passages
from detectors.models.own.suspects import doubted
from schemas.claim import CheckItem
from schemas.labels import Outcome
from schemas.verdict import ClaimJudgement, Evidence

VERSION = 1
"""Raised when evidence is chosen, or a claim written, in another way."""
_DECIMALS = 4
_CACHED_CHARACTERS = 1_000_000
_MOST_STRETCHES = 8
"""A claim of more is no claim but a text: reading it would hold up all others."""


@dataclass(frozen=True, slots=True)
class Scored:
    """Log-odds that a pair's claim is supported, and of each word piece of the claim that it is wrong."""

    support: float
    wrong: tuple[float, ...]


class Scorer(Protocol):
    """Runs the network; safe to share across threads."""

    @property
    def runs_on(self) -> str:
        """Device and numbers."""
        ...

    def score(self, pairs: Sequence[Pair]) -> list[Scored]:
        """One result a pair, in order, whatever else is in the batch."""
        ...


@dataclass(frozen=True, slots=True)
class Reading:
    """What the network says of one claim beside its best evidence: log-odds of support, the words it doubts.

    ``support`` None: no passage shares a word that counts with the claim, so there was nothing to read; or, with
    ``is_too_long``, there was too much.
    """

    support: float | None = None
    is_too_long: bool = False
    doubted: tuple[str, ...] = ()
    evidence: Evidence | None = None


@dataclass(frozen=True, slots=True)
class Model:
    """All that is loaded: the network, what encodes for it, and what chooses evidence."""

    scorer: Scorer
    encoder: Encoder
    terms: Terms
    fingerprint: str
    calibration: Calibration
    """From the network's probability to support, where it judges alone."""
    most_chunks: int


@dataclass(frozen=True, slots=True)
class _Asked:
    """One pair: which claim of which item, and which stretch of it."""

    place: tuple[int, int]
    stretch: int
    claim: str
    evidence: Evidence
    pair: Pair


class CrossEncoder:
    """Implements ``detectors.detector.Detector``; safe to share across threads."""

    name = "crossencoder"

    def __init__(self, model: Model) -> None:
        self._model = model
        self._cache = PassageCache(_CACHED_CHARACTERS)
        self._chooser = Chooser(model.terms.weight, self._length)

    @property
    def fingerprint(self) -> str:
        """Weights, the way evidence is chosen, and the numbers that it computes in."""
        return self._model.fingerprint

    @property
    def runs_on(self) -> str:
        """Where it computes and in which numbers, for people: ``cpu fp32``."""
        return self._model.scorer.runs_on

    def judge(self, items: Sequence[CheckItem]) -> list[list[ClaimJudgement]]:
        """One list per item, one judgement per claim; never raises for content. Contradiction is not told."""
        return [[self._judgement(reading) for reading in readings] for readings in self.read(items)]

    def read(self, items: Sequence[CheckItem]) -> list[list[Reading | None]]:
        """What the network says, claim by claim; None where a claim is not factual.

        Evidence that does not fit one input is read in several, of which the one that supports most counts; a claim
        that does not fit is read in stretches, of which the weakest counts.
        """
        read: list[list[Reading | None]] = [[None] * len(item.claims) for item in items]
        asked: list[_Asked] = []
        for at, item in enumerate(items):
            indexes = self._cache.indexed(item.passages)
            for number, claim in enumerate(asked_claims(item)):
                if claim is not None:
                    stretches = self._stretches(claim)
                    is_too_long = len(stretches) > _MOST_STRETCHES
                    read[at][number] = Reading(is_too_long=is_too_long)
                    asked += () if is_too_long else self._asked((at, number), stretches, item, indexes)
        for (at, number), reading in _weakest(asked, self._model.scorer.score([one.pair for one in asked])).items():
            read[at][number] = reading
        return read

    def _stretches(self, claim: AskedClaim) -> list[AskedClaim]:
        spans = self._model.encoder.text(claim.text).spans
        if len(spans) <= LONGEST_CLAIM:
            return [claim]
        cuts = [spans[at][0] for at in range(0, len(spans), LONGEST_CLAIM)]
        texts = [claim.text[start:end] for start, end in zip(cuts, [*cuts[1:], None], strict=True)]
        return [AskedClaim(text, words_of(text)) for text in texts[: _MOST_STRETCHES + 1]]

    def _asked(
        self,
        place: tuple[int, int],
        stretches: Sequence[AskedClaim],
        item: CheckItem,
        indexes: Sequence[IndexedPassage],
    ) -> Iterator[_Asked]:
        """What is to be scored of one claim: passages in force, or where none of them shares a word, the others."""
        in_force = [number for number, passage in enumerate(item.passages) if not is_superseded(passage)]
        for at, claim in enumerate(stretches):
            for numbers in (in_force, range(len(indexes))):
                found = self._chunks(claim, [(indexes[number], item.passages[number].text) for number in numbers])
                for chunk in found:
                    number, piece = numbers[chunk.best[0]], chunk.best[1]
                    shown = shown_evidence(
                        number, item.passages[number], indexes[number].pieces[piece], indexes[number].content_hash
                    )
                    yield _Asked(place, at, claim.text, shown, self._model.encoder.pair(chunk.texts, claim.text))
                if found:
                    break

    def _chunks(self, claim: AskedClaim, passages: Passages) -> list[Chunk]:
        length = self._length(claim.text)
        room = LONGEST - SPECIAL - min(length, LONGEST_CLAIM)
        return self._chooser.chunks(claim.words, passages, room, self._model.most_chunks) if length else []

    def _length(self, text: str) -> int:
        return len(self._model.encoder.text(text).ids)

    def _judgement(self, reading: Reading | None) -> ClaimJudgement:
        if reading is None:
            return ClaimJudgement()
        if reading.is_too_long:
            return ClaimJudgement(error=Outcome.ERROR_TOO_LONG)
        if reading.support is None:
            return ClaimJudgement(support=0.0, why=NO_EVIDENCE)
        support = round(self._model.calibration.apply(sigmoid(reading.support)), _DECIMALS)
        return ClaimJudgement(support=support, evidence=reading.evidence, why=reason(reading))


def _weakest(asked: Sequence[_Asked], scored: Sequence[Scored]) -> dict[tuple[int, int], Reading]:
    best: dict[tuple[tuple[int, int], int], Reading] = {}
    for one, score in zip(asked, scored, strict=True):
        held = best.get((one.place, one.stretch))
        if held is None or held.support is None or score.support > held.support:
            words = doubted(one.claim, one.pair.spans, score.wrong)
            best[one.place, one.stretch] = Reading(score.support, doubted=words, evidence=one.evidence)
    found: dict[tuple[int, int], Reading] = {}
    for (place, _), reading in best.items():
        if place not in found or (reading.support or 0.0) < (found[place].support or 0.0):
            found[place] = reading
    return found


def reason(reading: Reading) -> str:
    """The words that the network doubts, bounded in length, untrusted in content; empty where it doubts none."""
    return f"the model doubts: {', '.join(reading.doubted)}" if reading.doubted else ""


def sigmoid(log_odds: float) -> float:
    """The logistic function, without overflow."""
    return 0.5 * (1 + tanh(0.5 * log_odds))
