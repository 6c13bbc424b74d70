"""Claims that a judge decided, newest first; their scores are those of the layer below."""

import json
from datetime import datetime

from schemas.agreement import DecidedClaim
from schemas.labels import ClaimLabel, Layer, RiskTier
from streams.store.connection import LONGEST_SECONDS, Connection
from streams.store.values import micros

_READ = """
SELECT intent, tier, fingerprint_parts, label, support, contradiction FROM (
  SELECT intent, tier, fingerprint_parts, ts, trace_id, claims.label AS labels, claims.support AS supports,
    claims.contradiction AS contradictions, claims.decided_by AS deciders, claims.error AS errors
  FROM verdicts FINAL
  WHERE ts >= fromUnixTimestamp64Micro({since:Int64}, 'UTC') AND ts < fromUnixTimestamp64Micro({until:Int64}, 'UTC')
    AND has(claims.decided_by, {judge:String})
)
ARRAY JOIN labels AS label, supports AS support, contradictions AS contradiction, deciders AS decider, errors AS error
WHERE decider = {judge:String} AND error = ''
ORDER BY ts DESC, trace_id LIMIT {limit:UInt32}
"""


def read_decided(connection: Connection, since: datetime, until: datetime, limit: int) -> list[DecidedClaim]:
    """At most ``limit`` claims of answers in [since, until)."""
    asked = {"since": micros(since), "until": micros(until), "judge": Layer.L3.value, "limit": limit}
    return [
        DecidedClaim(
            intent=row["intent"],
            tier=RiskTier(row["tier"]),
            label=ClaimLabel(row["label"]),
            support=row["support"],
            contradiction=row["contradiction"],
            fingerprint_parts=json.loads(row["fingerprint_parts"] or "{}"),
        )
        for row in connection.query(_READ, asked, max_seconds=LONGEST_SECONDS)
    ]
