"""Following a small compacted topic from its beginning, in every process, without a consumer group.

``gw.policy`` and ``gw.notified`` are read this way: each process needs all of it, so partitions are not shared out.
"""

import asyncio
import os
from collections.abc import Callable

import structlog
from aiokafka import TopicPartition
from aiokafka.errors import KafkaError

from streams.broker.connection import Connection
from streams.broker.consumer import KafkaConsumer

log = structlog.get_logger(__name__)
POLL_MS = 250
RETRY_SECONDS = 1.0
FOLLOW_SECONDS = POLL_MS / 1000


class Replica:
    """Calls ``on_record(key, value)`` for each message of a one-partition topic, old ones first, then as they come.

    ``on_poll`` is called whenever the broker was asked, several times a second while it answers.
    """

    def __init__(
        self,
        connection: Connection,
        topic: str,
        on_record: Callable[[bytes | None, bytes | None], None],
        on_poll: Callable[[], None] = lambda: None,
    ) -> None:
        self._connection = connection
        self._partition = TopicPartition(topic, 0)
        self._on_record = on_record
        self._on_poll = on_poll
        self.position = 0
        """The offset behind the last message that was seen."""
        self._task: asyncio.Task[None] | None = None
        self._is_caught_up = asyncio.Event()

    async def start(self) -> None:
        """Begin to follow; returns at once."""
        self._task = asyncio.create_task(self._run(), name=f"replica {self._partition.topic}")

    async def stop(self) -> None:
        """Stop following."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def caught_up(self, timeout_seconds: float) -> bool:
        """True once everything that was in the topic has been seen, False when that took longer than the limit."""
        try:
            await asyncio.wait_for(self._is_caught_up.wait(), timeout_seconds)
        except TimeoutError:
            return False
        return True

    async def _run(self) -> None:
        offset = 0
        while True:
            try:
                offset = await self._follow(offset)
            except KafkaError as error:
                log.warning("replica_retry", topic=self._partition.topic, error=type(error).__name__)
                await asyncio.sleep(RETRY_SECONDS)
            except Exception:
                # A follower that is gone in silence would leave the process on an old policy for ever.
                log.exception("replica_failed", topic=self._partition.topic)
                os._exit(os.EX_SOFTWARE)

    async def _follow(self, offset: int) -> int:
        consumer = KafkaConsumer(
            **self._connection.aiokafka_options(),
            group_id=None,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            max_partition_fetch_bytes=16_000_000,
        )
        await consumer.start()
        try:
            consumer.assign([self._partition])
            if offset:
                consumer.seek(self._partition, offset)
            while True:
                batches = await consumer.getmany(timeout_ms=POLL_MS)
                self._on_poll()
                for message in batches.get(self._partition, ()):
                    self._on_record(message.key, message.value)
                    self.position = offset = message.offset + 1
                high = consumer.highwater(self._partition)
                if high is not None and offset >= high:
                    self._is_caught_up.set()
        finally:
            await consumer.stop()
