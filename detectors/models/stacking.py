"""L1 and our cross-encoder as one detector: a logistic regression over both, calibrated per kind of answer.

Stacked generalisation (Wolpert 1992): the regression was fitted on scores of sources that neither layer was trained on.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from importlib.resources import files
from math import log
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

FEATURES = ("l1", "own", "own_most_wrong")
"""Log-odds of support by L1 and by the network, and of the word that the network doubts most.

Mean and minimum over the claims of the answer were tried and gave nothing; so a claim's score does not depend on the
claims beside it.
"""
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
class StackWeights:
    """Coefficients by name of ``FEATURES``, a constant, and slope and intercept for each kind of answer."""

    coefficients: Mapping[str, float]
    constant: float
    calibration: Mapping[AnswerKind, tuple[float, float]]

    def support(self, features: Sequence[float], kind: AnswerKind) -> float:
        """Calibrated support of one claim."""
        slope, intercept = self.calibration[kind]
        return sigmoid(slope * self.raw(features) + intercept)

    def raw(self, features: Sequence[float]) -> float:
        """Log-odds before calibration."""
        found = zip(FEATURES, features, strict=True)
        return self.constant + sum(self.coefficients[name] * value for name, value in found)

    @property
    def fingerprint(self) -> str:
        """Sixteen hex digits over the numbers."""
        text = json.dumps([dict(self.coefficients), self.constant, dict(self.calibration)], sort_keys=True)
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
        first = [known if known is not None else next(made) for known in below]
        read = self._l2.read(items)
        return [self._stacked(*one) for one in zip(items, first, read, strict=True)]

    def _stacked(
        self, item: CheckItem, first: Sequence[ClaimJudgement], read: Sequence[Reading | None]
    ) -> list[ClaimJudgement]:
        kind = kind_of(item)
        return [self._one(judgement, reading, kind) for judgement, reading in zip(first, read, strict=True)]

    def _one(self, first: ClaimJudgement, reading: Reading | None, kind: AnswerKind) -> ClaimJudgement:
        if reading is not None and reading.is_too_long and first.error is None:
            return ClaimJudgement(error=Outcome.ERROR_TOO_LONG)
        features = stack_features(first, reading)
        return first if features is None or reading is None else self._joined(first, reading, features, kind)

    def _joined(
        self, first: ClaimJudgement, reading: Reading, features: Sequence[float], kind: AnswerKind
    ) -> ClaimJudgement:
        support = self._weights.support(features, kind)
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


def stack_features(first: ClaimJudgement, reading: Reading | None) -> tuple[float, ...] | None:
    """``FEATURES`` of one claim; None where L1 gave no score, or the network had nothing to read."""
    if first.support is None or reading is None or reading.support is None:
        return None
    return _log_odds(first.support), _kept(reading.support), _kept(reading.most_wrong)


def load_stacked(l1: Detector, options: ModelOptions | None = None) -> Stacked:
    """The model that ships with us on top of ``l1``, warmed up. Raises ConfigError as ``load_own``."""
    return Stacked(l1, load_own(options), load_stack_weights())


def load_stack_weights(path: Path | None = None) -> StackWeights:
    """The weights at ``path``, or those that ship with us. Raises ConfigError when they are for other features."""
    source = path if path is not None else files("detectors.models.own").joinpath("stack.json")
    if not source.is_file():
        raise ConfigError(f"{source} is missing: fit it with `make train-l2`, or install the package again")
    body: dict[str, Any] = json.loads(source.read_text(encoding="utf-8"))
    if set(body["coefficients"]) != set(FEATURES) or set(body["calibration"]) != {kind.value for kind in AnswerKind}:
        raise ConfigError("the weights of the stack are for other features; fit them again with `make train-l2`")
    calibration = {AnswerKind(name): (slope, intercept) for name, (slope, intercept) in body["calibration"].items()}
    return StackWeights(body["coefficients"], body["constant"], calibration)


def _log_odds(probability: float) -> float:
    kept = min(max(probability, _NEAREST), 1 - _NEAREST)
    return _kept(log(kept / (1 - kept)))


def _kept(log_odds: float) -> float:
    return min(max(log_odds, -_FURTHEST), _FURTHEST)
