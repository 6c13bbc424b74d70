"""L1 and our cross-encoder as one detector: L1's log-odds, and as much of the network's as a kind of answer has earned.

Stacked generalisation (Wolpert 1992), held to L1: where the network did not help on sources that neither layer was
trained on, it is not asked, and L1's judgement stands.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from hashlib import blake2b
from importlib.resources import files
from math import fsum, log
from pathlib import Path
from typing import Any, Protocol

from detectors.detector import Detector
from detectors.models.answerkinds import AnswerKind, kind_of
from detectors.models.options import ModelOptions
from detectors.models.own.detector import Reading, reason, sigmoid
from detectors.models.own.loading import load_own
from schemas.claim import CheckItem
from schemas.errors import ConfigError
from schemas.labels import Outcome
from schemas.verdict import ClaimJudgement

Features = tuple[float, float, float]
"""Log-odds of support by L1 and by the network, and the mean of the network's over the claims of the answer."""
_FURTHEST = 6.0
"""Log-odds are kept within this, so that one sure layer cannot silence the other."""
_NEAREST = 1e-4
_DECIMALS = 4
_DECISIVE, _MOST_SUPPORT = 0.5, 0.3
"""L1's decisive conflict: contradiction from here on bounds support to there, whatever the network says."""


class Reader(Protocol):
    """What of the network the stack needs."""

    @property
    def fingerprint(self) -> str:
        """Version of everything that decides its readings."""
        ...

    @property
    def runs_on(self) -> str:
        """Device and numbers."""
        ...

    def read(self, items: Sequence[CheckItem]) -> list[list[Reading | None]]:
        """A reading a claim; None where it is not factual."""
        ...


@dataclass(frozen=True, slots=True)
class KindWeights:
    """For one kind of answer: factors of the network's log-odds beside L1's, and the calibration of the sum.

    The mean over the answer says how the answer as a whole reads; with it a claim's score depends on the claims beside
    it. Both factors 0: L1 alone.
    """

    own: float = 0.0
    own_mean: float = 0.0
    slope: float = 1.0
    intercept: float = 0.0

    @property
    def has_network(self) -> bool:
        """Whether the network counts at all."""
        return self.own > 0 or self.own_mean > 0

    def support(self, features: Features) -> float:
        """Calibrated support of one claim."""
        return sigmoid(self.slope * self.raw(features) + self.intercept)

    def raw(self, features: Features) -> float:
        """Log-odds before calibration."""
        l1, own, own_mean = features
        return l1 + self.own * own + self.own_mean * own_mean


@dataclass(frozen=True, slots=True)
class StackWeights:
    """Weights of every kind of answer."""

    kinds: Mapping[AnswerKind, KindWeights]

    @property
    def fingerprint(self) -> str:
        """Sixteen hex digits over the numbers."""
        text = json.dumps({kind.value: asdict(self.kinds[kind]) for kind in AnswerKind}, sort_keys=True)
        return blake2b(text.encode(), digest_size=8).hexdigest()


class Stacked:
    """Implements ``detectors.layers.StackedDetector``; safe to share across threads where both layers are."""

    name = "stacked"

    def __init__(self, l1: Detector, l2: Reader, weights: StackWeights) -> None:
        self._l1, self._l2, self._weights = l1, l2, weights

    @property
    def fingerprint(self) -> str:
        """Those of both layers and of the weights."""
        return f"stacked:{self._weights.fingerprint}+{self._l1.fingerprint}+{self._l2.fingerprint}"

    @property
    def runs_on(self) -> str:
        """Where the network computes and in which numbers, for people."""
        return self._l2.runs_on

    def judge(self, items: Sequence[CheckItem]) -> list[list[ClaimJudgement]]:
        """As ``judge_after``, with nothing known of L1."""
        return self.judge_after(items, [None] * len(items))

    def judge_after(
        self, items: Sequence[CheckItem], below: Sequence[Sequence[ClaimJudgement] | None]
    ) -> list[list[ClaimJudgement]]:
        """One list per item, one judgement per claim; an error of L1 stays one, since nothing can be stacked on it."""
        unknown = [item for item, known in zip(items, below, strict=True) if known is None]
        made = iter(self._l1.judge(unknown) if unknown else ())
        first = [list(known if known is not None else next(made)) for known in below]
        weights = [self._weights.kinds[kind_of(item)] for item in items]
        wanted = [at for at, weight in enumerate(weights) if weight.has_network]
        read = self._l2.read([items[at] for at in wanted]) if wanted else []
        for at, readings in zip(wanted, read, strict=True):
            first[at] = self._stacked(first[at], readings, weights[at])
        return first

    def _stacked(
        self, first: Sequence[ClaimJudgement], read: Sequence[Reading | None], weights: KindWeights
    ) -> list[ClaimJudgement]:
        found = stack_features(first, read)
        return [self._one(*one, weights) for one in zip(first, read, found, strict=True)]

    def _one(
        self, first: ClaimJudgement, reading: Reading | None, features: Features | None, weights: KindWeights
    ) -> ClaimJudgement:
        if reading is not None and reading.is_too_long and first.error is None:
            return ClaimJudgement(error=Outcome.ERROR_TOO_LONG)
        if features is None or reading is None:
            return first
        return self._joined(first, reading, weights.support(features))

    def _joined(self, first: ClaimJudgement, reading: Reading, support: float) -> ClaimJudgement:
        below, contradiction = first.support or 0.0, first.contradiction or 0.0
        if contradiction >= _DECISIVE:
            support = min(support, _MOST_SUPPORT) if below <= _MOST_SUPPORT else support
        else:
            contradiction *= (1 - support) / max(1 - below, _NEAREST)
        why = "; ".join(text for text in (first.why, reason(reading)) if text)
        update = {
            "support": round(support, _DECIMALS),
            "contradiction": round(min(contradiction, 1.0), _DECIMALS),
            "evidence": first.evidence or reading.evidence,
            "why": why,
        }
        return first.model_copy(update=update)


def stack_features(first: Sequence[ClaimJudgement], read: Sequence[Reading | None]) -> list[Features | None]:
    """Features of each claim of one answer; None where L1 gave no score, or the network had nothing to read."""
    own = [None if one is None or one.support is None else _kept(one.support) for one in read]
    heard = [one for one in own if one is not None]
    mean = fsum(heard) / max(len(heard), 1)
    return [
        None if judgement.support is None or one is None else (log_odds(judgement.support), one, mean)
        for judgement, one in zip(first, own, strict=True)
    ]


def load_stacked(l1: Detector, options: ModelOptions | None = None) -> Stacked:
    """The model that ships with us on top of ``l1``, warmed up. Raises ConfigError as ``load_own``."""
    return Stacked(l1, load_own(options), load_stack_weights())


def load_stack_weights(path: Path | None = None) -> StackWeights:
    """The weights at ``path``, or those that ship with us. Raises ConfigError when they are for other features."""
    source = path if path is not None else files("detectors.models.own").joinpath("stack.json")
    if not source.is_file():
        raise ConfigError(f"{source} is missing: fit it with `make train-l2`, or install the package again")
    body: dict[str, Any] = json.loads(source.read_text(encoding="utf-8"))
    numbers = {field.name for field in fields(KindWeights)}
    if set(body) != {kind.value for kind in AnswerKind} or any(set(one) != numbers for one in body.values()):
        raise ConfigError("the weights of the stack are for other features; fit them again with `make train-l2`")
    return StackWeights({kind: KindWeights(**body[kind.value]) for kind in AnswerKind})


def log_odds(probability: float) -> float:
    """Of a support, within bounds."""
    kept = min(max(probability, _NEAREST), 1 - _NEAREST)
    return _kept(log(kept / (1 - kept)))


def _kept(log_odds: float) -> float:
    return min(max(log_odds, -_FURTHEST), _FURTHEST)
