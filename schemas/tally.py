"""Counts of one 5-minute event-time bucket: the only thing that workers and the alert tests exchange; they add up."""

from datetime import datetime, timedelta

from pydantic import Field

from schemas.base import Record, UtcDatetime
from schemas.labels import RiskTier
from schemas.slice import Slice
from schemas.trace import Versions

BUCKET = timedelta(minutes=5)
HISTOGRAM_BINS = 10
"""Equal bins of the answer's support score over [0, 1]."""


def bucket_start(moment: datetime) -> datetime:
    """Start of the 5-minute bucket that holds ``moment`` (aware, UTC)."""
    return moment.replace(minute=moment.minute - moment.minute % 5, second=0, microsecond=0)


class Tally(Record):
    """Counts of one cell. Rows with ``fingerprint == ""`` carry all traffic, the others the verdicts of one detector.

    ``traffic`` N of all traces; ``drawn``; ``judged`` n (grounded + hallucinated); ``hallucinated`` k, may be
    fractional; ``sum_w``, ``sum_wk``, ``sum_w2`` over judged with w = 1/π; ``nested_judged`` and
    ``nested_hallucinated`` the same counts in the nested subsample; ``outcomes`` in the order of ``Outcome``;
    ``pending`` drawn traces without a verdict yet. ``empty_retrieval`` and ``citation_failure`` are counted over all
    traffic, ``over_refusal`` over verdicts.
    """

    bucket: UtcDatetime
    intent: str
    tier: RiskTier
    stratum: str = "rest"
    versions: Versions = Versions()
    policy_id: str = ""
    fingerprint: str = ""
    traffic: int = 0
    drawn: int = 0
    judged: int = 0
    hallucinated: float = 0.0
    sum_w: float = 0.0
    sum_wk: float = 0.0
    sum_w2: float = 0.0
    nested_judged: int = 0
    nested_hallucinated: float = 0.0
    histogram: tuple[int, ...] = ()
    outcomes: tuple[int, ...] = ()
    claims_scorable: int = 0
    claims_unsupported: int = 0
    claims_contradicted: int = 0
    empty_retrieval: int = 0
    over_refusal: int = 0
    citation_failure: int = 0
    pending: int = Field(default=0, ge=0)

    @property
    def slice(self) -> Slice:
        """The alert cell of this tally."""
        return Slice(intent=self.intent, tier=self.tier)
