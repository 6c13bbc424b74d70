"""The policy: sampling, thresholds and rules in force, and the append-only log that says from when.

Only the log decides which policy holds for a trace, by the trace's event time; so a redelivery months later draws the
same sample.
"""

from enum import StrEnum
from typing import Self

from pydantic import Field, model_validator

from schemas.base import Record, UtcDatetime
from schemas.labels import RiskTier
from schemas.routes import Budget, Route
from schemas.sources import SourceRules

REST = "rest"
"""The stratum of every trace that no rule matches."""


class StratumRule(Record):
    """A named stratum; a trace belongs to the first rule of which *every* stated condition holds.

    Only signals that exist at first emission: L1 score, citations, retrieval score, document age, escalation.
    """

    name: str = Field(min_length=1, max_length=40, pattern=r"^[a-z][a-z0-9_]*$")
    score_below: float | None = Field(default=None, ge=0, le=1)
    score_at_least: float | None = Field(default=None, ge=0, le=1)
    has_no_citation: bool | None = None
    citations_at_least: int | None = Field(default=None, ge=1)
    retrieval_score_below: float | None = None
    document_younger_than_days: float | None = Field(default=None, gt=0)
    has_flag: str | None = None


class Allocation(Record):
    """Inclusion probability for the traces that match; ``*`` matches everything, the first match wins."""

    intent: str = "*"
    tier: RiskTier | None = None
    stratum: str = "*"
    probability: float = Field(gt=0, le=1)


class Sampling(Record):
    """Strata (at most eight a cell, ``rest`` included) and inclusion probabilities."""

    strata: tuple[StratumRule, ...] = Field(default=(), max_length=7)
    allocations: tuple[Allocation, ...] = Field(default=(), max_length=1000)
    default_probability: float = Field(default=0.2, gt=0, le=1)

    @model_validator(mode="after")
    def _names_are_unique(self) -> Self:
        names = [rule.name for rule in self.strata] + [REST]
        if len(set(names)) != len(names):
            message = "stratum names must be unique, and 'rest' is reserved"
            raise ValueError(message)
        return self


class Thresholds(Record):
    """Label thresholds on the calibrated scores of a detector; they are part of the fingerprint.

    A claim is contradicted at ``contradicted`` and above, supported at ``supported`` and above, unsupported below
    ``unsupported``, and unclear between. The defaults are for the evidence detector, whose scores are calibrated on
    claims of which one in ten is wrong: at 0.7 a faulty answer is found about as often as not while clean short
    answers are rarely flagged; its contradiction never exceeds one minus the support that the same passage gives, so
    0.4 only names what is unsupported already. Reasons and figures: ``docs/model-card-evidence.md``.
    """

    supported: float = Field(default=0.7, ge=0, le=1)
    unsupported: float = Field(default=0.7, ge=0, le=1)
    contradicted: float = Field(default=0.4, ge=0, le=1)

    @model_validator(mode="after")
    def _are_ordered(self) -> Self:
        if self.unsupported > self.supported:
            message = f"unsupported ({self.unsupported}) must not be above supported ({self.supported})"
            raise ValueError(message)
        return self


class CriticalRule(Record):
    """A claim that matches ``pattern`` (case-insensitive) in these intents and tiers is critical."""

    name: str = Field(min_length=1)
    pattern: str = Field(min_length=1)
    intents: tuple[str, ...] = ()
    tiers: tuple[RiskTier, ...] = ()


class ClaimSplitting(StrEnum):
    """Into what an answer is split."""

    SENTENCES = "sentences"
    ATOMIC = "atomic"
    """Sentences that state several things are parted further, by rules."""


class ClaimRules(Record):
    """How claims are made; part of the fingerprint."""

    split: ClaimSplitting = ClaimSplitting.SENTENCES


class Fallbacks(Record):
    """What a user reads instead of an answer that is kept back; empty: the default text of the product."""

    abstain: str = Field(default="", max_length=2000)
    hold_for_review: str = Field(default="", max_length=2000)


class IntentRules(Record):
    """What holds for one intent; ``*`` is the default for intents that are not listed."""

    citations_required: bool = False
    critical: tuple[CriticalRule, ...] = Field(default=(), max_length=100)
    fallbacks: Fallbacks = Fallbacks()


class PolicyDocument(Record):
    """What ``groundwatch policy apply`` publishes: one YAML file."""

    name: str = Field(min_length=1, max_length=80)
    sampling: Sampling = Sampling()
    thresholds: Thresholds = Thresholds()
    claims: ClaimRules = ClaimRules()
    bars: dict[RiskTier, float] = Field(default_factory=dict)
    """Lowest claim support at which an answer of this tier has ``passed`` and is delivered; never part of a rate."""
    intents: dict[str, IntentRules] = Field(default_factory=dict)
    sources: SourceRules = SourceRules()
    routes: tuple[Route, ...] = Field(default=(), max_length=200)
    """Which layers run where; an answer that none matches takes ``Route()``: models where there are some, no judge."""
    budget: Budget = Budget()
    """Of all judging and resampling together."""
    canaries: tuple[str, ...] = Field(default=(), max_length=200)
    """Phrases that no answer may hold (parts of the system prompt, bait in documents); case and spaces are ignored."""


class OverlayReason(StrEnum):
    """Why π was changed for a while."""

    SURGE = "surge"
    BUDGET = "budget"
    MANUAL = "manual"


class Overlay(Record):
    """A change of π for a while, on top of the base policy: ``at_least`` raises (surge), ``times`` lowers (budget)."""

    reason: OverlayReason
    intent: str = "*"
    tier: RiskTier | None = None
    until: UtcDatetime
    at_least: float | None = Field(default=None, gt=0, le=1)
    times: float | None = Field(default=None, gt=0, le=1)

    @model_validator(mode="after")
    def _changes_exactly_one_thing(self) -> Self:
        if (self.at_least is None) == (self.times is None):
            message = "give exactly one of at_least (raise) and times (lower)"
            raise ValueError(message)
        return self


class PolicyRecord(Record):
    """One entry of the log: a base policy, an overlay, or a heartbeat.

    ``effective_from`` is None for the first policy only (it holds from −∞), else a bucket start at least two buckets
    after ``published_at``. A heartbeat carries ``complete_until``: no later entry takes effect before it.
    """

    policy_id: str = Field(min_length=1)
    published_at: UtcDatetime
    effective_from: UtcDatetime | None = None
    author: str = ""
    document: PolicyDocument | None = None
    overlay: Overlay | None = None
    complete_until: UtcDatetime | None = None

    @model_validator(mode="after")
    def _holds_exactly_one_thing(self) -> Self:
        if sum(part is not None for part in (self.document, self.overlay, self.complete_until)) != 1:
            message = "a policy record holds exactly one of document, overlay and complete_until"
            raise ValueError(message)
        return self
