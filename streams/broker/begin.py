"""Where a group begins that has never read a topic: settled once, before the group is joined."""

import asyncio
from collections.abc import Callable, Collection
from datetime import datetime

from aiokafka import TopicPartition
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import KafkaError

from streams.broker.connection import Connection
from streams.broker.lookup import END, Lookup, Offsets, partitions_of
from streams.broker.trouble import explained

LATEST = "latest"
_TRIES, _PAUSE_SECONDS = 30, 1.0


async def matching_topics(connection: Connection, is_wanted: Callable[[str], bool]) -> list[str]:
    """The topics that our user may see and that are wanted. Raises BrokerUnavailable with cause and fix."""
    lookup = Lookup(connection.named("begin"))
    try:
        async with explained(connection):
            return sorted(topic for topic in (await lookup.cluster()).partitions if is_wanted(topic))
    finally:
        await lookup.stop()


async def first_offsets(
    connection: Connection, group: str, topics: Collection[str], start: datetime | str, known: Collection[str]
) -> Offsets:
    """Where partitions begin of those ``topics`` that the group has no offset of and that are not ``known``.

    ``start`` is the word latest or a time. Whoever commits them first wins; two processes that start at once differ by
    what came in between. Raises BrokerUnavailable with cause and fix.
    """
    lookup = Lookup(connection.named("begin"))
    try:
        async with explained(connection):
            read_before = {tp.topic for tp in await _committed(connection, group)}.union(known)
            cluster = await lookup.cluster()
            fresh = {name: cluster.partitions[name] for name in cluster.partitions.keys() & set(topics) - read_before}
            ends = await lookup.offsets(partitions_of(fresh), END)
            if not isinstance(start, datetime):
                return ends
            return ends | await lookup.offsets(ends.keys(), int(start.timestamp() * 1000))
    finally:
        await lookup.stop()


async def _committed(connection: Connection, group: str) -> Collection[TopicPartition]:
    """The partitions that the group has an offset of; on a fresh cluster the coordinator needs some seconds."""
    admin = AIOKafkaAdminClient(**connection.named("begin").aiokafka_options())
    try:
        await admin.start()
        for left in reversed(range(_TRIES)):
            try:
                found = await admin.list_consumer_group_offsets(group)
            except KafkaError as error:
                if not left or not error.retriable:
                    raise
                await asyncio.sleep(_PAUSE_SECONDS)
            else:
                return [tp for tp, place in found.items() if place.offset >= 0]
        return []
    finally:
        await admin.close()
