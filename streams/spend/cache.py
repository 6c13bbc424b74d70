"""What judges said, kept in the store so that a redelivery is not paid twice, with the last ones in memory."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import structlog

from schemas.errors import RowRejected, StoreUnavailable
from schemas.verdict import ClaimJudgement
from streams.store import Store

log = structlog.get_logger(__name__)
HELD = 4_096
"""Judgements in memory, one or two kilobytes each."""
AWAY = timedelta(seconds=10)
"""For how long a store that did not answer is not asked again: each try may take seconds."""


@dataclass(slots=True)
class StoredCache:
    """A ``JudgeCache`` over the store; without one, in memory alone. Safe from several threads."""

    store: Store | None
    now: Callable[[], datetime]
    held: int = HELD
    _recent: OrderedDict[str, ClaimJudgement] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _away_until: datetime | None = None

    def get(self, keys: Sequence[str]) -> Mapping[str, ClaimJudgement]:
        """Those that are known. Never raises: a cache that is away knows nothing."""
        found: dict[str, ClaimJudgement] = {}
        with self._lock:
            for key in keys:
                if key in self._recent:
                    self._recent.move_to_end(key)
                    found[key] = self._recent[key]
        missing = [key for key in dict.fromkeys(keys) if key not in found]
        if missing and self.store is not None and self._is_there():
            try:
                stored = self.store.judgements.read(missing)
            except StoreUnavailable as error:
                self._went_away(error)
            else:
                self._hold(stored)
                found |= stored
        return found

    def put(self, judgements: Mapping[str, ClaimJudgement]) -> None:
        """Keep them; errors are never kept. Never raises."""
        good = {key: one for key, one in judgements.items() if one.error is None}
        self._hold(good)
        if not good or self.store is None or not self._is_there():
            return
        try:
            self.store.judgements.insert(good, self.now())
        except StoreUnavailable as error:
            self._went_away(error)
        except RowRejected as error:
            log.warning("judgements_rejected", error=str(error), judgements=len(good))

    def _hold(self, judgements: Mapping[str, ClaimJudgement]) -> None:
        with self._lock:
            for key, one in judgements.items():
                self._recent[key] = one
                self._recent.move_to_end(key)
            while len(self._recent) > self.held:
                self._recent.popitem(last=False)

    def _is_there(self) -> bool:
        return self._away_until is None or self.now() >= self._away_until

    def _went_away(self, error: StoreUnavailable) -> None:
        self._away_until = self.now() + AWAY
        log.warning("judge_cache_away", error=str(error), consequence="claims are judged, and paid for, again")
