"""The checks in order, each over stretches of time that fit into memory; results come as they are found."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from time import sleep
from typing import Any

from schemas.policy import PolicyRecord
from streams.store.checks import draws
from streams.store.checks.rows import ALERT_STATES, DUPLICATES, ROW_CHECKS, RowCheck, words
from streams.store.checks.schema import check_migrations
from streams.store.checks.tallies import Recount
from streams.store.connection import LONGEST_SECONDS, Connection
from streams.store.rebuild import spans
from streams.store.reports import CheckName, CheckProgress, CheckResult
from streams.store.values import seconds

_ROWS_AT_ONCE = 200_000
_DRAWS_AT_ONCE = 20_000
_IDS_AT_ONCE = 1_000_000
_QUIET_SECONDS = 1_800
"""A drawn trace without a verdict is stuck when its bucket got no row for so long."""
_AHEAD = timedelta(minutes=10)
_HOUR = 3600

_HORIZON = """
SELECT toUInt32OrZero(extract(engine_full, 'toIntervalDay\\\\(([0-9]+)\\\\)')) AS days
FROM system.tables WHERE database = currentDatabase() AND name = 'traces'
"""
_HOURS = """
SELECT toUInt32(toStartOfHour(ts)) AS hour, count() AS size FROM (
  SELECT ts FROM traces UNION ALL SELECT ts FROM verdicts UNION ALL SELECT ts FROM trace_heads
  -- An hour whose rows are all gone may still have tallies.
  UNION ALL SELECT DISTINCT toDateTime64(bucket, 6, 'UTC') FROM tallies_5m
)
WHERE ts >= toDateTime({first:UInt32}, 'UTC') AND ts < toDateTime({end:UInt32}, 'UTC')
GROUP BY hour ORDER BY hour
"""
_TALLIES_FIX = (
    "have the hours counted again: `groundwatch store rebuild --since … --until …`; if it comes back, please report it"
)
Span = tuple[int, int]
Step = CheckProgress | CheckResult


@dataclass(frozen=True, slots=True)
class Verification:
    """What to verify. ``now`` bounds what is old enough to be dropped and what lies in the future.

    ``since`` and ``until`` are widened to whole hours; left out, all that retention keeps for certain. At most
    ``limit`` examples a check. Without ``salt`` or ``retention_days`` what needs them is taken as it is stored.
    """

    now: datetime
    since: datetime | None = None
    until: datetime | None = None
    limit: int = 5
    salt: bytes | None = None
    retention_days: int | None = None
    second_look_seconds: float = 1.0


def run_checks(connection: Connection, wanted: Verification, records: Sequence[PolicyRecord]) -> Iterator[Step]:
    """Results in the order of ``CheckName``, with progress between them. Raises StoreUnavailable."""
    return _Run(connection, wanted, records).steps()


class _Run:
    """What the checks of one run share."""

    def __init__(self, connection: Connection, wanted: Verification, records: Sequence[PolicyRecord]) -> None:
        self._connection = connection
        self._wanted = wanted
        self._log = draws.log_of(records)
        first, end = self._bounds()
        hours = self._query(_HOURS, {"first": first, "end": end})
        sizes = [(row["hour"], row["size"]) for row in hours]
        self._spans = spans(sizes, _ROWS_AT_ONCE)
        self._small_spans = spans(sizes, _DRAWS_AT_ONCE)
        self._whole = (first, end)
        self._size = sum(size for _, size in sizes)

    def steps(self) -> Iterator[Step]:
        yield check_migrations(self._connection, self._wanted.retention_days)
        by_name = {check.name: check for check in ROW_CHECKS}
        yield from self._labels(by_name[CheckName.LABELS])
        yield from self._rows(by_name[CheckName.TIMES])
        yield from self._duplicates()
        for name in (
            CheckName.DRAWS_JUDGED,
            CheckName.VERDICTS_TRACED,
            CheckName.VERDICTS_DRAWN,
            CheckName.HEADS_TRACED,
            CheckName.PASSAGES_STORED,
        ):
            yield from self._rows(by_name[name])
        yield from self._tallies(CheckName.TALLIES_5M, is_hourly=False)
        yield from self._tallies(CheckName.TALLIES_1H, is_hourly=True)
        yield self._policies()
        yield from self._draws()

    def _bounds(self) -> Span:
        """Whole hours of the asked time; older rows than the tally job looks at may be dropped at any moment."""
        days = self._query(_HORIZON, {})[0]["days"]
        now = self._wanted.now
        oldest = seconds(now - timedelta(days=days) * 8 / 9) + _HOUR
        first = oldest if self._wanted.since is None else max(oldest, seconds(self._wanted.since))
        last = seconds(self._wanted.until) if self._wanted.until else 2**32 - 1
        return max(0, first // _HOUR * _HOUR), min(-(-last // _HOUR) * _HOUR, (2**32 - 1) // _HOUR * _HOUR)

    def _rows(self, check: RowCheck) -> Iterator[Step]:
        total: Counter[str] = Counter()
        examples: list[str] = []
        waiting: list[str] = []
        for number, (first, end) in enumerate(self._spans):
            yield CheckProgress(name=check.name, done=number, total=len(self._spans))
            row = self._looked_at_twice(check, {"first": first, "end": end})
            total.update({name: value for name, value in row.items() if isinstance(value, int)})
            examples += row["examples"]
            waiting += row.get("waiting", [])
        is_judging = check.name is CheckName.DRAWS_JUDGED
        yield self._result(
            check, total, examples, _judged_note(total, waiting, self._wanted.limit) if is_judging else ""
        )

    def _labels(self, check: RowCheck) -> Iterator[Step]:
        for step in self._rows(check):
            if isinstance(step, CheckProgress):
                yield step
                continue
            alerts = self._query(ALERT_STATES, {"states": words()["states"]})[0]
            update = {"checked": step.checked + alerts["checked"], "faults": step.faults + alerts["faults"]}
            yield step.model_copy(update={**update, "fix": check.fix if update["faults"] else ""})

    def _duplicates(self) -> Iterator[Step]:
        parts = self._size // _IDS_AT_ONCE + 1
        total: Counter[str] = Counter()
        examples: list[str] = []
        first, end = self._whole
        for part in range(parts):
            yield CheckProgress(name=DUPLICATES.name, done=part, total=parts)
            row = self._looked_at_twice(DUPLICATES, {"first": first, "end": end, "parts": parts, "part": part})
            total.update({"checked": row["checked"], "faults": row["faults"]})
            examples += row["examples"]
        yield self._result(DUPLICATES, total, sorted(examples))

    def _looked_at_twice(self, check: RowCheck, span: dict[str, int]) -> dict[str, Any]:
        asked = {
            **words(),
            **span,
            "limit": self._wanted.limit,
            "latest": max(0, seconds(self._wanted.now + _AHEAD)),
            "quiet": _QUIET_SECONDS,
        }
        found: dict[str, Any] = self._again(lambda: self._query(check.sql, asked)[0], lambda row: bool(row["faults"]))
        return found

    def _tallies(self, name: CheckName, *, is_hourly: bool) -> Iterator[Step]:
        recount = Recount(self._connection, is_hourly=is_hourly)
        checked = 0
        faults: list[str] = []
        for number, (first, end) in enumerate(self._spans):
            yield CheckProgress(name=name, done=number, total=len(self._spans))
            checked += recount.cells(first, end)
            faults += self._again(partial(recount.wrong_cells, first, end), bool)
        note = (
            f"{len(recount.waiting)} buckets have rows that the tally job has not seen yet" if recount.waiting else ""
        )
        yield CheckResult(
            name=name,
            checked=checked,
            faults=len(faults),
            examples=tuple(faults[: self._wanted.limit]),
            note=note,
            fix=_TALLIES_FIX if faults else "",
        )

    def _policies(self) -> CheckResult:
        first, end = self._whole
        rows = self._query(draws.POLICY_IDS, {"first": first, "end": end})
        ids = {row["policy_id"]: row["traces"] for row in rows}
        unknown = draws.unknown_policies(ids, self._log)
        return CheckResult(
            name=CheckName.POLICIES_KNOWN,
            checked=len(ids),
            faults=len(unknown),
            examples=tuple(f"{name} ({count} traces)" for name, count in unknown.items())[: self._wanted.limit],
            fix="restore table `policy` from a backup, or read gw.policy from its beginning: restart `groundwatch run`"
            if unknown
            else "",
        )

    def _draws(self) -> Iterator[Step]:
        checked, faults = 0, 0
        examples: list[str] = []
        for number, (first, end) in enumerate(self._small_spans):
            yield CheckProgress(name=CheckName.DRAWS_AGREE, done=number, total=len(self._small_spans))
            stored = [draws.stored_draw(row) for row in self._query(draws.DRAWS, {"first": first, "end": end})]
            wrong = list(draws.wrong_draws(stored, self._log, self._wanted.salt))
            checked, faults = checked + len(stored), faults + len(wrong)
            examples += wrong[: self._wanted.limit - len(examples)]
        note = "" if self._wanted.salt is not None else "u was taken as stored: the salt is not known here"
        fix = "rates of that time are biased: one salt and one policy log a deployment; see ingest.salt"
        yield CheckResult(
            name=CheckName.DRAWS_AGREE,
            checked=checked,
            faults=faults,
            examples=tuple(examples),
            note=note,
            fix=fix if faults else "",
        )

    def _again(self, look: Callable[[], Any], is_faulty: Callable[[Any], bool]) -> Any:
        found = look()
        if is_faulty(found):
            sleep(self._wanted.second_look_seconds)
            found = look()
        return found

    def _result(self, check: RowCheck, total: Counter[str], examples: list[str], note: str = "") -> CheckResult:
        return CheckResult(
            name=check.name,
            checked=total["checked"],
            faults=total["faults"],
            examples=tuple(examples[: self._wanted.limit]),
            note=note,
            fix=check.fix if total["faults"] else "",
        )

    def _query(self, sql: str, parameters: dict[str, Any]) -> list[dict[str, Any]]:
        return self._connection.query(sql, parameters, max_seconds=LONGEST_SECONDS)


def _judged_note(total: Counter[str], waiting: list[str], limit: int) -> str:
    drawn, pending = total["checked"], total["pending"]
    note = f"{drawn:,} drawn = {drawn - pending:,} with a verdict + {pending:,} pending"
    return f"{note} ({', '.join(waiting[:limit])}{', …' if pending > limit else ''})" if pending else note
