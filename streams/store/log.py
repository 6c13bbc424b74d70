"""The small tables: trace heads, expired traces, policy log, watermarks, alerts, actions, deploys."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta

from schemas.alert import Alert
from schemas.labels import AlertState
from schemas.policy import PolicyRecord
from streams.store.connection import Connection, Table
from streams.store.records import Deploy, ExpiredCount, TraceHead, Watermark
from streams.store.values import clean, from_micros, micros

_TIME = "DateTime64(6, 'UTC')"
_WORD = "LowCardinality(String)"
_HEADS = Table(
    "trace_heads",
    (
        ("trace_id", "String"),
        ("ts", _TIME),
        ("content_hash", "String"),
        ("stratum", _WORD),
        ("inclusion_probability", "Float64"),
        ("policy_id", _WORD),
        ("revision", "UInt32"),
    ),
)
_EXPIRED = Table("expired", (("ts", _TIME), ("trace_id", "String"), ("intent", _WORD), ("tier", _WORD)))
_POLICY = Table("policy", (("entry", "String"), ("rev", "Int64"), ("published_at", _TIME), ("record", "String")))
_WATERMARKS = Table(
    "watermarks",
    (("topic", "String"), ("partition", "Int64"), ("event_time", _TIME), ("is_idle", "Bool"), ("written_at", _TIME)),
)
_ALERTS = Table(
    "alerts",
    (("alert_id", "String"), ("rev", "Int64"), ("state", _WORD), ("updated_at", _TIME), ("record", "String")),
)
_DEPLOYS = Table(
    "deploys",
    (
        ("at", _TIME),
        ("intent", "String"),
        ("field", "String"),
        ("value", "String"),
        ("note", "String"),
        ("source", _WORD),
    ),
)
_PER_READ = 2_000
