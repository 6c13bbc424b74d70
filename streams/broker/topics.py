"""Our own topics, and how they are made. Source topics are never created or altered."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.errors import KafkaError, TopicAlreadyExistsError, for_code

from schemas.errors import BrokerUnavailable
from streams.broker.connection import Connection
from streams.broker.publisher import REQUEST_OVERHEAD_BYTES

SPANS = "gw.spans"
DRAWN = "gw.drawn"
VERDICTS = "gw.verdicts"
DEADLETTER = "gw.deadletter"
POLICY = "gw.policy"
NOTIFIED = "gw.notified"
ALERT_LEADER = "groundwatch.alert-__assignor-__leader"
"""Faust elects the alert timer's leader by who owns this one partition; the name is Faust's."""

_DAY_MS = 86_400_000


@dataclass(frozen=True, slots=True)
class TopicSpec:
    """A topic of ours. ``config`` holds broker settings by their Kafka names."""

    name: str
    partitions: int = 1
    replication: int = 1
    config: dict[str, str] = field(default_factory=dict)


def own_topics(partitions: int, replication: int, max_message_bytes: int) -> list[TopicSpec]:
    """Every ``gw.*`` topic. ``max_message_bytes`` equals the largest message that producers may send (DESIGN 1).

    A dead letter carries headers beside a value of that size.
    """
    large = {"max.message.bytes": str(max_message_bytes)}
    work = {**large, "retention.ms": str(7 * _DAY_MS)}
    letters = {**work, "max.message.bytes": str(max_message_bytes + REQUEST_OVERHEAD_BYTES)}
    for_ever = {**large, "cleanup.policy": "compact"}
    return [
        TopicSpec(SPANS, partitions, replication, work),
        TopicSpec(DRAWN, partitions, replication, work),
        TopicSpec(VERDICTS, partitions, replication, work),
        TopicSpec(DEADLETTER, partitions, replication, letters),
        TopicSpec(POLICY, 1, replication, for_ever),
        TopicSpec(NOTIFIED, 1, replication, for_ever),
        TopicSpec(ALERT_LEADER, 1, replication),
    ]


async def create_topics(connection: Connection, specs: Sequence[TopicSpec]) -> list[str]:
    """Make the topics that are missing and return their names; existing ones are left as they are.

    Raises BrokerUnavailable when the cluster does not answer or refuses.
    """
    admin = AIOKafkaAdminClient(**connection.aiokafka_options())
    try:
        await admin.start()
        present = set(await admin.list_topics())
        missing = [spec for spec in specs if spec.name not in present]
        if missing:
            await _create(admin, missing)
    except KafkaError as error:
        raise BrokerUnavailable(
            f"topics could not be made ({type(error).__name__}); start the broker, then try again"
        ) from error
    finally:
        await admin.close()
    return [spec.name for spec in missing]


async def _create(admin: AIOKafkaAdminClient, specs: Sequence[TopicSpec]) -> None:
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
    for name, code, *_ in answer.topic_errors:
        error = for_code(code)
        if code and error is not TopicAlreadyExistsError:
            raise BrokerUnavailable(
                f"topic {name} could not be made ({error.__name__}); make it, or let our user make topics"
            )
