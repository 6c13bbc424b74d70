"""The engine's consumer thread, holding an aiokafka consumer that is made with options of ours.

Overrides one factory method of the pinned engine; all else here are its public methods.
"""

import asyncio
import logging
import re
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from time import time
from typing import Any

from aiokafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from faust.transport.drivers import aiokafka as driver
from faust.types import TP

from streams.broker.connection import Connection
from streams.broker.consumer import KafkaConsumer, is_cancelled
from streams.broker.lookup import Lookup
from streams.broker.reading import Reading, whole_name

POSITIONS_SECONDS = 0.2
FRESH_SECONDS = 10.0
"""How long what a fetch said of a partition's end is believed; empty answers come every half second."""
NOTHING = "^(?!)"
"""A pattern that no topic matches."""
ENGINE_LOG = logging.getLogger("faust.group")
"""What the engine says of its services goes where all it says goes."""


class MemberThread(driver.AIOKafkaConsumerThread):
    """One member of a consumer group."""

    logger = ENGINE_LOG

    client: KafkaConsumer

    def __init__(self, consumer: driver.Consumer, connection: Connection, reading: Reading, **kwargs: Any) -> None:
        self._connection = connection
        self._reading = reading
        self._pattern = ""
        self._instance_id = ""
        self._listener = consumer.RebalanceListener(self)
        super().__init__(consumer, **kwargs)

    async def on_start(self) -> None:
        """Find the name in the group first.

        To a member that comes back under its name the broker gives what it had, whatever it asks for now: topics or
        partitions that came meanwhile would be read by nobody, and aiokafka stands still when a topic is gone. So what
        there is to read is a part of the name.
        """
        self._instance_id = self.app.conf.consumer_group_instance_id or ""
        if self._instance_id and self._reading.is_watched:
            self._instance_id += f".{await self._digest()}"
        await super().on_start()

    async def _digest(self) -> str:
        lookup = Lookup(self._connection)
        try:
            partitions = (await lookup.cluster()).partitions
        finally:
            await lookup.stop()
        names = {topic for agent in self.app.agents.values() for topic in agent.channel.topics}
        pattern = re.compile(self._reading.pattern or "(?!)")
        ours = sorted((name, len(partitions[name])) for name in partitions if name in names or pattern.fullmatch(name))
        return blake2b(repr((self._reading.pattern, sorted(names), ours)).encode(), digest_size=4).hexdigest()

    def _create_worker_consumer(self, transport: driver.Transport) -> KafkaConsumer:
        del transport  # what it could tell of the cluster, we know better
        conf, reading = self.app.conf, self._reading
        self.client = KafkaConsumer(
            **self._connection.aiokafka_options(),
            group_id=conf.id,
            group_instance_id=self._instance_id or None,
            partition_assignment_strategy=[RoundRobinPartitionAssignor],
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            isolation_level=reading.isolation_level,
            fetch_max_bytes=reading.fetch_bytes,
            max_partition_fetch_bytes=min(reading.partition_fetch_bytes, reading.fetch_bytes),
            fetch_max_wait_ms=reading.fetch_wait_ms,
            client_rack=reading.rack or None,
            metadata_max_age_ms=int(reading.refresh_seconds * 1000),
            max_poll_records=conf.broker_max_poll_records,
            max_poll_interval_ms=int(conf.broker_max_poll_interval * 1000),
            request_timeout_ms=int(conf.broker_request_timeout * 1000),
            session_timeout_ms=int(conf.broker_session_timeout * 1000),
            rebalance_timeout_ms=int(conf.broker_rebalance_timeout * 1000),
            heartbeat_interval_ms=int(conf.broker_heartbeat_interval * 1000),
        )
        return self.client

    async def subscribe(self, topics: Iterable[str]) -> None:
        """Subscribe by pattern even to topics with a name: naming one that is not there makes some brokers make it."""
        named = "|".join(re.escape(topic) for topic in sorted(topics))
        self._pattern = whole_name(self._reading.pattern or named).pattern
        await self.call_thread(self._subscribe, self._pattern)

    async def commit(self, offsets: Mapping[TP, int]) -> bool:
        """Commit offsets; false when the thread stops, or has stopped, before it came to that.

        Nobody answers a thread's questions any more once it stops; waiting for that in the middle of the client's leave
        of the group would end in the engine's time limit, with connections that are never closed. A question that was
        asked before is cancelled by the engine, which is no fault.
        """
        if self.should_stop:
            return False
        try:
            return await super().commit(offsets)
        except asyncio.CancelledError:
            if self.should_stop and not is_cancelled():
                return False
            raise

    async def let_go(self) -> None:
        """Stay in the group without a topic: the others share out what was ours; ``subscribe_again`` ends that."""
        await self.call_thread(self._subscribe, NOTHING)

    async def subscribe_again(self) -> None:
        """Subscribe to what was subscribed to."""
        await self.call_thread(self._subscribe, self._pattern)

    async def positions(self) -> Mapping[TP, int]:
        """The next offset of every partition of which a fetch was answered lately; empty while one is being reset."""
        found: Mapping[TP, int] = await self.call_thread(self._positions)
        return found

    async def _subscribe(self, pattern: str) -> None:
        self.client.subscribe(pattern=pattern, listener=self._listener)

    async def _positions(self) -> Mapping[TP, int]:
        oldest_ms = (time() - FRESH_SECONDS) * 1000
        known = [
            tp
            for tp in self.client.assignment()
            if self.client.highwater(tp) is not None and (self.client.last_poll_timestamp(tp) or 0) > oldest_ms
        ]
        try:
            async with asyncio.timeout(POSITIONS_SECONDS):
                return {TP(tp.topic, tp.partition): await self.client.position(tp) for tp in known}
        except TimeoutError:
            return {}
