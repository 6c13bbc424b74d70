"""The store's counts for many readers: counting reads every row, so one answer serves all for a while."""

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta

from streams.store import Store
from streams.store.records import StoreCounts

FRESH_FOR = timedelta(seconds=3)
SHARE_OF_TIME = 10
"""An answer is kept for this many times as long as it took, so that counting takes a tenth of the time at most."""


class LiveCounts:
    """Counts that are at most a few seconds old; concurrent callers share one read."""

    def __init__(self, store: Store, now: Callable[[], datetime]) -> None:
        self._store = store
        self._now = now
        self._lock = asyncio.Lock()
        self._counts = StoreCounts()
        self._fresh_until: datetime | None = None

    async def get(self) -> StoreCounts:
        """The counts; raises StoreUnavailable."""
        async with self._lock:
            begun = self._now()
            if self._fresh_until is None or begun >= self._fresh_until:
                self._counts = await asyncio.to_thread(self._store.counts)
                ended = self._now()
                self._fresh_until = ended + max(FRESH_FOR, SHARE_OF_TIME * (ended - begun))
            return self._counts
