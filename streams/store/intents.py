"""Which intents the traffic has, and where what has none comes from: counted from the traces themselves."""

from datetime import datetime

from schemas.labels import RiskTier
from schemas.trace import UNMAPPED
from streams.store.connection import LONGEST_SECONDS, Connection
from streams.store.reports import IntentTraffic, UnmappedShare
from streams.store.values import from_micros, from_seconds, micros

_INTENTS = """
SELECT intent, tier, min(ts) AS first, max(ts) AS last, countIf(
  ts >= fromUnixTimestamp64Micro({since:Int64}, 'UTC') AND ts < fromUnixTimestamp64Micro({until:Int64}, 'UTC')
) AS traffic
FROM traces FINAL GROUP BY intent, tier ORDER BY traffic DESC, intent, tier
"""
_UNMAPPED = """
SELECT source_topic AS topic, toUnixTimestamp(toStartOfHour(ts, 'UTC')) AS hour, count() AS traffic,
  countIf(intent = {unmapped:String}) AS unmapped
FROM traces FINAL
WHERE ts >= fromUnixTimestamp64Micro({since:Int64}, 'UTC') AND ts < fromUnixTimestamp64Micro({until:Int64}, 'UTC')
GROUP BY topic, hour ORDER BY hour, topic
"""


def read_intents(connection: Connection, since: datetime, until: datetime) -> list[IntentTraffic]:
    """Every stored intent and tier with its traffic in [since, until), most first."""
    rows = connection.query(_INTENTS, {"since": micros(since), "until": micros(until)}, max_seconds=LONGEST_SECONDS)
    total = sum(row["traffic"] for row in rows)
    return [
        IntentTraffic(
            intent=row["intent"],
            tier=RiskTier(row["tier"]),
            traffic=row["traffic"],
            share=row["traffic"] / total if total else 0.0,
            first_seen=from_micros(row["first"]),
            last_seen=from_micros(row["last"]),
        )
        for row in rows
    ]


def read_unmapped(connection: Connection, since: datetime, until: datetime) -> list[UnmappedShare]:
    """Traces and unmapped ones by source topic and hour in [since, until), oldest first."""
    asked = {"since": micros(since), "until": micros(until), "unmapped": UNMAPPED}
    return [
        UnmappedShare(
            topic=row["topic"],
            hour=from_seconds(row["hour"]),
            traffic=row["traffic"],
            unmapped=row["unmapped"],
            share=row["unmapped"] / row["traffic"],
        )
        for row in connection.query(_UNMAPPED, asked, max_seconds=LONGEST_SECONDS)
    ]
