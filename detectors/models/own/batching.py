"""Labelled claims as inputs of the network, and inputs as padded batches of like length."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from detectors.evidence.terms import Terms
from detectors.evidence.words import words_of
from detectors.models.own.encoding import LONGEST, LONGEST_CLAIM, SPECIAL, Encoder, Pair
from detectors.models.own.evidence import Chooser
from detectors.models.own.synthetic import Labelled, Source

UNKNOWN = -1.0


@dataclass(frozen=True, slots=True)
class Input:
    """One pair with its target and a target per word piece of the claim (1 wrong, 0 not, −1 unknown)."""

    pair: Pair
    target: float
    tokens: tuple[float, ...]
    group: str


@dataclass(frozen=True, slots=True)
class Batch:
    """Arrays of (batch, length); ``claimed`` marks the claim's word pieces."""

    ids: NDArray[np.int64]
    types: NDArray[np.int64]
    attended: NDArray[np.bool_]
    claimed: NDArray[np.bool_]


def as_input(one: Labelled, source: Source, encoder: Encoder, terms: Terms) -> Input | None:
    """The input of one labelled claim; None when the passages share no word with it or it has no word pieces."""
    said = encoder.text(one.claim)
    if not said.ids:
        return None
    room = LONGEST - SPECIAL - min(len(said.ids), LONGEST_CLAIM)
    passages = list(zip(source.indexes, source.texts, strict=True))
    gone = [place for place, text in one.replaced if not text]
    chooser = Chooser(terms.weight, lambda text: len(encoder.text(text).ids))
    found = chooser.chunks(words_of(one.claim), passages, room, without=gone)
    if not found:
        return None
    otherwise = dict(one.replaced)
    evidence = [otherwise.get(place, text) for place, text in zip(found[0].places, found[0].texts, strict=True)]
    pair = encoder.pair(evidence, one.claim)
    return Input(pair, float(one.supported), _token_targets(one, pair), one.group)


def _token_targets(one: Labelled, pair: Pair) -> tuple[float, ...]:
    if one.wrong is None:
        return (UNKNOWN,) * len(pair.spans)
    wrong = one.wrong
    return tuple(float(any(start < e and end > s for s, e in wrong)) for start, end in pair.spans)


def pad(pairs: Sequence[Pair]) -> Batch:
    """One batch, padded to its longest pair."""
    shape = (len(pairs), max(len(pair.ids) for pair in pairs))
    ids, types = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    attended, claimed = np.zeros(shape, dtype=np.bool_), np.zeros(shape, dtype=np.bool_)
    for row, pair in enumerate(pairs):
        ids[row, : len(pair.ids)] = pair.ids
        types[row, : len(pair.ids)] = pair.types
        attended[row, : len(pair.ids)] = True
        claimed[row, pair.claim_start : pair.claim_end] = True
    return Batch(ids, types, attended, claimed)


def targets(inputs: Sequence[Input], batch: Batch) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Targets (batch,) and (batch, length) of a padded batch, −1 where unknown or not the claim's."""
    tokens = np.full(batch.ids.shape, UNKNOWN, dtype=np.float32)
    for row, one in enumerate(inputs):
        tokens[row, one.pair.claim_start : one.pair.claim_end] = one.tokens
    return np.array([one.target for one in inputs], dtype=np.float32), tokens


def plan(groups: Iterable[Sequence[Input]], size: int, rng: Random) -> list[list[Input]]:
    """All groups, each whole in one batch, batches of like length in random order."""
    shuffled = list(groups)
    rng.shuffle(shuffled)
    batches: list[list[Input]] = []
    pool = size * 40
    for at in range(0, len(shuffled), pool):
        batch: list[Input] = []
        for group in sorted(shuffled[at : at + pool], key=lambda one: max(len(item.pair.ids) for item in one)):
            batch.extend(group)
            if len(batch) >= size:
                batches.append(batch)
                batch = []
        if batch:
            batches.append(batch)
    rng.shuffle(batches)
    return batches


def tensors(batch: Batch) -> tuple[Any, ...]:
    """The batch as torch tensors, in the order of the network's arguments."""
    from torch import from_numpy  # noqa: PLC0415 - only where a model runs

    return tuple(from_numpy(part) for part in (batch.ids, batch.types, batch.attended, batch.claimed))
