"""A replica whose signs of life and distance from the end of its topic are watched."""

from collections.abc import Callable

from streams.agents.batches import Lifeline
from streams.agents.vitals import Follower
from streams.broker.connection import Connection
from streams.broker.replica import FOLLOW_SECONDS, Replica


def followed(
    connection: Connection, topic: str, on_record: Callable[[bytes | None, bytes | None], None], lifeline: Lifeline
) -> Replica:
    """A replica of ``topic``, not yet started."""
    name = f"follower of {topic}"
    vitals = lifeline.vitals.of_timer(name, FOLLOW_SECONDS)
    replica = Replica(connection, topic, on_record, on_poll=lambda: vitals.done(1))
    lifeline.vitals.followers[name] = Follower(topic, lambda: replica.position)
    return replica
