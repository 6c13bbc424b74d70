"""What a calibration is asked for, and the base rates that it goes by."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from alerts.config import JumpConfig
from detectors.calibration import Measure, Target
from schemas.policy import PolicyDocument
from schemas.slice import Slice

DEFAULT_BASE_RATE = 0.05
TABLE = (0.01, 0.05, 0.1, 0.2)
"""Base rates of the table that every report has."""
FOLDS = 5
DEFAULT_TARGET = Target(Measure.PRECISION, 0.8)
ROUNDS = 200
"""Resamples behind the uncertainty of a threshold."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Target, policy and base rates; ``base_rate`` None: by slice where labels tell it, else the default.

    ``slices`` and ``deploys_per_month`` set what a slice may spend on a page, as in ``alerts.power``.
    """

    policy: PolicyDocument
    policy_text: str
    target: Target = DEFAULT_TARGET
    base_rate: float | None = None
    by_slice: Mapping[Slice, float] = field(default_factory=dict)
    whole: float | None = None
    """Base rate of all slices together, as labels tell it."""
    seed: int = 0
    is_holdout: bool = False
    jump: JumpConfig = field(default_factory=JumpConfig)
    slices: int = 200
    deploys_per_month: float = 10.0

    def rate_of(self, cell: Slice | None) -> tuple[float, str]:
        """The base rate of a slice, or of all, and where it is from."""
        if self.base_rate is not None:
            return self.base_rate, "given"
        known = self.whole if cell is None else self.by_slice.get(cell)
        return (DEFAULT_BASE_RATE, "default") if known is None else (known, "labels")
