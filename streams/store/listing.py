"""Traces by what a person knows of them: a list with filters, and one by the beginning of its id."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from schemas.labels import FailureLabel, Outcome, RiskTier
from streams.store.connection import LONGEST_SECONDS, Connection
from streams.store.records import Tenants
from streams.store.reports import FoundTrace, TraceSummary
from streams.store.traces import read_trace, tenant_parameters
from streams.store.values import clean, from_micros, micros
from streams.store.windows import looking_back

MOST_CANDIDATES = 10
_LOOK_BACK = (timedelta(hours=6), timedelta(days=2), timedelta(days=14))

_SPAN = "SELECT count() AS n, max(ts) AS last, min(ts) AS first FROM traces"
_LIST = """
SELECT seen.trace_id AS trace_id, seen.ts AS ts, seen.intent AS intent, seen.tier AS tier, seen.tenant AS tenant,
  seen.is_drawn AS is_drawn, seen.question AS question, seen.said AS said,
  judged.newest AS newest
FROM (
    SELECT trace_id, ts, intent, tier, tenant, is_drawn, substringUTF8(question, 1, 200) AS question,
      substringUTF8(feedback, 1, 200) AS said
    FROM traces FINAL
    WHERE ts >= fromUnixTimestamp64Micro({since:Int64}, 'UTC') AND ts < fromUnixTimestamp64Micro({until:Int64}, 'UTC')
      AND ({all:Bool} OR tenant IN (SELECT arrayJoin({tenants:Array(String)})))
      AND ({intent:Nullable(String)} IS NULL OR intent = {intent:Nullable(String)})
      AND ({tier:String} = '' OR tier = {tier:String}) AND (NOT {feedback:Bool} OR feedback != '')
) AS seen
LEFT JOIN (
    SELECT ts, trace_id, argMax((outcome, failures), (verified_at, fingerprint)) AS newest FROM verdicts FINAL
    WHERE ts >= fromUnixTimestamp64Micro({since:Int64}, 'UTC') AND ts < fromUnixTimestamp64Micro({until:Int64}, 'UTC')
    GROUP BY ts, trace_id
) AS judged ON judged.ts = seen.ts AND judged.trace_id = seen.trace_id
WHERE ({outcome:String} = '' OR newest.1 = {outcome:String})
  AND ({failure:String} = '' OR has(newest.2, {failure:String}))
ORDER BY ts DESC, trace_id
LIMIT {limit:UInt32}
"""
_BEGINNING = """
SELECT trace_id, max(ts) AS ts FROM traces
WHERE startsWith(trace_id, {beginning:String}) AND ({all:Bool} OR tenant IN (SELECT arrayJoin({tenants:Array(String)})))
GROUP BY trace_id ORDER BY ts DESC, trace_id LIMIT {limit:UInt32}
"""


@dataclass(frozen=True, slots=True)
class ListFilter:
    """Which traces; None does not restrict. ``ts`` in [since, until)."""

    intent: str | None = None
    tier: RiskTier | None = None
    outcome: Outcome | None = None
    failure: FailureLabel | None = None
    since: datetime | None = None
    until: datetime | None = None
    limit: int = 20
    has_feedback: bool = False
    """Only traces that somebody said something about."""


def read_list(connection: Connection, tenants: Tenants, wanted: ListFilter) -> list[TraceSummary]:
    """The newest traces first; looks back in growing windows until there are enough."""
    asked = {
        "intent": None if wanted.intent is None else clean(wanted.intent),
        "tier": wanted.tier.value if wanted.tier else "",
        "outcome": wanted.outcome.value if wanted.outcome else "",
        "failure": wanted.failure.value if wanted.failure else "",
        "limit": wanted.limit,
        "feedback": wanted.has_feedback,
        **tenant_parameters(tenants),
    }
    rows: list[dict[str, Any]] = []
    for start, end in looking_back(connection, _SPAN, wanted.since, wanted.until, _LOOK_BACK):
        times = {"since": micros(start), "until": micros(end)}
        rows = connection.query(_LIST, {**asked, **times}, max_seconds=LONGEST_SECONDS)
        if len(rows) >= wanted.limit:
            break
    return [_summary(row) for row in rows]


def find_trace(connection: Connection, text: str, tenants: Tenants) -> FoundTrace:
    """The trace of that id, else the only one whose id begins so; several are named, at most ten.

    An id is looked up by index; a beginning reads the ids of all traces.
    """
    wanted = clean(text)
    exact = read_trace(connection, wanted, tenants, None) if wanted else None
    if exact is not None:
        return FoundTrace(trace=exact, candidates=(wanted,))
    asked = {"beginning": wanted, "limit": MOST_CANDIDATES, **tenant_parameters(tenants)}
    rows = connection.query(_BEGINNING, asked, max_seconds=LONGEST_SECONDS) if wanted else []
    ids = tuple(row["trace_id"] for row in rows)
    if len(ids) != 1:
        return FoundTrace(candidates=ids)
    return FoundTrace(trace=read_trace(connection, ids[0], tenants, from_micros(rows[0]["ts"])), candidates=ids)


def _summary(row: dict[str, Any]) -> TraceSummary:
    outcome, failures = _pair(row["newest"])
    return TraceSummary(
        trace_id=row["trace_id"],
        ts=from_micros(row["ts"]),
        intent=row["intent"],
        tier=RiskTier(row["tier"]),
        tenant=row["tenant"],
        is_drawn=row["is_drawn"],
        outcome=Outcome(outcome) if outcome else None,
        failures=tuple(FailureLabel(word) for word in failures),
        question=row["question"],
        feedback=row["said"],
    )


def _pair(newest: Any) -> tuple[str, list[str]]:
    """The engine gives a tuple as one or, where its parts have names, by name."""
    first, second = newest.values() if isinstance(newest, dict) else newest
    return first, second
