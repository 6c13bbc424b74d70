"""Leads for review: traces that a user or a foreign evaluator said something about, beside their verdicts.

Feedback comes after the draw and from whoever likes to speak, so it is never a label and never a stratum.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from schemas.labels import RiskTier
from schemas.verdict import Verdict
from streams.store.connection import LONGEST_SECONDS, Connection
from streams.store.records import Tenants
from streams.store.reports import Lead, TraceSummary
from streams.store.traces import read_verdicts, tenant_parameters
from streams.store.values import clean, from_micros, micros

# (?i-s) as schemas.patterns compiles them: case does not matter, and a dot is no line feed.
_LEADS = """
SELECT trace_id, ts, intent, tier, tenant, is_drawn, substringUTF8(question, 1, 200) AS asked,
  substringUTF8(feedback, 1, 1000) AS said,
  {negative:String} != '' AND match(feedback, concat('(?i-s)', {negative:String})) AS is_negative
FROM traces FINAL
WHERE ts >= fromUnixTimestamp64Micro({since:Int64}, 'UTC') AND feedback != ''
  AND ({all:Bool} OR tenant IN (SELECT arrayJoin({tenants:Array(String)})))
ORDER BY is_negative DESC, ts DESC, trace_id
LIMIT {limit:UInt32}
"""


@dataclass(frozen=True, slots=True)
class WantedLeads:
    """Leads with ``ts`` from ``since`` on; ``negative`` is the pattern (RE2) of feedback that comes first."""

    since: datetime
    negative: str = ""
    limit: int = 50


def read_leads(connection: Connection, tenants: Tenants, wanted: WantedLeads) -> list[Lead]:
    """At most ``limit`` traces with feedback, drawn or not: negative ones first, each part newest first."""
    asked = {
        "since": micros(wanted.since),
        "negative": clean(wanted.negative),
        "limit": wanted.limit,
        **tenant_parameters(tenants),
    }
    rows = connection.query(_LEADS, asked, max_seconds=LONGEST_SECONDS)
    verdicts = read_verdicts(connection, [(from_micros(row["ts"]), row["trace_id"]) for row in rows])
    return [_lead(row, verdicts) for row in rows]


def _lead(row: dict[str, Any], verdicts: Sequence[Verdict]) -> Lead:
    ts, trace_id = from_micros(row["ts"]), row["trace_id"]
    own = [verdict for verdict in verdicts if (verdict.ts, verdict.trace_id) == (ts, trace_id)]
    newest = max(own, key=lambda verdict: (verdict.verified_at, verdict.fingerprint), default=None)
    summary = TraceSummary(
        trace_id=trace_id,
        ts=ts,
        intent=row["intent"],
        tier=RiskTier(row["tier"]),
        tenant=row["tenant"],
        is_drawn=row["is_drawn"],
        outcome=newest.outcome if newest else None,
        failures=newest.failures if newest else (),
        question=row["asked"],
        feedback=row["said"][:200],
    )
    return Lead(trace=summary, feedback=row["said"], is_negative=bool(row["is_negative"]))
