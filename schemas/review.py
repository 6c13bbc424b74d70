"""What a reviewer said of a verdict, with the chance that this answer had of being asked about."""

from enum import StrEnum
from typing import Self

from pydantic import Field, model_validator

from schemas.base import Record, UtcDatetime
from schemas.golden import ANSWER_LABELS
from schemas.labels import ClaimLabel, Outcome, RiskTier
from schemas.trace import UNMAPPED


class ReviewStratum(StrEnum):
    """Groups of the review draw, by what the detector said: misses decide the error of a corrected rate."""

    FLAGGED = "flagged"
    UNFLAGGED = "unflagged"
    ASKED = "asked"
    """Chosen by a person, by a policy or by an alert, not by the draw: never part of an estimate."""


class ReviewFrame(Record):
    """What one review draw chose from: judged answers with ``ts`` in [since, until), of these slices and tenants.

    Empty ``intents`` and ``tenants``, and no ``tier``, restrict nothing. Of a stratum those were taken whose random
    number times π of their verification lies below ``limit``; None: all of them.
    """

    since: UtcDatetime
    until: UtcDatetime
    intents: tuple[str, ...] = ()
    tier: RiskTier | None = None
    tenants: tuple[str, ...] = ()
    limit: float | None = Field(default=None, gt=0)


class ReviewLabel(Record):
    """One label by one reviewer on one answer, or on one of its claims; append-only, the latest of a reviewer holds.

    ``fingerprint`` and ``revision`` name the verdict shown. ``probability`` is the inclusion probability of the
    review draw among judged answers of that stratum, ``draw_probability`` that of the draw which had the answer judged,
    both in (0, 1]: 1 / (their product) is the label's weight in that draw alone. ``frame`` is what the draw chose from;
    None when it is not known. ``is_adjudication``: given to settle a disagreement; it goes before all others.
    """

    trace_id: str = Field(min_length=1)
    ts: UtcDatetime
    revision: int = 1
    fingerprint: str
    claim_index: int | None = Field(default=None, ge=0)
    claim_label: ClaimLabel | None = None
    answer_label: Outcome | None = None
    reviewer: str = Field(min_length=1, max_length=200)
    is_second_opinion: bool = False
    is_adjudication: bool = False
    stratum: ReviewStratum = ReviewStratum.ASKED
    probability: float = Field(default=1.0, gt=0, le=1)
    draw_probability: float = Field(default=1.0, gt=0, le=1)
    frame: ReviewFrame | None = None
    intent: str = UNMAPPED
    tier: RiskTier = RiskTier.MEDIUM
    tenant: str = ""
    note: str = Field(default="", max_length=2000)
    at: UtcDatetime

    @property
    def label(self) -> ClaimLabel | Outcome:
        """The label of the claim or of the answer, whichever this is about."""
        return self.answer_label if self.claim_label is None else self.claim_label  # type: ignore[return-value]

    @property
    def weight(self) -> float:
        """How many answers of all traffic this one stands for."""
        return 1 / (self.probability * self.draw_probability)

    @model_validator(mode="after")
    def _labels_one_thing(self) -> Self:
        if (self.claim_index is None) != (self.claim_label is None):
            message = "claim_label goes with claim_index; give both or neither"
            raise ValueError(message)
        if (self.claim_label is None) == (self.answer_label is None):
            message = "give a claim_label (with claim_index) or an answer_label, not both"
            raise ValueError(message)
        if self.answer_label is not None and self.answer_label not in ANSWER_LABELS:
            allowed = ", ".join(sorted(label.value for label in ANSWER_LABELS))
            message = f"answer_label {self.answer_label.value!r} is not one that people give; use one of {allowed}"
            raise ValueError(message)
        return self
