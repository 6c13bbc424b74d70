"""The policy log as a process knows it: loaded from the store, then followed on ``gw.policy``."""

from collections.abc import Iterable
from datetime import datetime

import structlog

from sampling.policy_log import EffectivePolicy, PolicyLog
from schemas.codec import decode
from schemas.errors import GroundwatchError
from schemas.policy import PolicyRecord

log = structlog.get_logger(__name__)


class KnownPolicies:
    """Grows as records arrive in any order; a record that the rules refuse is logged and changes nothing."""

    def __init__(self, records: Iterable[PolicyRecord] = ()) -> None:
        self._log = PolicyLog()
        for record in records:
            self.add(record)

    @property
    def log(self) -> PolicyLog:
        """The log so far."""
        return self._log

    def add(self, record: PolicyRecord) -> None:
        """Take one record in."""
        try:
            self._log = self._log.add(record)
        except GroundwatchError as error:
            log.error("policy_record_refused", policy_id=record.policy_id, error=str(error))

    def on_record(self, key: bytes | None, value: bytes | None) -> None:
        """Take one message of ``gw.policy`` in."""
        try:
            self.add(decode(PolicyRecord, value))
        except GroundwatchError as error:
            log.error("policy_message_refused", key=repr(key), error=str(error))

    def at(self, ts: datetime) -> EffectivePolicy:
        """The policy in force at an event time. Raises PolicyIncomplete when the log does not reach that far."""
        return self._log.at(ts)
