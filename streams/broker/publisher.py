"""Writing to ``gw.*``: nothing counts as sent until the broker has acknowledged it."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError, MessageSizeTooLargeError, RecordTooLargeError

from schemas.base import Record
from schemas.codec import encode, schema_header
from schemas.errors import BrokerUnavailable, RowRejected
from streams.broker.connection import Connection
from streams.broker.trouble import explained

REQUEST_OVERHEAD_BYTES = 1_000_000
"""Room for headers and framing above the largest value."""
BATCH_BYTES = 524_288
"""Records of a partition that go together: the client's own 16 KB are two traces, which costs it four times the time;
a broker that nobody configured takes 1 MB."""


@dataclass(frozen=True, slots=True)
class Outgoing:
    """One message to send."""

    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes], ...] = ()


def record_message(key: str, record: Record) -> Outgoing:
    """A record of ours with the header that names its schema."""
    return Outgoing(key.encode("utf-8", "replace"), encode(record), (schema_header(type(record)),))


class Publisher:
    """One producer for a process; start it before use, stop it last."""

    def __init__(self, connection: Connection, max_message_bytes: int) -> None:
        self._connection = connection
        self._max_request_bytes = max_message_bytes + REQUEST_OVERHEAD_BYTES
        self._producer: AIOKafkaProducer | None = None

    async def start(self) -> None:
        """Connect. Raises BrokerUnavailable with the cause and the setting to check."""
        producer = AIOKafkaProducer(
            **self._connection.aiokafka_options(),
            acks="all",
            linger_ms=5,
            max_batch_size=BATCH_BYTES,
            max_request_size=self._max_request_bytes,
            compression_type=self._connection.compression,
        )
        try:
            async with explained(self._connection):
                await producer.start()
        except BrokerUnavailable:
            await producer.stop()
            raise
        self._producer = producer

    async def stop(self) -> None:
        """Flush and disconnect."""
        if self._producer is not None:
            await self._producer.stop()
            self._producer = None

    async def send(self, topic: str, messages: Sequence[Outgoing]) -> None:
        """Send all and wait until the broker has every one.

        Raises BrokerUnavailable (send all again: consumers remove duplicates by id) or RowRejected (too large).
        """
        if self._producer is None:
            raise BrokerUnavailable("the publisher is not started")
        try:
            futures = [
                await self._producer.send(topic, key=m.key, value=m.value, headers=list(m.headers)) for m in messages
            ]
            await asyncio.gather(*futures)
        except (MessageSizeTooLargeError, RecordTooLargeError) as error:
            raise RowRejected(
                f"a message for {topic} exceeds the broker's limit; raise the topic's max.message.bytes"
            ) from error
        except KafkaError as error:
            raise BrokerUnavailable(
                f"publishing to {topic} failed ({type(error).__name__}); repeat it when the broker answers"
            ) from error
