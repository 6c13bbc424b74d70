"""Flagged answers: found in the verdicts, filtered by what only the trace knows, then read whole by key."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from schemas.labels import RiskTier
from streams.store.connection import Connection
from streams.store.records import FlaggedAnswer, Tenants
from streams.store.traces import read_traces, read_verdicts, tenant_parameters
from streams.store.values import clean, from_micros, micros
from streams.store.windows import looking_back

_LOOK_BACK = (timedelta(days=1), timedelta(days=7))

_SPAN = "SELECT count() AS n, max(ts) AS last, min(ts) AS first FROM verdicts"
_FLAGGED = """
SELECT flagged.ts AS ts, flagged.trace_id AS trace_id, flagged.fingerprint AS fingerprint
FROM (
    SELECT ts, trace_id, fingerprint, verified_at FROM verdicts FINAL
    WHERE outcome = 'hallucinated'
      AND ts >= fromUnixTimestamp64Micro({since:Int64}, 'UTC') AND ts < fromUnixTimestamp64Micro({until:Int64}, 'UTC')
) AS flagged
INNER JOIN (
    SELECT ts, trace_id FROM traces FINAL
    WHERE ts >= fromUnixTimestamp64Micro({since:Int64}, 'UTC') AND ts < fromUnixTimestamp64Micro({until:Int64}, 'UTC')
      AND ({all:Bool} OR tenant IN (SELECT arrayJoin({tenants:Array(String)})))
      AND ({intent:Nullable(String)} IS NULL OR intent = {intent:Nullable(String)})
      AND ({tier:String} = '' OR tier = {tier:String})
) AS seen ON flagged.ts = seen.ts AND flagged.trace_id = seen.trace_id
ORDER BY flagged.ts DESC, flagged.trace_id, flagged.verified_at DESC
LIMIT 1 BY flagged.trace_id
LIMIT {limit:UInt32}
"""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which flagged answers; None does not restrict. ``ts`` in [since, until)."""

    intent: str | None = None
    tier: RiskTier | None = None
    since: datetime | None = None
    until: datetime | None = None
    limit: int = 50


def read_flagged(connection: Connection, tenants: Tenants, wanted: Wanted) -> list[FlaggedAnswer]:
    """Answers found hallucinated, newest first, one a trace; looks back in growing windows until there are enough."""
    asked = {
        "intent": None if wanted.intent is None else clean(wanted.intent),
        "tier": wanted.tier.value if wanted.tier else "",
        "limit": wanted.limit,
        **tenant_parameters(tenants),
    }
    keys: list[dict[str, Any]] = []
    for start, end in looking_back(connection, _SPAN, wanted.since, wanted.until, _LOOK_BACK):
        keys = connection.query(_FLAGGED, {**asked, "since": micros(start), "until": micros(end)})
        if len(keys) >= wanted.limit:
            break
    return _answers(
        connection, [(from_micros(key["ts"]), key["trace_id"], key["fingerprint"]) for key in keys], tenants
    )


def _answers(
    connection: Connection, found: Sequence[tuple[datetime, str, str]], tenants: Tenants
) -> list[FlaggedAnswer]:
    keys = [(ts, trace_id) for ts, trace_id, _ in found]
    traces = read_traces(connection, keys, tenants)
    verdicts = {(verdict.trace_id, verdict.fingerprint): verdict for verdict in read_verdicts(connection, keys)}
    answers = []
    for ts, trace_id, fingerprint in found:
        drawn, verdict = traces.get((ts, trace_id)), verdicts.get((trace_id, fingerprint))
        # Either may be gone or changed since the keys were read.
        if drawn is not None and verdict is not None:
            answers.append(FlaggedAnswer(trace=drawn.trace, draw=drawn.draw, verdict=verdict))
    return answers
