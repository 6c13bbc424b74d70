"""The append-only and newest-wins tables beside traces: policy log, alerts, what people did, deploys.

Whole records travel as JSON text, so that a field added later needs no migration.
"""

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from time import time_ns

from pydantic import ValidationError

from schemas.alert import Alert
from schemas.labels import AlertState
from schemas.policy import PolicyRecord
from streams.store.connection import Connection, Table
from streams.store.records import AlertAction, Deploy
from streams.store.values import clean, from_micros, micros

_TIME = "DateTime64(6, 'UTC')"
_WORD = "LowCardinality(String)"
_POLICY = Table("policy", (("entry", "String"), ("rev", "Int64"), ("published_at", _TIME), ("record", "String")))
_ALERTS = Table(
    "alerts",
    (("alert_id", "String"), ("rev", "Int64"), ("state", _WORD), ("updated_at", _TIME), ("record", "String")),
)
_ACTIONS = Table("alert_actions", (("at", _TIME), ("action_id", "String"), ("record", "String")))
_DEPLOYS = Table(
    "deploys",
    (
        ("at", _TIME),
        ("intent", "String"),
        ("field", "String"),
        ("value", "String"),
        ("note", "String"),
        ("source", _WORD),
        ("author", "String"),
    ),
)
_HEARTBEAT = ""

_READ_POLICY = "SELECT record FROM policy FINAL ORDER BY published_at, entry = '', entry"
_NEWEST_ALERT = "SELECT max(rev) AS rev FROM alerts"
_READ_ALERTS = """
SELECT alert_id, argMax(record, rev) AS record, argMax(state, rev) AS newest, argMax(updated_at, rev) AS at
FROM alerts
WHERE {id:String} = '' OR alert_id = {id:String}
GROUP BY alert_id
HAVING {all:Bool} OR newest IN (SELECT arrayJoin({states:Array(String)}))
ORDER BY at DESC, alert_id
LIMIT {limit:UInt32}
"""
_READ_ACTIONS = """
SELECT record FROM alert_actions FINAL
WHERE at >= fromUnixTimestamp64Micro({since:Int64}, 'UTC') ORDER BY at, action_id
"""
_READ_DEPLOYS = """
SELECT at, intent, field, value, note, source, author FROM deploys FINAL
WHERE at >= fromUnixTimestamp64Micro({since:Int64}, 'UTC') ORDER BY at, intent, field, value
"""


def insert_policy(connection: Connection, records: Sequence[PolicyRecord]) -> None:
    """Add entries of the policy log; of heartbeats only the one with the latest ``complete_until`` is kept."""
    connection.insert(_POLICY, [_policy_row(record) for record in records])


def read_policy(connection: Connection) -> list[PolicyRecord]:
    """The log in order of publication, without entries that only a newer version can read.

    A process meets these on the topic as well, and waits there.
    """
    found = []
    for row in connection.query(_READ_POLICY):
        with suppress(ValidationError):
            found.append(PolicyRecord.model_validate_json(row["record"]))
    return found


def insert_alerts(connection: Connection, rows: Sequence[Alert]) -> None:
    """Add states of alerts; of each alert the one inserted last is its present one."""
    if not rows:
        return
    # Not updated_at: a corrected past may move an alert to a state of an earlier bucket. And above all that is there,
    # since a clock may be set back.
    rev = max(time_ns() // 1000, connection.query(_NEWEST_ALERT)[0]["rev"] + 1)
    connection.insert(
        _ALERTS,
        [
            (clean(row.alert_id), rev + position, row.state.value, micros(row.updated_at), clean(row.model_dump_json()))
            for position, row in enumerate(rows)
        ],
    )


def read_alerts(
    connection: Connection, *, states: Sequence[AlertState] | None, limit: int, alert_id: str = ""
) -> list[Alert]:
    """Present states of alerts, last changed first."""
    asked = {
        "id": clean(alert_id),
        "all": states is None,
        "states": [state.value for state in states or ()],
        "limit": limit,
    }
    return [Alert.model_validate_json(row["record"]) for row in connection.query(_READ_ALERTS, asked)]


def insert_actions(connection: Connection, rows: Sequence[AlertAction]) -> None:
    """Add what people did; the same action twice is one."""
    connection.insert(
        _ACTIONS, [(micros(row.at), f"{row.kind} {clean(row.alert_id)}", clean(row.model_dump_json())) for row in rows]
    )


def read_actions(connection: Connection, since: datetime) -> list[AlertAction]:
    """Actions since a moment, oldest first."""
    rows = connection.query(_READ_ACTIONS, {"since": micros(since)})
    return [AlertAction.model_validate_json(row["record"]) for row in rows]


def insert_deploys(connection: Connection, rows: Sequence[Deploy]) -> None:
    """Add deploys; one of the same moment, intent, field and value replaces the earlier."""
    connection.insert(_DEPLOYS, [_deploy_row(row) for row in rows])


def read_deploys(connection: Connection, since: datetime) -> list[Deploy]:
    """Deploys since a moment, oldest first."""
    rows = connection.query(_READ_DEPLOYS, {"since": micros(since)})
    return [Deploy.model_validate({**row, "at": from_micros(row["at"])}) for row in rows]


def _deploy_row(row: Deploy) -> tuple[int | str, ...]:
    return (
        micros(row.at),
        clean(row.intent),
        clean(row.field),
        clean(row.value),
        clean(row.note),
        row.source,
        clean(row.author),
    )


def _policy_row(record: PolicyRecord) -> tuple[str, int, int, str]:
    body = clean(record.model_dump_json())
    published = micros(record.published_at)
    if record.complete_until is not None:
        return _HEARTBEAT, micros(record.complete_until), published, body
    return f"{published:020d} {clean(record.policy_id)}", 0, published, body
