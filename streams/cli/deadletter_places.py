"""Moving the place of the ingest group on one partition, which works only while nobody is in the group.

The store is told what was skipped, so that coverage does not take it for lost.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiokafka import TopicPartition
from aiokafka.errors import KafkaError

from schemas.errors import ConfigError, GroundwatchError, NotReached
from streams.broker.consumer import KafkaConsumer
from streams.broker.lookup import BEGINNING, END, Lookup
from streams.broker.trouble import explained
from streams.cli.deadletter_skip import Skipped
from streams.cli.opened import opened_store
from streams.clock import utc_now
from streams.settings import Role, Settings
from streams.settings.connect import connection_of
from streams.store import Stretch

GROUP = f"groundwatch.{Role.INGEST}"


def planned(settings: Settings, topic: str, partition: int, to: int) -> Skipped:
    """What a move would skip. Raises NotReached for a partition that is not there, ConfigError for a wrong offset."""
    return asyncio.run(_planned(settings, topic, partition, to))


def moved(settings: Settings, plan: Skipped) -> None:
    """Commit the place and put down what is skipped.

    Raises NotReached while somebody reads with the group, and what opening the store raises; then the place is as it
    was.
    """
    asyncio.run(_move(settings, plan, plan.after))
    if not plan.messages:
        return
    try:
        with opened_store(settings, read_only=False) as store:
            store.fates.skip(Stretch(plan.topic, plan.partition, plan.before, plan.after), utc_now())
    except GroundwatchError:
        asyncio.run(_move(settings, plan, plan.before))
        raise


async def _planned(settings: Settings, topic: str, partition: int, to: int) -> Skipped:
    place = TopicPartition(topic, partition)
    first, end = await _bounds(settings, place)
    if not first <= to <= end:
        raise ConfigError(f"--to {to}: {topic} {partition} holds offsets {first} to {end}; give one of these")
    async with _consumer(settings) as consumer:
        consumer.assign([place])
        before = await consumer.committed(place)
    begin = first if before is None else before
    return Skipped(topic=topic, partition=partition, before=begin, after=to, messages=max(0, to - begin))


async def _bounds(settings: Settings, place: TopicPartition) -> tuple[int, int]:
    connection = connection_of(settings.kafka.source)
    lookup = Lookup(connection)
    try:
        async with explained(connection):
            if not (await lookup.cluster()).has(place):
                raise NotReached(f"{place.topic} has no partition {place.partition}, or our user may not see it")
            first = await lookup.offsets([place], BEGINNING)
            end = await lookup.offsets([place], END)
    finally:
        await lookup.stop()
    return first.get(place, 0), end.get(place, 0)


async def _move(settings: Settings, plan: Skipped, to: int) -> None:
    place = TopicPartition(plan.topic, plan.partition)
    async with _consumer(settings) as consumer:
        consumer.assign([place])
        try:
            await consumer.commit({place: to})
        except KafkaError as error:
            raise NotReached(
                f"the place of {GROUP} was not moved ({type(error).__name__}): stop every process with the role "
                "ingest, wait until its session has ended (15 s), and try again"
            ) from error


@asynccontextmanager
async def _consumer(settings: Settings) -> AsyncIterator[KafkaConsumer]:
    connection = connection_of(settings.kafka.source)
    consumer = KafkaConsumer(**connection.aiokafka_options(), group_id=GROUP, enable_auto_commit=False)
    try:
        async with explained(connection):
            await consumer.start()
            yield consumer
    finally:
        await consumer.stop()
