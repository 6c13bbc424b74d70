"""What reviewers said: labels, the pool that a review is drawn from, and copies of answers that outlive retention.

Labels are added and never changed. An answer is copied whole before its first label is stored, so that a label never
lacks what it is about; the copy is read wherever the trace itself is gone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from schemas.base import Record, UtcDatetime
from schemas.labels import Outcome, RiskTier
from schemas.review import ReviewLabel
from schemas.verdict import Verdict
from streams.store.connection import LONGEST_SECONDS, Connection, Table
from streams.store.records import StoredTrace, Tenants
from streams.store.traces import Key, read_traces, read_verdicts, tenant_parameters
from streams.store.values import clean, from_micros, micros

_TIME = "DateTime64(6, 'UTC')"
_WORD = "LowCardinality(String)"
_LABELS = Table(
    "review_labels",
    (
        ("trace_id", "String"),
        ("ts", _TIME),
        ("claim", "Int32"),
        ("reviewer", "String"),
        ("at", _TIME),
        ("label", _WORD),
        ("intent", "String"),
        ("tier", _WORD),
        ("tenant", "String"),
        ("record", "String"),
    ),
)
_KEPT = Table(
    "kept_answers",
    (
        ("trace_id", "String"),
        ("ts", _TIME),
        ("rev", "UInt64"),
        ("tenant", "String"),
        ("reason", _WORD),
        ("record", "String"),
    ),
)
_WHOLE_ANSWER = -1
_REVISION_STEP = 1 << 44
_PER_READ = 200
_DAY = timedelta(days=1)
_READ_LABELS = """
SELECT record FROM review_labels FINAL
WHERE ts >= fromUnixTimestamp64Micro({since:Int64}, 'UTC') AND ts < fromUnixTimestamp64Micro({until:Int64}, 'UTC')
  AND (empty({intents:Array(String)}) OR intent IN (SELECT arrayJoin({intents:Array(String)})))
  AND ({tier:String} = '' OR tier = {tier:String})
  AND ({all:Bool} OR tenant IN (SELECT arrayJoin({tenants:Array(String)})))
ORDER BY at, trace_id, claim, reviewer, label
"""
_READ_KEPT = """
SELECT record FROM kept_answers FINAL
WHERE trace_id IN (SELECT arrayJoin({ids:Array(String)}))
  AND ({all:Bool} OR tenant IN (SELECT arrayJoin({tenants:Array(String)})))
ORDER BY ts DESC
"""
_POOL = """
SELECT judged.trace_id AS trace_id, judged.ts AS ts, judged.revision AS revision, judged.outcome AS outcome,
  seen.intent AS intent, seen.tier AS tier, seen.tenant AS tenant, seen.probability AS probability
FROM (
    SELECT trace_id, ts, revision, outcome FROM verdicts FINAL
    WHERE ts >= fromUnixTimestamp64Micro({since:Int64}, 'UTC') AND ts < fromUnixTimestamp64Micro({until:Int64}, 'UTC')
      AND fingerprint = {fingerprint:String} AND outcome IN ('grounded', 'hallucinated')
) AS judged
INNER JOIN (
    SELECT trace_id, ts, intent, tier, tenant, inclusion_probability AS probability FROM traces FINAL
    WHERE ts >= fromUnixTimestamp64Micro({since:Int64}, 'UTC') AND ts < fromUnixTimestamp64Micro({until:Int64}, 'UTC')
      AND is_drawn AND ({all:Bool} OR tenant IN (SELECT arrayJoin({tenants:Array(String)})))
      AND (empty({intents:Array(String)}) OR intent IN (SELECT arrayJoin({intents:Array(String)})))
      AND ({tier:String} = '' OR tier = {tier:String})
) AS seen ON seen.ts = judged.ts AND seen.trace_id = judged.trace_id
ORDER BY ts, trace_id
"""
_FINGERPRINT = """
SELECT fingerprint, max(verified_at) AS newest FROM verdicts
WHERE ts >= fromUnixTimestamp64Micro({since:Int64}, 'UTC') AND ts < fromUnixTimestamp64Micro({until:Int64}, 'UTC')
GROUP BY fingerprint ORDER BY newest DESC, fingerprint LIMIT 1
"""


class Reviewable(Record):
    """A judged answer that a review may draw; ``inclusion_probability`` is that of the draw which had it judged."""

    trace_id: str
    ts: UtcDatetime
    revision: int
    outcome: Outcome
    intent: str
    tier: RiskTier
    tenant: str
    inclusion_probability: float


@dataclass(frozen=True, slots=True)
class ReviewFilter:
    """Answers with ``ts`` in [since, until); empty ``intents`` and tier None restrict nothing."""

    since: datetime
    until: datetime
    intents: tuple[str, ...] = ()
    tier: RiskTier | None = None


class Reviews:
    """Writes and reads of reviews; ``Store.reviews`` is the way to it. Raises what the store raises."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def insert_labels(self, rows: Sequence[ReviewLabel], *, tenants: Tenants) -> None:
        """Copy the answers that the labels are about, then add the labels; repeating it changes nothing."""
        self.keep(list(dict.fromkeys((row.ts, row.trace_id) for row in rows)), "reviewed", tenants=tenants)
        self._connection.insert(_LABELS, [_label_row(row) for row in rows])

    def labels(self, wanted: ReviewFilter, *, tenants: Tenants) -> list[ReviewLabel]:
        """Every label ever given on these answers, oldest first."""
        rows = self._connection.query(_READ_LABELS, {**_parameters(wanted), **tenant_parameters(tenants)})
        return [ReviewLabel.model_validate_json(row["record"]) for row in rows]

    def pool(self, wanted: ReviewFilter, fingerprint: str, *, tenants: Tenants) -> list[Reviewable]:
        """Answers that this detector found grounded or hallucinated, by time."""
        found: list[Reviewable] = []
        asked = {**_parameters(wanted), **tenant_parameters(tenants), "fingerprint": clean(fingerprint)}
        start = wanted.since
        while start < wanted.until:  # a day at a time, to bound memory
            end = min(start + _DAY, wanted.until)
            times = {"since": micros(start), "until": micros(end)}
            rows = self._connection.query(_POOL, {**asked, **times}, max_seconds=LONGEST_SECONDS)
            found += [_reviewable(row) for row in rows]
            start = end
        return found

    def newest_fingerprint(self, wanted: ReviewFilter) -> str:
        """The detector that gave the newest verdict on these days; empty when nothing was judged."""
        times = {"since": micros(wanted.since), "until": micros(wanted.until)}
        rows = self._connection.query(_FINGERPRINT, times, max_seconds=LONGEST_SECONDS)
        return str(rows[0]["fingerprint"]) if rows else ""

    def keep(self, keys: Sequence[Key], reason: str, *, tenants: Tenants) -> int:
        """Copy answers out of the reach of retention; how many were there to be copied."""
        kept = 0
        for start in range(0, len(keys), _PER_READ):
            found = self._stored(keys[start : start + _PER_READ], tenants)
            self._connection.insert(_KEPT, [_kept_row(answer, reason) for answer in found])
            kept += len(found)
        return kept

    def answers(self, keys: Sequence[Key], *, tenants: Tenants) -> dict[Key, StoredTrace]:
        """Whole answers by (ts, id): the stored trace, else its copy; what neither has is missing."""
        found: dict[Key, StoredTrace] = {}
        for start in range(0, len(keys), _PER_READ):
            found.update((_key(answer), answer) for answer in self._stored(keys[start : start + _PER_READ], tenants))
        gone = [key for key in keys if key not in found]
        copies = read_kept(self._connection, [trace_id for _, trace_id in gone], tenants)
        found = {**{_key(answer): answer for answer in copies}, **found}
        return {key: found[key] for key in keys if key in found}

    def _stored(self, keys: Sequence[Key], tenants: Tenants) -> list[StoredTrace]:
        traces = read_traces(self._connection, keys, tenants)
        verdicts: dict[Key, list[Verdict]] = {}
        for verdict in read_verdicts(self._connection, list(traces)):
            verdicts.setdefault((verdict.ts, verdict.trace_id), []).append(verdict)
        return [StoredTrace(drawn=drawn, verdicts=verdicts.get(key, [])) for key, drawn in traces.items()]


def read_kept(connection: Connection, trace_ids: Sequence[str], tenants: Tenants) -> list[StoredTrace]:
    """Copies of answers by id, newest first."""
    found: list[StoredTrace] = []
    for start in range(0, len(trace_ids), _PER_READ):
        ids = [clean(trace_id) for trace_id in trace_ids[start : start + _PER_READ]]
        rows = connection.query(_READ_KEPT, {"ids": ids, **tenant_parameters(tenants)})
        found += [StoredTrace.model_validate_json(row["record"]) for row in rows]
    return found


def _key(answer: StoredTrace) -> Key:
    return answer.drawn.trace.ts, answer.drawn.trace.trace_id


def _label_row(row: ReviewLabel) -> list[Any]:
    return [
        clean(row.trace_id),
        micros(row.ts),
        _WHOLE_ANSWER if row.claim_index is None else row.claim_index,
        clean(row.reviewer),
        micros(row.at),
        row.label.value,
        clean(row.intent),
        row.tier.value,
        clean(row.tenant),
        clean(row.model_dump_json()),
    ]


def _kept_row(answer: StoredTrace, reason: str) -> list[Any]:
    trace = answer.drawn.trace
    judged = max((micros(verdict.verified_at) // 1000 for verdict in answer.verdicts), default=0)
    rev = trace.revision * _REVISION_STEP + judged
    return [clean(trace.trace_id), micros(trace.ts), rev, clean(trace.tenant), reason, clean(answer.model_dump_json())]


def _parameters(wanted: ReviewFilter) -> dict[str, Any]:
    return {
        "since": micros(wanted.since),
        "until": micros(wanted.until),
        "intents": [clean(intent) for intent in wanted.intents],
        "tier": wanted.tier.value if wanted.tier else "",
    }


def _reviewable(row: dict[str, Any]) -> Reviewable:
    return Reviewable(
        trace_id=row["trace_id"],
        ts=from_micros(row["ts"]),
        revision=row["revision"],
        outcome=Outcome(row["outcome"]),
        intent=row["intent"],
        tier=RiskTier(row["tier"]),
        tenant=row["tenant"],
        inclusion_probability=row["probability"],
    )
