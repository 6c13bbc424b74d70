"""What there is of ours on clusters and in the store, and removing it; source topics are neither read nor touched."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import UnknownTopicOrPartitionError, for_code

from schemas.errors import BrokerUnavailable
from streams.agents.app import GROUP_PREFIX
from streams.broker.connection import Connection
from streams.broker.topics import Shape, own_topics
from streams.broker.trouble import explained
from streams.cli.detach import Detached, LeftGroup
from streams.cli.detach_groups import delete_groups, find_groups
from streams.cli.opened import require_made
from streams.settings import Role, Settings
from streams.settings.connect import connection_of
from streams.store.removal import drop_tables, own_tables

GROUPS = [f"{GROUP_PREFIX}{role}" for role in Role]


def look(settings: Settings, *, keeps_topics: bool, with_store: bool) -> Detached:
    """What would be removed. Raises BrokerUnavailable, StoreUnavailable, NotReached."""
    found = Detached() if settings.embedded else asyncio.run(_look(settings, keeps_topics=keeps_topics))
    if not with_store:
        return found
    require_made(settings)
    tables = own_tables(settings.store_dsn, database=settings.store.database)
    return found.model_copy(update={"tables": tuple(tables)})


def remove(settings: Settings, plan: Detached) -> None:
    """Remove what was found. Raises what ``look`` raises; running it again removes the rest."""
    if not settings.embedded:
        asyncio.run(_remove(settings, plan))
    if plan.tables:
        drop_tables(settings.store_dsn, database=settings.store.database)


async def _look(settings: Settings, *, keeps_topics: bool) -> Detached:
    groups: list[LeftGroup] = []
    for cluster, connection in _clusters(settings).items():
        async with _admin(connection) as admin:
            found = await find_groups(admin, GROUPS)
        groups += [LeftGroup(cluster=cluster, name=group.name, members=group.members) for group in found]
    topics: list[str] = []
    if not keeps_topics:
        async with _admin(connection_of(settings.kafka.internal)) as admin:
            present = set(await admin.list_topics())
        topics = [name for name in _own_topics() if name in present]
    return Detached(groups=tuple(groups), topics=tuple(topics))


async def _remove(settings: Settings, plan: Detached) -> None:
    """Groups first: without its topics a group could not be told from one that never worked."""
    clusters = _clusters(settings)
    for cluster in dict.fromkeys(group.cluster for group in plan.groups):
        names = [group.name for group in plan.groups if group.cluster == cluster]
        async with _admin(clusters[cluster]) as admin:
            await delete_groups(clusters[cluster], admin, names)
    if plan.topics:
        async with _admin(connection_of(settings.kafka.internal)) as admin:
            await _delete_topics(admin, plan.topics)


async def _delete_topics(admin: AIOKafkaAdminClient, topics: Sequence[str]) -> None:
    answer = await admin.delete_topics(list(topics))
    for name, code, *_ in answer.topic_error_codes:
        if code and code != UnknownTopicOrPartitionError.errno:
            raise BrokerUnavailable(
                f"topic {name} could not be deleted ({for_code(code).__name__}); our user needs the right Delete on "
                "it, and delete.topic.enable must be on; or use --keep-topics and delete it by hand"
            )


def _own_topics() -> list[str]:
    return [spec.name for spec in own_topics(Shape(1, 1, 1))]


def _clusters(settings: Settings) -> dict[str, Connection]:
    """Both clusters by the address under which they are set; one where they are the same."""
    sections = (settings.kafka.source, settings.kafka.internal)
    return {section.bootstrap_servers: connection_of(section) for section in sections}


@asynccontextmanager
async def _admin(connection: Connection) -> AsyncIterator[AIOKafkaAdminClient]:
    admin = AIOKafkaAdminClient(**connection.aiokafka_options())
    try:
        async with explained(connection):
            await admin.start()
            yield admin
    finally:
        await admin.close()
