"""Which layers of detection run on an answer, in which band, within which budget and time."""

from enum import StrEnum
from typing import Self

from pydantic import Field, model_validator

from schemas.base import Record
from schemas.labels import RiskTier


class JudgeRule(Record):
    """Which claims a judge is asked about: those that the layer below scored inside the band, ends included."""

    band_low: float = Field(default=0.35, ge=0, le=1)
    band_high: float = Field(default=0.65, ge=0, le=1)
    repeats: int = Field(default=1, ge=1, le=9)
    """Times each claim is judged; the most frequent label holds, and a tie is ``unclear``."""
    max_claims: int = Field(default=20, ge=1, le=200)
    """Most claims of an answer, those nearest the middle of the band first; the rest is ``error:budget``."""

    @model_validator(mode="after")
    def _is_a_band(self) -> Self:
        if self.band_low > self.band_high:
            message = f"band_low ({self.band_low}) must not be above band_high ({self.band_high})"
            raise ValueError(message)
        return self


class ConsistencyCause(StrEnum):
    """When an answer is compared with others of the same model."""

    ALWAYS = "always"
    WEAK_EVIDENCE = "weak_evidence"
    LOW_LOGPROB = "low_logprob"


class ConsistencyRule(Record):
    """When and how self-consistency is looked at; any one of the causes is enough."""

    causes: tuple[ConsistencyCause, ...] = Field(default=(ConsistencyCause.WEAK_EVIDENCE,), min_length=1)
    score_below: float = Field(default=0.5, ge=0, le=1)
    """``weak_evidence``: the weakest claim's support is below this."""
    logprob_below: float = Field(default=-1.0, le=0)
    """``low_logprob``: the mean log-probability of the answer's tokens is below this."""
    samples: int = Field(default=5, ge=2, le=20)
    """Answers compared, the one that was given included."""
    least: int = Field(default=4, ge=1, le=20)
    """Fewest that must agree, on a short answer or on a claim of a long one."""
    temperature: float = Field(default=0.7, ge=0, le=2)
    """For answers that are drawn anew."""
    may_resample: bool = True
    """False: only what the trace holds is compared."""

    @model_validator(mode="after")
    def _can_agree(self) -> Self:
        if self.least > self.samples:
            message = f"least ({self.least}) must not be above samples ({self.samples})"
            raise ValueError(message)
        return self


class OnFailure(StrEnum):
    """What the inline check says when it cannot judge in time."""

    OPEN = "open"
    """Deliver, and say that it was not checked."""
    CLOSED = "closed"
    """Hold for review."""


class InlineRule(Record):
    """The check before an answer is sent (``POST /v1/check``)."""

    within_ms: int = Field(default=800, ge=10, le=120_000)
    """Time allowed; layers that would not end in it are left out, dearest first."""
    on_failure: OnFailure = OnFailure.OPEN


class Budget(Record):
    """Most that judges and resampling may spend in a clock hour (UTC), over all workers; None: no limit."""

    usd_per_hour: float | None = Field(default=None, ge=0)
    tokens_per_hour: int | None = Field(default=None, ge=0)
    lowest_share: float = Field(default=0.1, gt=0, le=1)
    """π is never lowered below this share of what the policy says, so that the sample is of use; 1: never lowered."""


class Route(Record):
    """Which layers run on an answer; ``*`` and no tier match everything, the first route that matches holds.

    L0 and L1 always run. A layer that the process does not have is left out, and the verdict says so.
    """

    intent: str = "*"
    tier: RiskTier | None = None
    models: bool = True
    """Whether L2 runs."""
    judge: JudgeRule | None = None
    """None: no judge."""
    consistency: ConsistencyRule | None = None
    """None: no self-consistency."""
    budget: Budget = Budget()
    """Of this route alone, within the budget of all."""
    inline: InlineRule = InlineRule()
