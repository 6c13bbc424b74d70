"""Our own topics: how they are made, and where existing ones differ. Source topics are never created or altered."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import TopicAlreadyExistsError, for_code

from schemas.errors import BrokerUnavailable
from streams.broker.connection import Connection
from streams.broker.publisher import REQUEST_OVERHEAD_BYTES
from streams.broker.trouble import explained

SPANS = "gw.spans"
DRAWN = "gw.drawn"
VERDICTS = "gw.verdicts"
DEADLETTER = "gw.deadletter"
POLICY = "gw.policy"
NOTIFIED = "gw.notified"
ALERT_LEADER = "groundwatch.alert-__assignor-__leader"
"""Faust elects the alert timer's leader by who owns this one partition; the name is Faust's."""

_HOUR_MS = 3_600_000


@dataclass(frozen=True, slots=True)
class TopicSpec:
    """A topic of ours. ``config`` holds broker settings by their Kafka names."""

    name: str
    partitions: int = 1
    replication: int = 1
    config: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Shape:
    """What the configuration says of our topics. ``max_message_bytes``: the largest that producers may send."""

    partitions: int
    replication: int
    max_message_bytes: int
    min_insync_replicas: int = 1
    retention_hours: int = 168
    dead_letter_retention_hours: int = 168


@dataclass(frozen=True, slots=True)
class Difference:
    """A topic of ours that exists with another setting than the configuration says."""

    topic: str
    setting: str
    found: str
    wanted: str


def own_topics(shape: Shape) -> list[TopicSpec]:
    """Every topic of ours. A dead letter carries headers beside the largest value."""
    partitions, replication = shape.partitions, shape.replication
    common = {"min.insync.replicas": str(shape.min_insync_replicas)}
    large = {**common, "max.message.bytes": str(shape.max_message_bytes)}
    work = {**large, "cleanup.policy": "delete", "retention.ms": str(shape.retention_hours * _HOUR_MS)}
    letters = {
        **work,
        "max.message.bytes": str(shape.max_message_bytes + REQUEST_OVERHEAD_BYTES),
        "retention.ms": str(shape.dead_letter_retention_hours * _HOUR_MS),
    }
    for_ever = {**large, "cleanup.policy": "compact"}
    return [
        TopicSpec(SPANS, partitions, replication, work),
        TopicSpec(DRAWN, partitions, replication, work),
        TopicSpec(VERDICTS, partitions, replication, work),
        TopicSpec(DEADLETTER, partitions, replication, letters),
        TopicSpec(POLICY, 1, replication, for_ever),
        TopicSpec(NOTIFIED, 1, replication, for_ever),
        TopicSpec(ALERT_LEADER, 1, replication, common),
    ]


async def create_topics(connection: Connection, specs: Sequence[TopicSpec]) -> list[str]:
    """Make the topics that are missing and return their names; existing ones are left as they are.

    Raises BrokerUnavailable when the cluster does not answer or refuses.
    """
    admin = AIOKafkaAdminClient(**connection.aiokafka_options())
    try:
        async with explained(connection):
            await admin.start()
            present = set(await admin.list_topics())
            missing = [spec for spec in specs if spec.name not in present]
            made = await _create(admin, missing) if missing else set()
    finally:
        await admin.close()
    return [spec.name for spec in missing if spec.name in made]


async def differences(connection: Connection, specs: Sequence[TopicSpec]) -> list[Difference]:
    """Where topics that exist are not as ``specs`` say; nothing is changed. Raises BrokerUnavailable.

    A setting that our user may not read is not compared.
    """
    admin = AIOKafkaAdminClient(**connection.aiokafka_options())
    try:
        async with explained(connection):
            await admin.start()
            described = {str(one["topic"]): one["partitions"] for one in await admin.describe_topics()}
            present = [spec for spec in specs if spec.name in described]
            configs = await _configs(admin, [spec.name for spec in present])
    finally:
        await admin.close()
    found: list[Difference] = []
    for spec in present:
        partitions = described[spec.name]
        actual = {
            "partitions": str(len(partitions)),
            "replication": str(min((len(one["replicas"]) for one in partitions), default=spec.replication)),
            **configs.get(spec.name, {}),
        }
        wanted = {"partitions": str(spec.partitions), "replication": str(spec.replication), **spec.config}
        found += compared(spec.name, actual, wanted)
    return found


def compared(topic: str, actual: Mapping[str, str], wanted: Mapping[str, str]) -> list[Difference]:
    """The settings that are known and differ, in the order of ``wanted``."""
    return [
        Difference(topic, name, actual[name], value)
        for name, value in wanted.items()
        if actual.get(name, value) != value
    ]


async def _configs(admin: AIOKafkaAdminClient, topics: Sequence[str]) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for answer in await admin.describe_configs([ConfigResource(ConfigResourceType.TOPIC, name) for name in topics]):
        for code, _reason, _kind, name, entries in answer.resources:
            if not code:
                found[name] = {entry[0]: entry[1] for entry in entries}
    return found


async def _create(admin: AIOKafkaAdminClient, specs: Sequence[TopicSpec]) -> set[str]:
    """Those that were made; a topic may be there that the list did not have yet."""
    answer = await admin.create_topics(
        [
            NewTopic(
                name=spec.name,
                num_partitions=spec.partitions,
                replication_factor=spec.replication,
                topic_configs=spec.config,
            )
            for spec in specs
        ]
    )
    made = set()
    for name, code, *_ in answer.topic_errors:
        error = for_code(code)
        if not code:
            made.add(name)
        elif error is not TopicAlreadyExistsError:
            raise BrokerUnavailable(
                f"topic {name} could not be made ({error.__name__}); make it, or let our user make topics"
            )
    return made
