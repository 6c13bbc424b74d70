"""The policy log as a process knows it, and how an entry gets in: to ``gw.policy`` first, then to the store's copy."""

import asyncio
import json
from collections.abc import Iterable
from datetime import datetime

import structlog

from sampling.policy_file import overlay_id_of, policy_id_of
from sampling.policy_log import EffectivePolicy, PolicyLog, heartbeat
from schemas.codec import decode
from schemas.errors import BrokerUnavailable, GroundwatchError, PolicyIncomplete
from schemas.policy import Overlay, PolicyDocument, PolicyRecord
from streams.broker.connection import Connection
from streams.broker.publisher import Publisher, record_message
from streams.broker.replica import Replica
from streams.broker.topics import POLICY
from streams.store import Store

log = structlog.get_logger(__name__)
READ_SECONDS = 30.0


class KnownPolicies:
    """Grows as records arrive in any order; a record that the rules refuse is logged and changes nothing.

    A policy that cannot be read (a newer version wrote it) stops the log where it was complete before: traces behind
    that wait for an upgraded process. Two processes that draw by different policies would be worse than one that waits.
    """

    def __init__(self, records: Iterable[PolicyRecord] = ()) -> None:
        self.log = PolicyLog()
        self._unreadable: dict[bytes, str] = {}
        for record in records:
            self.add(record)

    def add(self, record: PolicyRecord) -> None:
        """Take one record in."""
        if self._unreadable and record.complete_until is not None:
            return
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
            if value is None:
                self._unreadable.pop(key or b"", None)
            elif _names_a_policy(value):
                self._unreadable[key or b""] = str(error)

    def at(self, ts: datetime) -> EffectivePolicy:
        """The policy in force at an event time. Raises PolicyIncomplete when the log does not reach that far."""
        try:
            return self.log.at(ts)
        except PolicyIncomplete as error:
            if not self._unreadable:
                raise
            key, reason = next(iter(self._unreadable.items()))
            raise PolicyIncomplete(
                f"{POLICY}: entry {key.decode('utf-8', 'backslashreplace')[:80]!r} cannot be read ({reason}); upgrade "
                "this process, or send an empty message with that key if nobody published it"
            ) from error

    def so_far(self, ts: datetime) -> EffectivePolicy:
        """The policy in force by what has been read, for what cannot wait and is no draw. Raises PolicyIncomplete."""
        return self.log.so_far(ts)


def _names_a_policy(value: bytes) -> bool:
    """Whether this is meant to be an entry of the log: other junk decides nothing, whoever sent it."""
    try:
        found = json.loads(value)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and "policy_id" in found


def without_heartbeats(records: Iterable[PolicyRecord]) -> list[PolicyRecord]:
    """The policies and overlays of the store's copy: all that a process may trust before it has read the topic.

    An entry may have reached the topic and not the store; with the copy's heartbeat, traces would be drawn without it.
    """
    return [record for record in records if record.complete_until is None]


async def read_policies(connection: Connection, stored: Iterable[PolicyRecord]) -> KnownPolicies:
    """The log as it stands now: the whole topic, then what the store's copy has beyond it.

    Raises BrokerUnavailable when the topic's end is not reached within 30 s.
    """
    known = KnownPolicies()
    replica = Replica(connection, POLICY, known.on_record)
    await replica.start()
    try:
        if not await replica.caught_up(READ_SECONDS):
            raise BrokerUnavailable(f"{POLICY} could not be read to its end within {READ_SECONDS:.0f} s; is it there?")
    finally:
        await replica.stop()
    for record in without_heartbeats(stored):
        known.add(record)
    return known


class PolicyPublisher:
    """Publishes policies and heartbeats; only ``policy apply`` and the alert leader hold one.

    ``known`` is the log read to its end, so that nothing is published where traces may be drawn already.
    """

    def __init__(self, known: KnownPolicies, publisher: Publisher, store: Store) -> None:
        self._known = known
        self._publisher = publisher
        self._store = store
        self._copied: set[str] | None = None

    async def send_first(self, document: PolicyDocument, now: datetime) -> None:
        """Put ``document`` into the topic as the policy since ever; of several, the one that is first there holds."""
        policy_id = policy_id_of(document, None)
        await self._send(PolicyRecord(policy_id=policy_id, published_at=now, document=document, author="first"))

    async def apply(self, document: PolicyDocument, author: str, now: datetime) -> PolicyRecord:
        """Publish a new base policy from the earliest bucket allowed. Raises ConfigError when the log refuses it."""
        record = PolicyRecord(
            policy_id=policy_id_of(document, now),
            published_at=now,
            effective_from=self._known.log.earliest_start(now),
            document=document,
            author=author,
        )
        await self._send(record)
        await asyncio.to_thread(self._store.insert_policy, [record])
        self._known.add(record)
        return record

    async def overlay(self, overlay: Overlay, starts: datetime, author: str, now: datetime) -> PolicyRecord:
        """Publish a change of π from ``starts`` on. Raises ConfigError when the log refuses it: it is too soon."""
        record = PolicyRecord(
            policy_id=overlay_id_of(overlay, now),
            published_at=now,
            effective_from=starts,
            overlay=overlay,
            author=author,
        )
        await self._send(record)
        await asyncio.to_thread(self._store.insert_policy, [record])
        self._known.add(record)
        return record

    async def beat(self, now: datetime) -> None:
        """Say up to when the log is complete; without it no trace beyond that moment is drawn.

        Entries that reached the topic alone (their publisher died, the store was away) are copied to the store first.
        """
        await self._copy_missing()
        record = heartbeat(now)
        await self._send(record)
        await asyncio.to_thread(self._store.insert_policy, [record])
        self._known.add(record)

    async def _send(self, record: PolicyRecord) -> None:
        self._known.log.check_publishable(record)
        await self._publisher.send(POLICY, [record_message(record.policy_id, record)])

    async def _copy_missing(self) -> None:
        if self._copied is None:
            stored = await asyncio.to_thread(self._store.policy_records)
            self._copied = {record.policy_id for record in stored}
        missing = [record for name, record in self._known.log.records.items() if name not in self._copied]
        if missing:
            await asyncio.to_thread(self._store.insert_policy, missing)
            self._copied.update(record.policy_id for record in missing)
