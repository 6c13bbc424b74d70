"""Money: the purse that judges and resampling are paid from, and the cache that keeps what was paid for."""

import os
import socket
from collections.abc import Callable
from datetime import datetime
from secrets import token_hex

from detectors.layers import JudgeCache, Purse
from schemas.errors import PolicyIncomplete
from schemas.labels import Layer
from schemas.policy import PolicyDocument
from schemas.routes import Budget
from streams.agents.policies import KnownPolicies
from streams.clock import utc_now
from streams.spend.cache import StoredCache
from streams.spend.purse import EVERY, LayerPurse, OpenPurse, Spending
from streams.store import Store

__all__ = [
    "MEET_SECONDS",
    "LayerPurse",
    "OpenPurse",
    "Spending",
    "StoredCache",
    "cache_of",
    "policy_now",
    "purse_of",
    "spending_of",
]
MEET_SECONDS = EVERY.total_seconds()
_NOTHING = PolicyDocument(name="none", budget=Budget(usd_per_hour=0, tokens_per_hour=0))
"""Until a policy is known nothing is spent: what it allows is not known either."""


def policy_now(policies: KnownPolicies, now: datetime) -> PolicyDocument:
    """The policy by which money is spent now; one that allows nothing while none is known."""
    try:
        return policies.so_far(now).document
    except PolicyIncomplete:
        return _NOTHING


def spending_of(
    store: Store,
    policy: Callable[[], PolicyDocument],
    *,
    instance: str = "",
    workers: int = 1,
    now: Callable[[], datetime] = utc_now,
) -> Spending:
    """The books of this process, one for all its layers; ``store`` a client of its own, since meetings are short."""
    worker = f"{instance or socket.gethostname()}-{os.getpid()}-{token_hex(3)}"
    return Spending(store, policy, worker, now, workers)


def purse_of(spending: Spending | None, layer: Layer, *, usd_per_million: float = 0.0) -> Purse:
    """What a layer is paid from; ``usd_per_million`` tokens, the dearer of in and out, is what a reservation costs.

    None for commands that a person starts beside the flow: they pay for everything, and nothing is booked.
    """
    return OpenPurse() if spending is None else LayerPurse(spending, layer, usd_per_million)


def cache_of(store: Store | None, now: Callable[[], datetime] = utc_now) -> JudgeCache:
    """What judges said before; None keeps the newest in memory alone."""
    return StoredCache(store, now)
