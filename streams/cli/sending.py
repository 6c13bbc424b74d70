"""Sending a replay with a plain Kafka producer: paced, and never more than a bounded number of messages in flight."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError, MessageSizeTooLargeError, RecordTooLargeError

from schemas.errors import BrokerUnavailable
from streams.broker.begin import matching_topics
from streams.broker.connection import Connection
from streams.cli.replaying import Recorded, Stamp, headers, message
from streams.clock import utc_now

MAX_IN_FLIGHT = 1_000


@dataclass(slots=True)
class Sent:
    """Counts of a replay; ``not_json`` were sent as they are, ``refused`` were too large for the producer or broker."""

    sent: int = 0
    not_json: int = 0
    refused: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Target:
    """Where a replay goes; larger messages than ``max_message_bytes`` are refused before they are sent."""

    connection: Connection
    topic: str
    max_message_bytes: int


async def send_all(
    target: Target, due_lines: Iterable[tuple[float, Recorded]], stamp: Stamp, on_line: Callable[[Sent], None]
) -> Sent:
    """Send every line when it is due and wait until the broker has all of them.

    Raises BrokerUnavailable when the cluster does not answer or the topic does not exist.
    """
    connection = target.connection.named("replay")
    await _require_topic(connection, target.topic)
    options = connection.aiokafka_options()
    producer = AIOKafkaProducer(**options, acks="all", linger_ms=5, max_request_size=target.max_message_bytes)
    sender = _Sender(producer, target.topic, stamp)
    try:
        await producer.start()
        return await sender.send_paced(due_lines, on_line)
    except KafkaError as error:
        raise BrokerUnavailable(
            f"sending to {target.topic} failed ({type(error).__name__}); see that the broker runs"
        ) from error
    finally:
        await producer.stop()


async def _require_topic(connection: Connection, topic: str) -> None:
    """Looked for among all topics: a producer that asks for it by name makes it on some brokers."""
    if not await matching_topics(connection, lambda name: name == topic):
        raise BrokerUnavailable(f"topic {topic} does not exist; give another --topic or create it")


class _Sender:
    """Keeps count while messages are in flight."""

    def __init__(self, producer: AIOKafkaProducer, topic: str, stamp: Stamp) -> None:
        self._producer = producer
        self._topic = topic
        self._stamp = stamp
        self._counts = Sent()

    async def send_paced(self, due_lines: Iterable[tuple[float, Recorded]], on_line: Callable[[Sent], None]) -> Sent:
        loop = asyncio.get_running_loop()
        start = loop.time()
        in_flight: set[asyncio.Task[None]] = set()
        for due, line in due_lines:
            await asyncio.sleep(max(0.0, start + due - loop.time()))
            in_flight.add(asyncio.create_task(self._send(line)))
            if len(in_flight) >= MAX_IN_FLIGHT:
                done, in_flight = await asyncio.wait(in_flight, return_when=asyncio.FIRST_COMPLETED)
                _raise_first(done)
            on_line(self._counts)
        await asyncio.gather(*in_flight)
        self._counts.seconds = loop.time() - start
        on_line(self._counts)
        return self._counts

    async def _send(self, line: Recorded) -> None:
        key, value = message(line, self._stamp, utc_now())
        self._counts.not_json += line.fields is None
        try:
            await self._producer.send_and_wait(self._topic, value, key=key, headers=headers(self._stamp))
        except (MessageSizeTooLargeError, RecordTooLargeError):
            self._counts.refused += 1
        else:
            self._counts.sent += 1


def _raise_first(done: Iterable[asyncio.Task[None]]) -> None:
    for task in done:
        task.result()
