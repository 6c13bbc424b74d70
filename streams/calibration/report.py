"""The shape of a calibration: what ``groundwatch calibrate --json`` prints and the page shows.

Shares carry their Clopper-Pearson interval. Every figure tells how many labels it rests on, and how many are missing to
``ENOUGH_LABELS``; a number that could not be had is None, never a zero.
"""

from pydantic import Field

from schemas.alert import RateEstimate
from schemas.base import Record
from schemas.labels import ClaimLabel, Outcome, RiskTier


class Confusion(Record):
    """Flagged and cleared answers against labels; shares with their intervals, ``rate`` None where nothing counts.

    ``precision``: of the flagged, ``recall``: of the hallucinated, ``specificity``: of the grounded.
    """

    caught: int
    false_alarms: int
    missed: int
    cleared: int
    precision: RateEstimate
    recall: RateEstimate
    specificity: RateEstimate


class ThresholdFigure(Record):
    """The threshold of one tier, or of all together (``tier`` None): flagged is what scores below it.

    ``threshold`` None: people found all answers alike. ``is_reached`` False: the nearest to a target that no threshold
    reaches; then nothing is suggested. ``is_sure``: the interval of the cross-fitted figure reaches the target, too.
    ``low`` and ``high`` hold 95 % of the thresholds that resampled sources would have chosen, ``reached_share`` how
    many of those resamples reach the target. ``cross_fitted``: each answer measured by a threshold chosen without its
    source. ``uses_pooled``: too few labels here, so ``used`` is the pooled threshold.
    """

    tier: RiskTier | None = None
    labels: int
    hallucinated: int
    sources: int
    missing: int
    threshold: float | None = None
    used: float | None = None
    uses_pooled: bool = False
    is_reached: bool = False
    is_sure: bool = False
    low: float | None = None
    high: float | None = None
    reached_share: float | None = None
    in_sample: Confusion | None = None
    cross_fitted: Confusion | None = None
    precision_at_base_rate: float | None = None
    """By the cross-fitted (else in-sample) shares, at the base rate of ``operating[0]``."""
    bar: float
    """The policy's bar of this tier (its ``thresholds.unsupported`` where none is set, and for all tiers together)."""
    at_bar: Confusion


class CurvePoint(Record):
    """Shares at one threshold, of all tiers together; None where nothing counts."""

    threshold: float
    precision: float | None
    recall: float | None
    specificity: float | None


class PowerFigure(Record):
    """What a doubling of the true base rate looks like to the jump test; see ``alerts.power``.

    ``bad`` and ``good`` are the mean marks of hallucinated and grounded answers: sensitivity and false-alarm rate.
    ``times_true`` and ``times_apparent``: answers relative to a perfect detector, for a doubling of the true and of the
    apparent rate; ``answers``: expected until the page. None: never.
    """

    threshold: float | None = None
    bad: float
    good: float
    apparent_before: float
    apparent_after: float
    nats: float
    times_true: float | None = None
    times_apparent: float | None = None
    answers: float | None = None


class OperatingPoint(Record):
    """Where the alert of a slice should flag, at its base rate; ``intent`` empty and ``tier`` None: all together.

    ``best`` on all labels; ``cross_fitted`` with thresholds chosen without the sources measured, ``fractions`` with
    calibrated scores in the place of flags, cross-fitted likewise, ``at_policy`` at the policy's threshold.
    """

    intent: str = ""
    tier: RiskTier | None = None
    base_rate: float
    base_rate_from: str
    """``given``, ``labels`` (corrected by labels of reviewers) or ``default``."""
    labels: int
    missing: int
    low: float | None = None
    high: float | None = None
    best: PowerFigure | None = None
    cross_fitted: PowerFigure | None = None
    fractions: PowerFigure | None = None
    at_policy: PowerFigure | None = None


class ReliabilityBin(Record):
    """Scores of [low, high): how many, their mean, and the share of them that people call good."""

    low: float
    high: float
    mean_score: float
    good: RateEstimate


class ReliabilityFigure(Record):
    """Whether scores are what they say; ``of`` is ``answers`` or ``claims``, figures None without labels."""

    of: str
    labels: int
    missing: int
    bins: tuple[ReliabilityBin, ...] = ()
    ece: float | None = None
    brier: float | None = None
    brier_of_mean: float | None = None


class AnswerConfusion(Record):
    """Answers with this label and this outcome."""

    label: Outcome
    outcome: Outcome
    answers: int


class ClaimConfusion(Record):
    """Claims with this label and the label that the detector gave; None: no judged claim stands there."""

    label: ClaimLabel
    judged: ClaimLabel | None
    claims: int


class SliceFigure(Record):
    """One intent at one tier at the threshold that its tier uses; ``is_bar``: at the policy's bar, for want of one."""

    intent: str
    tier: RiskTier
    labels: int
    missing: int
    hallucinated: int
    threshold: float
    is_bar: bool
    confusion: Confusion


class Suggestion(Record):
    """What the policy could change; nothing is applied. ``snippet`` is YAML, ``policy`` the whole file with it."""

    bars: dict[RiskTier, float] = Field(default_factory=dict)
    alert_threshold: float | None = None
    snippet: str = ""
    policy: str = ""


class CalibrationReport(Record):
    """Thresholds, the alert's operating point, reliability and confusion of the present detector on labelled answers.

    ``is_enough``: there are ``labels_needed`` labels for what was asked. ``remarks`` say in words what is missing, out
    of reach or to be taken with care. ``is_holdout``: measured at the policy's thresholds, and nothing was chosen.
    """

    files: tuple[str, ...]
    versions: tuple[str, ...]
    """Versions of the golden sets, in the order of the files."""
    is_holdout: bool
    policy: str
    fingerprint: str
    """Of the verdicts; empty when nothing was judged."""
    target: str
    target_value: float
    folds: int
    seed: int
    labels: int
    missing: int
    labels_needed: int
    is_enough: bool
    left_out: dict[str, int]
    """Labelled answers without a pair of label and score, by reason: ``label unclear``, ``verdict error:timeout`` …"""
    evidence_nats: float
    pooled: ThresholdFigure
    tiers: tuple[ThresholdFigure, ...]
    curve: tuple[CurvePoint, ...]
    operating: tuple[OperatingPoint, ...]
    by_base_rate: tuple[OperatingPoint, ...]
    reliability: tuple[ReliabilityFigure, ...]
    answers: tuple[AnswerConfusion, ...]
    claims: tuple[ClaimConfusion, ...]
    slices: tuple[SliceFigure, ...]
    suggestion: Suggestion
    remarks: tuple[str, ...]
