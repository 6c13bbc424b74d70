"""Which messages processes were reading when they died, so that the next worker knows it, wherever it runs."""

from collections.abc import Sequence
from datetime import datetime

from streams.store.connection import Connection, Table
from streams.store.records import Suspect
from streams.store.values import clean, seconds

_SUSPECTS = Table(
    "suspects",
    (
        ("topic", "String"),
        ("partition", "Int64"),
        ("offset", "Int64"),
        ("recorded_ms", "Int64"),
        ("death", "String"),
        ("found_at", "DateTime('UTC')"),
    ),
)
_READ = """
SELECT topic, partition, offset, recorded_ms, death FROM suspects FINAL
ORDER BY topic, partition, offset, recorded_ms, death
"""


def insert_suspects(connection: Connection, rows: Sequence[Suspect], now: datetime) -> None:
    """Add deaths; the same death twice is one."""
    connection.insert(
        _SUSPECTS,
        [
            (clean(row.topic), row.partition, row.offset, row.recorded_ms, clean(row.death), seconds(now))
            for row in rows
        ],
    )


def read_suspects(connection: Connection) -> list[Suspect]:
    """The deaths of the last eight days, by position."""
    return [Suspect(**row) for row in connection.query(_READ)]
