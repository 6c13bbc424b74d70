"""An alert: a rule that holds for a slice, with a state, and what an on-call engineer needs to see first."""

from schemas.base import Record, UtcDatetime
from schemas.labels import AlertState
from schemas.slice import Slice

UNMAPPED_RULE = "unmapped"
"""Rule of alerts about traces without an intent."""


class RateEstimate(Record):
    """A rate with its interval; ``rate`` is None when nothing was judged. ``n`` judged answers, ``level`` e.g. 0.95."""

    rate: float | None
    low: float
    high: float
    n: int
    level: float = 0.95


class AlertExample(Record):
    """One flagged claim with its evidence; ``answer`` and texts are untrusted and must be escaped where shown."""

    trace_id: str
    ts: UtcDatetime
    question: str
    claim: str
    label: str
    evidence: str
    doc_id: str
    is_revised: bool = False


class VersionChange(Record):
    """A version tag that changed at or before the onset: ``field`` is one of the names of ``Versions``.

    ``posterior`` is the probability that the rise began with the release at ``at``, among all releases and unknown
    times; several fields of one release share it, and 0 says that it was not computed.
    """

    field: str
    before: str
    after: str
    at: UtcDatetime
    posterior: float = 0.0


class Alert(Record):
    """One episode of one rule on one slice; ``alert_id`` is made from rule, slice and episode start.

    ``since`` is the estimated onset; ``fired_at`` and the others are event time (bucket ends), never wall-clock.
    ``samples`` is the number of verified answers between ``since`` and firing. ``is_historical``: found more than 24 h
    behind, so nobody was paged.
    """

    alert_id: str
    rule: str
    slice: Slice
    state: AlertState
    since: UtcDatetime
    pending_at: UtcDatetime | None = None
    fired_at: UtcDatetime | None = None
    resolved_at: UtcDatetime | None = None
    updated_at: UtcDatetime
    rate: RateEstimate
    reference: RateEstimate
    ratio: float | None = None
    evidence: float = 0.0
    """The e-detector's statistic M; fires at 1."""
    samples: int = 0
    fingerprint: str = ""
    changes: tuple[VersionChange, ...] = ()
    examples: tuple[AlertExample, ...] = ()
    is_historical: bool = False

    @property
    def is_of_slice(self) -> bool:
        """True for an alert on the answers of its slice; the rate of another is a share of all traffic."""
        return self.rule != UNMAPPED_RULE
