"""What judges and resampling cost, and how far each worker may go; rows replace each other, so nothing counts twice."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from schemas.spend import SUPPORT_BINS, BudgetShare, ClaimSupports, Cost, Spend, SpendSum
from streams.store import queries
from streams.store.connection import LONGEST_SECONDS, Connection, Table
from streams.store.values import clean, from_micros, from_seconds, micros, seconds

_WORD = "LowCardinality(String)"
_COUNTS = ("calls", "cached", "refused", "tokens_in", "tokens_out", "refused_tokens")
_REALS = ("usd", "refused_usd", "took_ms", "slowest_ms")
_SPEND = Table(
    "spend",
    (
        ("minute", "DateTime('UTC')"),
        *((name, _WORD) for name in ("worker", "intent", "tier", "layer", "route")),
        ("rev", "UInt64"),
        *((name, "UInt64") for name in _COUNTS),
        *((name, "Float64") for name in _REALS),
    ),
)
_SHARES = Table(
    "budget_shares",
    (
        ("hour", "DateTime('UTC')"),
        ("pot", "String"),
        ("worker", "String"),
        ("rev", "UInt64"),
        *((name, "Float64") for name in ("tokens", "usd", "may_tokens", "may_usd")),
        ("written_at", "DateTime64(6, 'UTC')"),
    ),
)
_SUMS = f"""
SELECT toUnixTimestamp(toStartOfInterval(minute, toIntervalSecond({{step:UInt32}}), 'UTC')) AS start,
  intent, tier, layer, route, {", ".join(f"sum(s.{name}) AS {name}" for name in (*_COUNTS, *_REALS[:-1]))},
  max(s.slowest_ms) AS slowest_ms
FROM spend AS s FINAL
WHERE minute >= fromUnixTimestamp({{since:Int64}}) AND minute < fromUnixTimestamp({{until:Int64}})
GROUP BY start, intent, tier, layer, route ORDER BY start, intent, tier, layer, route
"""  # noqa: S608  # names of columns, all of them above
_READ_SHARES = """
SELECT toUnixTimestamp(hour) AS hour, pot, worker, tokens, usd, may_tokens, may_usd, written_at
FROM budget_shares FINAL WHERE hour >= fromUnixTimestamp({since:Int64}) ORDER BY hour, pot, worker
"""


class Spending:
    """Writes and reads of one client; every method may raise StoreUnavailable, writes also RowRejected."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def insert(self, rows: Sequence[Spend], rev: int) -> None:
        """Store what was spent; of a worker, minute, intent, tier, layer and route the highest ``rev`` counts."""
        self._connection.insert(_SPEND, [_spend_row(row, rev) for row in rows])

    def sums(self, since: datetime, until: datetime, *, step: timedelta) -> list[SpendSum]:
        """Over all workers, for minutes in [since, until), in stretches of ``step`` (whole minutes), oldest first."""
        asked = {"since": seconds(since), "until": seconds(until), "step": int(step.total_seconds())}
        return [_sum(row) for row in self._connection.query(_SUMS, asked)]

    def supports(self, since: datetime, until: datetime) -> list[ClaimSupports]:
        """How the claims of drawn answers in [since, until) scored, by intent, tier and stratum; seconds for a day."""
        asked = {"since": micros(since), "until": micros(until)}
        rows = self._connection.query(queries.load("claim_supports"), asked, max_seconds=LONGEST_SECONDS)
        return [ClaimSupports(**{**row, "bins": _bins(*row["bins"])}) for row in rows]

    def insert_shares(self, rows: Sequence[BudgetShare], rev: int) -> None:
        """Store how far workers may go; of a worker, hour and pot the highest ``rev`` counts."""
        self._connection.insert(_SHARES, [_share_row(row, rev) for row in rows])

    def shares(self, since: datetime) -> list[BudgetShare]:
        """The shares of all workers for hours that begin at ``since`` or later."""
        rows = self._connection.query(_READ_SHARES, {"since": seconds(since)})
        return [
            BudgetShare(**{**row, "hour": from_seconds(row["hour"]), "written_at": from_micros(row["written_at"])})
            for row in rows
        ]


def _spend_row(row: Spend, rev: int) -> tuple[Any, ...]:
    cost = row.cost
    return (
        seconds(row.minute),
        clean(row.worker),
        clean(row.intent),
        row.tier.value,
        row.layer.value,
        clean(row.route),
        rev,
        *(getattr(cost, name) for name in (*_COUNTS, *_REALS)),
    )


def _share_row(row: BudgetShare, rev: int) -> tuple[Any, ...]:
    return (
        seconds(row.hour),
        clean(row.pot),
        clean(row.worker),
        rev,
        row.tokens,
        row.usd,
        row.may_tokens,
        row.may_usd,
        micros(row.written_at),
    )


def _sum(row: dict[str, Any]) -> SpendSum:
    cost = Cost(**{name: row.pop(name) for name in (*_COUNTS, *_REALS)})
    return SpendSum(**{**row, "start": from_seconds(row["start"]), "cost": cost})


def _bins(places: Sequence[int], counts: Sequence[int]) -> tuple[int, ...]:
    found = [0] * SUPPORT_BINS
    for place, count in zip(places, counts, strict=True):
        found[place] = count
    return tuple(found)
