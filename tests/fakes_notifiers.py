"""A receiver that keeps what it was sent, held to the same contract tests as the real ones."""

from schemas.alert import Alert
from schemas.errors import GroundwatchError


class CollectingNotifier:
    """Keeps alerts in ``received``; raises ``failure`` instead while one is set."""

    name = "collecting"

    def __init__(self, failure: GroundwatchError | None = None) -> None:
        self.failure = failure
        self.received: list[Alert] = []

    def notify(self, alert: Alert) -> None:
        """Keep the alert."""
        if self.failure is not None:
            raise self.failure
        self.received.append(alert)
