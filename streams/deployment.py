"""What a deployment needs before its roles run: tables, our own topics, a first policy. ``groundwatch migrate``."""

import asyncio
from dataclasses import dataclass

from sampling.policy_file import default_policy
from schemas.policy import PolicyDocument
from streams.agents.policies import PolicyPublisher, read_policies
from streams.broker.connection import Connection
from streams.broker.publisher import Publisher
from streams.broker.topics import Difference, Shape, create_topics, differences, own_topics
from streams.clock import utc_now
from streams.settings import Settings
from streams.store import MigrationReport, Store


@dataclass(frozen=True, slots=True)
class Prepared:
    """What ``prepare`` changed."""

    store: MigrationReport
    topics: list[str]
    differing: list[Difference]
    """Topics of ours that exist with other settings than the configuration's; they stay as they are."""


async def prepare(settings: Settings, internal: Connection, first_policy: PolicyDocument | None = None) -> Prepared:
    """Bring tables and ``gw.*`` topics up to date, and publish a first policy when there is none; safe to repeat.

    Raises StoreUnavailable or BrokerUnavailable.
    """
    store = await asyncio.to_thread(Store.open, settings.store_dsn, database=settings.store.database)
    try:
        report = await asyncio.to_thread(store.migrate, retention_days=settings.store.retention_days)
        specs = own_topics(_shape(settings))
        differing = [] if settings.embedded else await differences(internal, specs)
        topics = await create_topics(internal, specs)
        await _first_policy(settings, internal, store, first_policy or default_policy())
    finally:
        store.close()
    return Prepared(report, topics, differing)


def _shape(settings: Settings) -> Shape:
    kafka = settings.kafka.internal
    return Shape(
        partitions=kafka.partitions,
        replication=kafka.replication,
        max_message_bytes=settings.ingest.max_message_bytes,
        min_insync_replicas=kafka.min_insync_replicas,
        retention_hours=kafka.retention_hours,
        dead_letter_retention_hours=kafka.dead_letter_retention_hours,
    )


async def _first_policy(settings: Settings, internal: Connection, store: Store, document: PolicyDocument) -> None:
    publisher = Publisher(internal, settings.ingest.max_message_bytes)
    await publisher.start()
    try:
        now = utc_now()
        known = await read_policies(internal, await asyncio.to_thread(store.policy_records))
        if not known.log.records:
            await PolicyPublisher(known, publisher, store).send_first(document, now)
            known = await read_policies(internal, ())  # of two that start at once, the first in the topic holds
        await PolicyPublisher(known, publisher, store).beat(now)
    finally:
        await publisher.stop()
