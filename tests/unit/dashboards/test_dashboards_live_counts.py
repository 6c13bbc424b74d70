"""Counts shared by many readers."""

import asyncio
from datetime import datetime, timedelta

import pytest

from dashboards.live_counts import LiveCounts
from schemas.errors import StoreUnavailable
from streams.store import StoreCounts
from tests.builders import NOW


class Counting:
    """A store whose counts say how often it was asked, and a clock that moves while it counts."""

    def __init__(self, took: timedelta) -> None:
        self.moment = NOW
        self.asked = 0
        self.broken = False
        self._took = took

    def now(self) -> datetime:
        """The present moment."""
        return self.moment

    def counts(self) -> StoreCounts:
        """The number of this call."""
        self.asked += 1
        self.moment += self._took
        if self.broken:
            raise StoreUnavailable("away")
        return StoreCounts(traces=self.asked)


async def test_readers_at_once_share_one_count() -> None:
    """Ten open pages cost what one costs."""
    store = Counting(timedelta(0))
    live = LiveCounts(store, store.now)  # type: ignore[arg-type]
    found = await asyncio.gather(*(live.get() for _ in range(10)))
    assert [1] * 10 == [counts.traces for counts in found]


async def test_counts_are_fresh_after_three_seconds() -> None:
    """Not before."""
    store = Counting(timedelta(0))
    live = LiveCounts(store, store.now)  # type: ignore[arg-type]
    await live.get()
    store.moment += timedelta(seconds=2.9)
    assert (await live.get()).traces == 1
    store.moment += timedelta(seconds=0.1)
    assert (await live.get()).traces == 2


async def test_slow_counts_are_kept_for_longer() -> None:
    """A large store spends a tenth of its time on counting at most."""
    store = Counting(timedelta(seconds=2))
    live = LiveCounts(store, store.now)  # type: ignore[arg-type]
    await live.get()
    store.moment += timedelta(seconds=19)
    assert (await live.get()).traces == 1


async def test_failure_is_not_kept() -> None:
    """The next reader asks again."""
    store = Counting(timedelta(0))
    store.broken = True
    live = LiveCounts(store, store.now)  # type: ignore[arg-type]
    with pytest.raises(StoreUnavailable):
        await live.get()
    store.broken = False
    assert (await live.get()).traces == 2
