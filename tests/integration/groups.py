"""A consumer group of ours inside a test, and the topics that it reads; without the rest of a process."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import faust
from aiokafka import AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient, NewPartitions, NewTopic
from faust.types import TP

from streams.agents.app import assigned, make_app
from streams.agents.batches import Lifeline, register
from streams.broker.connection import Connection
from streams.broker.reading import Reading
from streams.messages import Message

SESSION_SECONDS, EMBEDDED_SESSION_SECONDS = 6.0, 2.0
"""The shortest that a broker takes by default; the embedded one takes any, and a first join there waits half of it."""
QUICK = Reading(refresh_seconds=1)
PATIENCE_SECONDS = 180.0
PAUSE_SECONDS = 0.05


def unique(name: str) -> str:
    """A name that no other test and no earlier run has."""
    return f"{name}-{uuid4().hex[:8]}"


@dataclass(slots=True)
class Group:
    """A member of a group and what it was given."""

    app: faust.App
    got: list[Message] = field(default_factory=list)
    is_free: asyncio.Event = field(default_factory=asyncio.Event)
    """While it is not set, batches wait as they do when the store is away."""

    def values(self, topic: str = "") -> list[bytes | None]:
        """The values of the messages of one topic or all, in the order in which they came."""
        return [message.value for message in self.got if topic in ("", message.topic)]

    async def until(self, is_so: Callable[[], bool], what: str) -> None:
        """Wait; fails with what was read so far."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not is_so():
            assert time.monotonic() < deadline, f"{what}: got {len(self.got)} messages, reads {assigned(self.app)}"
            await asyncio.sleep(PAUSE_SECONDS)

    def handed_out(self) -> int:
        """How many messages the engine was given, wherever they are by now; of partitions that begin with offset 0."""
        consumer: Any = self.app.consumer
        return sum(consumer._progress.expected().values())

    async def until_count(self, count: int) -> None:
        """Wait for so many messages."""
        await self.until(lambda: len(self.got) >= count, f"{count} messages")

    async def until_idle(self) -> None:
        """Wait until every partition was read to its end and is committed that far."""
        await self.until(self.is_idle, "read to the end")

    def is_idle(self) -> bool:
        """Whether nothing is left to be read, as watermarks see it, and what was handled is committed."""
        handled = {TP(m.topic, m.partition): m.offset + 1 for m in self.got}
        consumer: Any = self.app.consumer
        is_committed = not consumer.unacked and not consumer._progress.due()
        ends = assigned(self.app)
        return is_committed and bool(ends) and all(end in (0, handled.get(TP(*key), -1)) for key, end in ends.items())


@asynccontextmanager
async def group(  # noqa: PLR0913  a member is these facts
    connection: Connection,
    role: str,
    topics: Sequence[str],
    folder: Path,
    *,
    reading: Reading = QUICK,
    instance_id: str = "",
    on_batch: Callable[[], Awaitable[None]] | None = None,
) -> AsyncIterator[Group]:
    """One member, running; stopped as a process stops at the end of the block."""
    session = SESSION_SECONDS if reading.is_watched else EMBEDDED_SESSION_SECONDS
    app = make_app(role, connection, folder, reading, session_timeout_seconds=session, instance_id=instance_id)
    member = Group(app)
    member.is_free.set()

    async def handle(messages: Sequence[Message]) -> None:
        if not member.is_free.is_set():
            await member.is_free.wait()
        if on_batch is not None:
            await on_batch()
        member.got.extend(messages)

    register(app, topics, handle, Lifeline(), name=role, batch_size=100, within_seconds=0.1)
    app.finalize()
    await app.start()
    try:
        yield member
    finally:
        member.is_free.set()
        await app.stop()


@asynccontextmanager
async def administrator(connection: Connection) -> AsyncIterator[AIOKafkaAdminClient]:
    """A client that may make topics."""
    admin = AIOKafkaAdminClient(**connection.aiokafka_options())
    await admin.start()
    try:
        yield admin
    finally:
        await admin.close()


async def make_topic(connection: Connection, name: str, partitions: int = 2, **config: str) -> str:
    """A source topic, as its owner makes it; underscores in settings stand for dots. Gives the name back."""
    named = {key.replace("_", "."): value for key, value in config.items()}
    async with administrator(connection) as admin:
        topic = NewTopic(name=name, num_partitions=partitions, replication_factor=1, topic_configs=named)
        answer = await admin.create_topics([topic])
        assert not answer.topic_errors[0][1], answer
    return name


async def delete_topic(connection: Connection, name: str) -> None:
    """Delete it, and return when nobody is shown it any more."""
    async with administrator(connection) as admin:
        await admin.delete_topics([name])
        while name in await admin.list_topics():  # noqa: ASYNC110  a broker sets no event
            await asyncio.sleep(PAUSE_SECONDS)


async def add_partitions(connection: Connection, name: str, total: int) -> None:
    """Give the topic more partitions, ``total`` together, and return when the broker shows them."""
    async with administrator(connection) as admin:
        await admin.create_partitions({name: NewPartitions(total)})
        while len((await admin.describe_topics([name]))[0]["partitions"]) < total:  # noqa: ASYNC110  it sets no event
            await asyncio.sleep(PAUSE_SECONDS)


async def send(  # noqa: PLR0913  a message is these facts
    connection: Connection,
    topic: str,
    values: Collection[bytes | None],
    *,
    partition: int | None = None,
    key: bytes | None = None,
    headers: Sequence[tuple[str, bytes]] = (),
    compression: str | None = None,
    at_ms: int | None = None,
) -> None:
    """Send as a product does, and wait until the broker has all."""
    producer = AIOKafkaProducer(
        **connection.aiokafka_options(), compression_type=compression, max_request_size=20_000_000
    )
    await producer.start()
    try:
        for value in values:
            await producer.send(topic, value, key=key, partition=partition, headers=list(headers), timestamp_ms=at_ms)
        await producer.flush()
    finally:
        await producer.stop()


async def committed(connection: Connection, role: str, topic: str) -> dict[int, int]:
    """What the group has committed of a topic, by partition."""
    async with administrator(connection) as admin:
        found = await admin.list_consumer_group_offsets(f"groundwatch.{role}")
    return {tp.partition: place.offset for tp, place in found.items() if tp.topic == topic}


def numbered(count: int, word: str = "m") -> list[bytes | None]:
    """Values that differ."""
    return [json.dumps([word, number]).encode() for number in range(count)]
