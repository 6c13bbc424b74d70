"""How many traces a day each stratum gets, from the stored tallies: what a change of policy is reckoned with."""

from collections import defaultdict
from datetime import datetime, timedelta

from sampling.policy_diff import CellTraffic
from schemas.labels import RiskTier
from streams.store import Store

DAYS = 7
_HOUR = timedelta(hours=1)
_DAY = timedelta(days=1)


def read_traffic(store: Store, now: datetime, days: int = DAYS) -> list[CellTraffic]:
    """Mean over the last ``days``, or over the time since the first trace of them. Raises StoreUnavailable."""
    start = (now - timedelta(days=days)).replace(minute=0, second=0, microsecond=0)
    rows = [row for row in store.tallies(start, now, step=_HOUR, by_version=False) if row.traffic]
    if not rows:
        return []
    covered = max(now - min(row.bucket for row in rows), _HOUR) / _DAY
    counts: dict[tuple[str, RiskTier, str], int] = defaultdict(int)
    for row in rows:
        counts[row.intent, row.tier, row.stratum] += row.traffic
    return [
        CellTraffic(intent=intent, tier=tier, stratum=stratum, traces_per_day=count / covered)
        for (intent, tier, stratum), count in sorted(counts.items())
    ]
