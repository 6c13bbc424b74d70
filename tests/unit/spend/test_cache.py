"""The cache of judgements: what it keeps, and a store that is away."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from schemas.errors import RowRejected, StoreUnavailable
from schemas.labels import ClaimLabel, Outcome
from schemas.verdict import ClaimJudgement
from streams.spend import StoredCache, cache_of
from tests.builders import NOW
from tests.fakes_store import MemoryStore

SAID = ClaimJudgement(label=ClaimLabel.SUPPORTED, confidence=0.8)
FAILED = ClaimJudgement(error=Outcome.ERROR_TIMEOUT)


class Broken:
    """Judgements of a store that fails; counts how often it is asked."""

    def __init__(self, error: Exception) -> None:
        self.error = error
        self.asked = 0

    def read(self, _keys: Sequence[str]) -> dict[str, ClaimJudgement]:
        """Fails."""
        self.asked += 1
        raise self.error

    def insert(self, _judgements: Mapping[str, ClaimJudgement], _now: datetime) -> None:
        """Fails."""
        self.asked += 1
        raise self.error


def broken(error: Exception) -> tuple[MemoryStore, Broken]:
    """A store of which only the judgements are away."""
    store, judgements = MemoryStore(), Broken(error)
    store.judgements = judgements  # type: ignore[assignment]
    return store, judgements


def test_another_process_finds_what_was_put() -> None:
    """A redelivery may go to any worker."""
    store = MemoryStore()
    cache_of(store).put({"a": SAID})  # type: ignore[arg-type]
    assert {"a": SAID} == cache_of(store).get(["a", "b"])  # type: ignore[arg-type]


def test_errors_are_never_kept() -> None:
    """They would be paid for by every later answer."""
    store = MemoryStore()
    cache = cache_of(store)  # type: ignore[arg-type]
    cache.put({"a": FAILED, "b": SAID})
    assert {"b": SAID} == cache.get(["a", "b"])
    assert {"b": SAID} == store.judgements.read(["a", "b"])


def test_store_that_is_away_knows_nothing_and_is_left_alone_for_a_while() -> None:
    """A try may take seconds; what this process put itself is still known."""
    store, judgements = broken(StoreUnavailable("away"))
    now = [NOW]
    cache = StoredCache(store, lambda: now[0])  # type: ignore[arg-type]
    assert {} == cache.get(["a"])
    cache.put({"a": SAID})
    assert {"a": SAID} == cache.get(["a", "b"])
    assert 1 == judgements.asked
    now[0] += timedelta(seconds=11)
    assert {} == cache.get(["b"])
    assert 2 == judgements.asked


def test_refused_row_is_no_failure_of_the_judge() -> None:
    """It is judged again next time."""
    store, _ = broken(RowRejected("no"))
    cache = cache_of(store)  # type: ignore[arg-type]
    cache.put({"a": SAID})
    assert {"a": SAID} == cache.get(["a"])


def test_newest_are_held_in_memory() -> None:
    """So many, the ones asked for last; without a store they are all there is."""
    cache = StoredCache(None, lambda: NOW, held=2)
    cache.put({"a": SAID, "b": SAID})
    assert {"a": SAID} == cache.get(["a"])
    cache.put({"c": SAID})
    assert {"a": SAID, "c": SAID} == cache.get(["a", "b", "c"])
