"""Who was drawn: the decision, its probability and the policy that was in force at the trace's event time."""

from pydantic import Field

from schemas.base import Record
from schemas.claim import Claim
from schemas.labels import FailureLabel, Outcome
from schemas.trace import Trace
from schemas.verdict import ClaimJudgement


class Draw(Record):
    """One decision of the stratified hash draw.

    ``u`` in [0, 1) is the trace's permanent random number; drawn when ``u < inclusion_probability``.
    ``min_probability`` is the smallest inclusion probability over the strata of the cell (intent, tier) under the same
    policy: traces with ``u`` below it form the nested subsample in which design weights cancel.
    """

    stratum: str
    u: float = Field(ge=0, lt=1)
    inclusion_probability: float = Field(gt=0, le=1)
    min_probability: float = Field(gt=0, le=1)
    policy_id: str
    drawn: bool

    @property
    def is_nested(self) -> bool:
        """True when the trace is in the nested subsample of its cell."""
        return self.u < self.min_probability


class Screening(Record):
    """What ingest found on every trace (L0 and L1) before the draw.

    ``outcome`` is set only where no claim needs judging (unresolved, abstained, …). ``score`` is the probability that
    every factual claim is supported, by L1 (the support of the weakest one, by a detector that scores no answers); None
    when nothing was scored. ``fingerprint`` says which detector made ``judgements``.
    """

    claims: tuple[Claim, ...] = ()
    judgements: tuple[ClaimJudgement, ...] = ()
    failures: tuple[FailureLabel, ...] = ()
    outcome: Outcome | None = None
    score: float | None = Field(default=None, ge=0, le=1)
    fingerprint: str = ""
    is_empty_retrieval: bool = False
    took_ms: float = 0.0
    timings_ms: dict[str, float] = Field(default_factory=dict)
    """``took_ms`` by step (``split``, ``L0``, ``L1``), for the verdict that takes the judgements over; not stored."""


class DrawnTrace(Record):
    """The message on ``gw.drawn``: the trace, its draw and what ingest already found."""

    trace: Trace
    draw: Draw
    screening: Screening
