"""What there is of ours on clusters and in the store, and removing it; source topics are neither read nor touched."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import KafkaError, UnknownTopicOrPartitionError, for_code

from streams.agents.app import GROUP_PREFIX
from streams.broker.connection import Connection
from streams.broker.topics import Shape, own_topics
from streams.broker.trouble import explained
from streams.cli.detach import Detached, FoundGroup
from streams.cli.detach_groups import delete_groups, find_groups
from streams.cli.detach_left import HIDDEN, Kind, Left, remedies
from streams.cli.opened import require_made
from streams.settings import Role, Settings
from streams.settings.connect import connection_of
from streams.store.removal import drop_tables, own_tables

INGEST_GROUP = f"{GROUP_PREFIX}{Role.INGEST}"
GROUPS_INSIDE = [f"{GROUP_PREFIX}{role}" for role in (Role.ASSEMBLE, Role.VERIFY, Role.SINK, Role.ALERT)]
GROUPS = [INGEST_GROUP, *GROUPS_INSIDE]


def look(settings: Settings, *, keeps_topics: bool, with_store: bool) -> Detached:
    """What would be removed. Raises BrokerUnavailable, StoreUnavailable, NotReached."""
    found = Detached() if settings.embedded else asyncio.run(_look(settings, keeps_topics=keeps_topics))
    if not with_store:
        return found
    require_made(settings)
    tables = own_tables(settings.store_dsn, database=settings.store.database)
    return found.model_copy(update={"tables": tuple(tables)})


def remove(settings: Settings, plan: Detached) -> Detached:
    """Remove what was found; what is left is named. Raises what ``look`` raises; running it again removes the rest."""
    if not settings.embedded:
        plan = asyncio.run(_remove(settings, plan))
    if plan.tables:
        drop_tables(settings.store_dsn, database=settings.store.database)
    return plan


async def _look(settings: Settings, *, keeps_topics: bool) -> Detached:
    groups: list[FoundGroup] = []
    hidden: list[Left] = []
    for cluster, connection in _clusters(settings).items():
        async with _admin(connection) as admin:
            found = await find_groups(admin, GROUPS, _groups_on(settings, cluster))
        hidden += [_left(Kind.GROUP, cluster, group.name, HIDDEN) for group in found if group.is_hidden]
        groups += [
            FoundGroup(cluster=cluster, name=group.name, members=group.members)
            for group in found
            if not group.is_hidden
        ]
    topics: list[str] = []
    if not keeps_topics:
        async with _admin(connection_of(settings.kafka.internal)) as admin:
            present = set(await admin.list_topics())
        topics = [name for name in _own_topics() if name in present]
    return _with_left(settings, Detached(groups=tuple(groups), topics=tuple(topics)), hidden)


async def _remove(settings: Settings, plan: Detached) -> Detached:
    """Groups first: without its topics a group could not be told from one that never worked."""
    clusters, left = _clusters(settings), list(plan.left)
    for cluster in dict.fromkeys(group.cluster for group in plan.groups):
        names = [group.name for group in plan.groups if group.cluster == cluster]
        async with _admin(clusters[cluster]) as admin:
            refused = await delete_groups(clusters[cluster], admin, names)
        left += [_left(Kind.GROUP, cluster, name, error.__name__) for name, error in refused.items()]
    if plan.topics:
        internal = settings.kafka.internal
        async with _admin(connection_of(internal)) as admin:
            refused = await _delete_topics(admin, plan.topics)
        left += [_left(Kind.TOPIC, internal.bootstrap_servers, name, error.__name__) for name, error in refused.items()]
    return _with_left(settings, plan, left)


async def _delete_topics(admin: AIOKafkaAdminClient, topics: Sequence[str]) -> dict[str, type[KafkaError]]:
    """Those that are left, with the broker's error; one that is gone already is fine."""
    answer = await admin.delete_topics(list(topics))
    return {
        name: for_code(code)
        for name, code, *_ in answer.topic_error_codes
        if code and code != UnknownTopicOrPartitionError.errno
    }


def _groups_on(settings: Settings, cluster: str) -> list[str]:
    """Where two clusters are used, each has groups of its own, and rights for those alone."""
    source, internal = (one.bootstrap_servers == cluster for one in (settings.kafka.source, settings.kafka.internal))
    return [*([INGEST_GROUP] if source else ()), *(GROUPS_INSIDE if internal else ())]


def _left(kind: Kind, cluster: str, name: str, why: str) -> Left:
    return Left(kind=kind, cluster=cluster, name=name, why=why)


def _with_left(settings: Settings, found: Detached, left: Sequence[Left]) -> Detached:
    """Without what is left among the things that are, or would be, removed."""
    names = {(one.kind, one.cluster, one.name) for one in left}
    internal = settings.kafka.internal.bootstrap_servers
    users = {one.bootstrap_servers: one.sasl_username for one in (settings.kafka.source, settings.kafka.internal)}
    return found.model_copy(
        update={
            "groups": tuple(one for one in found.groups if (Kind.GROUP, one.cluster, one.name) not in names),
            "topics": tuple(one for one in found.topics if (Kind.TOPIC, internal, one) not in names),
            "left": tuple(left),
            "remedies": tuple(remedies(left, users)),
        }
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
