"""Whether to send: a decision with its reason, so that it can be logged and counted."""

from collections.abc import Collection
from enum import StrEnum
from typing import NamedTuple

from schemas.alert import Alert
from schemas.labels import AlertState

PAGED = frozenset({AlertState.FIRING, AlertState.RESOLVED, AlertState.STALE})
"""States that people are told of; pending and learning are for pages only."""


class Sent(NamedTuple):
    """Key of ``gw.notified``: this state of this alert has reached this receiver."""

    alert_id: str
    state: AlertState
    receiver: str


class Reason(StrEnum):
    """Why a notification is sent or not."""

    NEW = "new"
    STATE_CHANGED = "state_changed"
    ALREADY_SENT = "already_sent"
    HISTORICAL = "historical"
    SILENCED = "silenced"
    NOT_PAGED = "not_paged"
    """A state that pages nobody, or the end of an episode that this receiver was never told of."""

    @property
    def is_sent(self) -> bool:
        """True when the notification goes out."""
        return self in {Reason.NEW, Reason.STATE_CHANGED}


def decide(alert: Alert, receiver: str, sent: Collection[Sent], *, is_silenced: bool = False) -> Reason:
    """Whether ``receiver`` gets this alert now; ``sent`` is what ``gw.notified`` knows, at least of this alert."""
    told = {one.state for one in sent if one.alert_id == alert.alert_id and one.receiver == receiver}
    if alert.state in told:
        return Reason.ALREADY_SENT
    if alert.is_historical:
        return Reason.HISTORICAL
    was_paged = AlertState.FIRING in told
    is_withdrawn = was_paged and alert.state is AlertState.INACTIVE
    if not is_withdrawn and (alert.state not in PAGED or (alert.state is not AlertState.FIRING and not was_paged)):
        return Reason.NOT_PAGED
    if is_silenced:
        return Reason.SILENCED
    return Reason.STATE_CHANGED if told else Reason.NEW
