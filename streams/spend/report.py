"""What was spent, on what, and what is left: the answer behind ``groundwatch spend`` and its route."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from sampling.budget import hour_of
from sampling.budget_demand import cuts_of
from sampling.budget_report import PotReport, report_pots
from schemas.base import Record, UtcDatetime
from schemas.policy import PolicyDocument, PolicyRecord
from schemas.spend import SpendSum
from streams.store import Store

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
SHOWN = DAY
STEPS = {"hour": HOUR, "day": DAY}


class SpendReport(Record):
    """Budgets of the hour that is running, and what was spent in [since, until), oldest first."""

    since: UtcDatetime
    until: UtcDatetime
    pots: tuple[PotReport, ...]
    rows: tuple[SpendSum, ...]


def read_report(  # noqa: PLR0913  # a report has a time, a step and a policy
    store: Store,
    document: PolicyDocument,
    records: Iterable[PolicyRecord],
    now: datetime,
    *,
    since: datetime | None = None,
    step: str = "hour",
) -> SpendReport:
    """Spend since a moment (24 hours ago when None), by whole ``hour`` or ``day`` in UTC. Raises StoreUnavailable.

    ``document`` is the policy in force now, ``records`` is the log.
    """
    until = now + timedelta(minutes=1)
    start = hour_of(since or now - SHOWN)
    if step == "day":
        start = start.replace(hour=0)
    rows = store.spending.sums(start, until, step=STEPS[step])
    this_hour = store.spending.sums(hour_of(now), until, step=HOUR)
    pots = report_pots(document, this_hour, cuts_of(records), now)
    return SpendReport(since=start, until=now, pots=pots, rows=tuple(rows))
