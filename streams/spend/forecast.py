"""What a forecast of spend is made from, read from the store."""

from datetime import datetime, timedelta

from sampling.spend_forecast import Basis
from streams.store import Store
from streams.traffic import read_traffic

DAY, HOUR = timedelta(days=1), timedelta(hours=1)


def read_basis(store: Store, now: datetime) -> Basis:
    """What the last 24 hours say; seconds on a busy store. Raises StoreUnavailable."""
    since = now - DAY
    hours: dict[datetime, int] = {}
    for row in store.tallies(since.replace(minute=0, second=0, microsecond=0), now, step=HOUR, by_version=False):
        hours[row.bucket] = hours.get(row.bucket, 0) + row.traffic
    mean = sum(hours.values()) / len(hours) if hours else 0.0
    return Basis(
        traffic=tuple(read_traffic(store, now, days=1)),
        busiest=max(hours.values()) / mean if mean else 1.0,
        supports=tuple(store.spending.supports(since, now)),
        spent=tuple(store.spending.sums(since, now, step=DAY)),
    )
