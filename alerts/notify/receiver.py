"""What a receiver of alerts is: one method and two errors."""

from typing import Protocol

from schemas.alert import Alert


class Notifier(Protocol):
    """Somewhere that alerts are sent to; ``name`` identifies the receiver in ``gw.notified`` and holds no secret."""

    @property
    def name(self) -> str:
        """Stable name of the receiver."""
        ...

    def notify(self, alert: Alert) -> None:
        """Deliver the alert, blocking until the receiver has it.

        Raises NotifierUnavailable (try again later) or NotifierRejected (never right). The same alert may be delivered
        twice after a crash; a receiver tells repeats by ``alert_id`` and ``state``.
        """
        ...
