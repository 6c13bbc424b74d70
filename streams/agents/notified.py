"""What was already sent, by (alert, state, receiver): the compacted topic ``gw.notified``, as this process knows it."""

from collections.abc import Iterable

from alerts.notify import Sent
from schemas.alert import Alert
from schemas.labels import AlertState
from streams.broker.publisher import Outgoing, Publisher
from streams.broker.topics import NOTIFIED

SEPARATOR = "\x1f"


class Notified:
    """Grows from the topic and from our own sends."""

    def __init__(self) -> None:
        self.sent: set[Sent] = set()

    def assume(self, alerts: Iterable[Alert], receivers: Iterable[str]) -> None:
        """Take stored alerts as sent: the embedded broker forgets its topics at a restart, the store does not."""
        names = list(receivers)
        self.sent |= {Sent(alert.alert_id, alert.state, name) for alert in alerts for name in names}

    def on_record(self, key: bytes | None, value: bytes | None) -> None:
        """Take one message of ``gw.notified`` in; what is not of our making is passed over."""
        parts = (key or b"").decode("utf-8", "replace").split(SEPARATOR)
        if value is not None and len(parts) == len(Sent._fields) and parts[1] in set(AlertState):
            self.sent.add(Sent(parts[0], AlertState(parts[1]), parts[2]))

    async def record(self, sent: Sent, publisher: Publisher) -> None:
        """Say durably that this was sent. Raises BrokerUnavailable; then the same may be sent once more."""
        await publisher.send(NOTIFIED, [Outgoing(SEPARATOR.join(sent).encode("utf-8", "replace"), b"1")])
        self.sent.add(sent)
