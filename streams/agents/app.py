"""The Faust application of a role, with the settings that make delivery at-least-once (docs/delivery.md)."""

from pathlib import Path
from typing import cast

import faust
from faust.exceptions import ConsumerNotStarted
from mode import CrashingSupervisor

from streams.broker.connection import Connection
from streams.broker.group import GroupConsumer
from streams.broker.reading import Reading
from streams.broker.transport import GroupTransport

STREAM_BUFFER = 8192
"""At least 2.5 times the messages processed in a second, or Faust's fetcher naps for a second under backpressure."""
MAX_POLL_RECORDS = 500
"""Messages that are unpacked at once; what was fetched beyond them stays packed."""
GROUP_PREFIX = "groundwatch."
MAX_POLL_INTERVAL_SECONDS = 10 * 365 * 86_400.0
"""Never: a worker that holds its messages through an outage, however long, must not give up its place, since aiokafka
does not take it again. What stands still for another reason is the watchdog's to find."""


def make_app(  # noqa: PLR0913  an app is these facts
    role: str,
    connection: Connection,
    work_dir: Path,
    reading: Reading,
    *,
    session_timeout_seconds: float = 15.0,
    instance_id: str = "",
    is_timer: bool = False,
    holds: bool = False,
) -> faust.App:
    """An app in consumer group ``groundwatch.<role>``; ``is_timer`` keeps Faust's leader election on.

    After a crash, partitions of a dead worker are handed over once its session has timed out; ``instance_id`` (unique
    in the fleet, stable over restarts) lets a restarted worker take its own back at once. ``holds``: the agent keeps
    messages unacknowledged on purpose, so a rebalance or a stop must not wait until none is left.
    """
    named = connection.named(role)
    app = faust.App(
        f"{GROUP_PREFIX}{role}",
        **named.faust_options(),
        datadir=str(work_dir / f"faust-{role}"),
        key_serializer="raw",
        value_serializer="raw",
        agent_supervisor=CrashingSupervisor,
        stream_wait_empty=not holds,
        stream_buffer_maxsize=STREAM_BUFFER,
        broker_commit_interval=1.0,
        broker_max_poll_records=MAX_POLL_RECORDS,
        broker_max_poll_interval=MAX_POLL_INTERVAL_SECONDS,
        broker_session_timeout=session_timeout_seconds,
        broker_rebalance_timeout=60.0,
        broker_heartbeat_interval=session_timeout_seconds / 5,
        consumer_auto_offset_reset="earliest",
        consumer_group_instance_id=f"{instance_id}.{role}" if instance_id else "",
        table_standby_replicas=0,
        topic_disable_leader=not is_timer,
        topic_allow_declare=False,
        web_enabled=False,
        loghandlers=[],
    )
    app.transport = GroupTransport(app, named, reading)
    return app


def assigned(app: faust.App) -> dict[tuple[str, int], int | None]:
    """The partitions that the app reads, each with the offset behind its last message; empty until it has started.

    None while the partition has more than was handed to the agent. 0 when it has nothing at all, or nothing since it
    was given to this process. Markers of transactions at its end do not count: no message will ever come from them.
    """
    if not app.started or app.rebalancing:
        return {}
    try:
        consumer = cast("GroupConsumer", app.consumer)  # made by the transport above
        return {(tp.topic, tp.partition): consumer.readable_end(tp) for tp in consumer.assignment()}
    except ConsumerNotStarted:  # the app says that it has started a moment before its consumer has
        return {}
