"""The tallies against a recount from traces and verdicts, in other words than the job that writes them.

Versions are added up, because tuples beyond the cap are folded; every measure of every other cell is compared.
"""

from string import Template
from typing import Any

from schemas.labels import Outcome
from schemas.tally import HISTOGRAM_BINS
from streams.store import queries
from streams.store.connection import LONGEST_SECONDS, Connection
from streams.store.rebuild import CITATION_FAILURES
from streams.store.values import from_seconds

MEASURES = (
    "traffic",
    "drawn",
    "pending",
    "empty_retrieval",
    "citation_failure",
    "judged",
    "hallucinated",
    "sum_w",
    "sum_wk",
    "sum_w2",
    "nested_judged",
    "nested_hallucinated",
    "claims_scorable",
    "claims_unsupported",
    "claims_contradicted",
    "over_refusal",
)
_LONGEST_OVERLAP_MS = 120_000
_MOST = 1_000

_FINISHED = "SELECT max(generation) AS generation FROM rebuilds WHERE name = 'tallies'"
_WAITING = """
SELECT DISTINCT $start AS at FROM dirty
WHERE inserted_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
  AND bucket >= toDateTime({first:UInt32}, 'UTC') AND bucket < toDateTime({end:UInt32}, 'UTC')
"""
_CELLS = """
SELECT count() AS cells FROM $table FINAL
WHERE bucket >= toDateTime({first:UInt32}, 'UTC') AND bucket < toDateTime({end:UInt32}, 'UTC')
"""
_FIVE = {
    "table": "tallies_5m",
    "policy": "toString(policy_id)",
    "kept_policy": "toString(policy_id)",
    "start": "toUInt32(bucket)",
    "start5": "at5",
}
_HOUR = {
    "table": "tallies_1h",
    "policy": "''",
    "kept_policy": "''",
    "start": "toUInt32(toStartOfHour(bucket))",
    "start5": "toStartOfHour(at5)",
}


class Recount:
    """Compares one tally table with a recount, a stretch of whole hours at a time."""

    def __init__(self, connection: Connection, *, is_hourly: bool) -> None:
        self._connection = connection
        names = _HOUR if is_hourly else _FIVE
        self._compare = Template(queries.load("check_tallies")).substitute(names)
        self._waiting = Template(_WAITING).substitute(names)
        self._cells = Template(_CELLS).substitute(names)
        self.waiting: set[int] = set()

    def wrong_cells(self, first: int, end: int) -> list[str]:
        """Cells of [first, end) that differ, in words; buckets whose rows wait for the next rebuild are set apart.

        At most a thousand cells of a stretch.
        """
        # Before the comparison: what comes in from here on is noted after this moment.
        finished = self._connection.query(_FINISHED)[0]["generation"]
        span = {"first": first, "end": end}
        rows = self._connection.query(
            self._compare,
            {
                **span,
                "most": _MOST,
                "bins": HISTOGRAM_BINS,
                "width": len(MEASURES) + HISTOGRAM_BINS + len(Outcome),
                "outcomes": [outcome.value for outcome in Outcome],
                "citations": [label.value for label in CITATION_FAILURES],
            },
            max_seconds=LONGEST_SECONDS,
        )
        if not rows:
            return []
        since = max(0, finished - _LONGEST_OVERLAP_MS)
        noted = {row["at"] for row in self._connection.query(self._waiting, {**span, "since": since})}
        self.waiting |= noted & {row["at"] for row in rows}
        return [_in_words(row) for row in rows if row["at"] not in noted]

    def cells(self, first: int, end: int) -> int:
        """How many cells the table has in [first, end)."""
        return int(self._connection.query(self._cells, {"first": first, "end": end})[0]["cells"])


def _in_words(row: dict[str, Any]) -> str:
    names = (*MEASURES, *(f"histogram[{number}]" for number in range(HISTOGRAM_BINS)), *(o.value for o in Outcome))
    different = [
        f"{name} {kept:g}, should be {mine:g}"
        for name, mine, kept in zip(names, row["mine_total"], row["kept_total"], strict=True)
        if abs(mine - kept) > 1e-9 * (abs(mine) + abs(kept)) + 1e-6
    ]
    cell = f"{from_seconds(row['at']):%Y-%m-%dT%H:%MZ} {row['i']}/{row['t']} {row['s']} {row['p']} {row['f']}".rstrip()
    return f"{cell}: {'; '.join(different[:4])}"
