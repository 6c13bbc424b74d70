"""Tells each receiver of an alert what it was not told yet; one that is away costs no other and is tried again."""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime

import structlog

from alerts.notify import Notifier, Sent, decide
from schemas.alert import Alert
from schemas.errors import NotifierRejected, NotifierUnavailable
from streams.agents.alert_pulse import REJECTED, UNAVAILABLE, AlertPulse
from streams.agents.notified import Notified
from streams.broker.publisher import Publisher
from streams.clock import utc_now

log = structlog.get_logger(__name__)


class Teller:
    """Sends alerts; what a receiver did not take stays here until ``retry`` delivers it, and ``pulse`` counts it."""

    def __init__(
        self,
        notifiers: Sequence[Notifier],
        notified: Notified,
        publisher: Publisher,
        pulse: AlertPulse | None = None,
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        self._notifiers = notifiers
        self._notified = notified
        self._publisher = publisher
        self._pulse = pulse or AlertPulse()
        self._now = now
        self._later: dict[tuple[str, str], tuple[Notifier, Alert]] = {}

    async def tell(self, alert: Alert) -> None:
        """Send to every receiver that needs it. Raises BrokerUnavailable when a send could not be put on record."""
        for notifier in self._notifiers:
            await self._tell(notifier, alert)

    async def retry(self) -> None:
        """Try again what was not delivered; the newest state of an alert replaces older ones."""
        for notifier, alert in list(self._later.values()):
            await self._tell(notifier, alert)

    async def _tell(self, notifier: Notifier, alert: Alert) -> None:
        reason = decide(alert, notifier.name, self._notified.sent)
        log.info(
            "notification",
            alert_id=alert.alert_id,
            state=alert.state.value,
            slice=alert.slice.slice_key,
            receiver=notifier.name,
            reason=reason.value,
        )
        key = (alert.alert_id, notifier.name)
        if reason.is_sent:
            try:
                await asyncio.to_thread(notifier.notify, alert)
            except NotifierUnavailable as error:
                log.warning("notifier_waits", receiver=notifier.name, alert_id=alert.alert_id, error=str(error))
                self._later[key] = (notifier, alert)
                self._not_taken(notifier, UNAVAILABLE)
                return
            except NotifierRejected as error:
                log.error("notifier_rejected", receiver=notifier.name, alert_id=alert.alert_id, error=str(error))  # noqa: TRY400  the receiver's answer, not our fault
                self._not_taken(notifier, REJECTED)
            else:
                await self._notified.record(Sent(alert.alert_id, alert.state, notifier.name), self._publisher)
        self._later.pop(key, None)
        self._pulse.waiting = self._waiting()

    def _not_taken(self, notifier: Notifier, kind: str) -> None:
        self._pulse.not_taken(notifier.name, kind, self._now())
        self._pulse.waiting = self._waiting()

    def _waiting(self) -> Counter[str]:
        counts = Counter(notifier.name for notifier, _ in self._later.values())
        return Counter({notifier.name: counts[notifier.name] for notifier in self._notifiers})
