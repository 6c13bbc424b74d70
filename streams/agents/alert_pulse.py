"""What the alert step of a process did last, for metrics; written by the one loop."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from time import monotonic

from schemas.alert import Alert
from schemas.labels import AlertState

UNAVAILABLE, REJECTED = "unavailable", "rejected"
"""How a receiver may not take a notification: tried again, or never right."""
OPEN = frozenset({AlertState.PENDING, AlertState.FIRING, AlertState.STALE})


@dataclass(slots=True)
class AlertPulse:
    """Ticks, open alerts and deliveries; ``ticked_at`` is monotonic, 0.0 for never."""

    clock: Callable[[], float] = monotonic
    ticks: int = 0
    ticked_at: float = 0.0
    states: Counter[AlertState] = field(default_factory=Counter)
    open: tuple[Alert, ...] = ()
    failures: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Notifications not taken, by receiver and kind."""
    failed_at: dict[str, datetime] = field(default_factory=dict)
    waiting: Counter[str] = field(default_factory=Counter)
    """Notifications that wait for their receiver."""

    def ticked(self, alerts: Iterable[Alert]) -> None:
        """A whole tick is over; ``alerts`` are the present states of the newest ones."""
        self.ticks += 1
        self.ticked_at = self.clock()
        alerts = tuple(alerts)
        self.states = Counter(alert.state for alert in alerts)
        self.open = tuple(alert for alert in alerts if alert.state in OPEN and not alert.is_historical)

    def not_taken(self, receiver: str, kind: str, now: datetime) -> None:
        """A receiver did not take a notification."""
        self.failures[receiver, kind] += 1
        self.failed_at[receiver] = now
