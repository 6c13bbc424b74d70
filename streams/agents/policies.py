"""The policy log as a process knows it, and how an entry gets in: to ``gw.policy`` first, then to the store's copy."""

import asyncio
from collections.abc import Iterable
from datetime import datetime

import structlog

from detectors.claims import check_rules
from sampling.policy_file import policy_id_of
from sampling.policy_log import EffectivePolicy, PolicyLog, effective_bucket, heartbeat
from schemas.codec import decode
from schemas.errors import GroundwatchError
from schemas.policy import PolicyDocument, PolicyRecord
from streams.broker.publisher import Publisher, record_message
from streams.broker.topics import POLICY
from streams.store import Store

log = structlog.get_logger(__name__)


class KnownPolicies:
    """Grows as records arrive in any order; a record that the rules refuse is logged and changes nothing."""

    def __init__(self, records: Iterable[PolicyRecord] = ()) -> None:
        self.log = PolicyLog()
        for record in records:
            self.add(record)

    def add(self, record: PolicyRecord) -> None:
        """Take one record in."""
        try:
            self.log = self.log.add(record)
        except GroundwatchError as error:
            log.warning("policy_record_refused", policy_id=record.policy_id, error=str(error))

    def on_record(self, key: bytes | None, value: bytes | None) -> None:
        """Take one message of ``gw.policy`` in."""
        try:
            self.add(decode(PolicyRecord, value))
        except GroundwatchError as error:
            log.warning("policy_message_refused", key=repr(key), error=str(error))

    def at(self, ts: datetime) -> EffectivePolicy:
        """The policy in force at an event time. Raises PolicyIncomplete when the log does not reach that far."""
        return self.log.at(ts)


class PolicyPublisher:
    """Publishes policies and heartbeats; only ``policy apply`` and the alert leader hold one."""

    def __init__(self, known: KnownPolicies, publisher: Publisher, store: Store) -> None:
        self._known = known
        self._publisher = publisher
        self._store = store

    async def ensure_first(self, document: PolicyDocument, now: datetime) -> None:
        """Publish ``document`` as the policy since ever when the log is empty, with a heartbeat in any case."""
        if not self._known.log.records:
            policy_id = policy_id_of(document, None)
            await self._publish(PolicyRecord(policy_id=policy_id, published_at=now, document=document, author="first"))
        await self.beat(now)

    async def apply(self, document: PolicyDocument, author: str, now: datetime) -> PolicyRecord:
        """Publish a new base policy from the earliest bucket allowed. Raises ConfigError: wrong rule, or refused."""
        check_rules(document)
        record = PolicyRecord(
            policy_id=policy_id_of(document, now),
            published_at=now,
            effective_from=effective_bucket(now),
            document=document,
            author=author,
        )
        await self._publish(record)
        return record

    async def beat(self, now: datetime) -> None:
        """Say up to when the log is complete; without it no trace beyond that moment is drawn."""
        await self._publish(heartbeat(now))

    async def _publish(self, record: PolicyRecord) -> None:
        self._known.log.check_publishable(record)
        await self._publisher.send(POLICY, [record_message(record.policy_id, record)])
        await asyncio.to_thread(self._store.insert_policy, [record])
        self._known.add(record)
