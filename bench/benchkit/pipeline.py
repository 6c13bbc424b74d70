"""The product's own roles inside a benchmark's process, so that a benchmark may choose policy and detector."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import structlog

from schemas.policy import Allocation, PolicyDocument, Sampling, Thresholds
from streams.agents.batches import Lifeline
from streams.broker.topics import TopicSpec, create_topics
from streams.deployment import prepare
from streams.run import connected
from streams.runtime import Runtime
from streams.settings import Settings
from streams.settings.connect import connection_of

SALT = "benchmarks-draw-with-this-constant-key"


def settings_for(data_dir: Path, address: str, topic: str, **sections: Any) -> Settings:
    """Settings of a deployment on the broker at ``address`` with an embedded store below ``data_dir``.

    Judged by L0 and L1 alone unless ``sections`` say otherwise: a model would take most of the time.
    """
    connection = {"bootstrap_servers": address}
    return Settings(
        embedded=False,
        data_dir=data_dir,
        kafka={"source": {**connection, "topics": (topic,)}, "internal": {**connection, "partitions": 4}},
        ingest={"salt": SALT},
        alerts={"tick_seconds": 2.0},
        web={"port": 0},
        **{"models": {"use": "none"}, **sections},
    )


def everything_drawn(name: str, thresholds: Thresholds | None = None) -> PolicyDocument:
    """A policy that verifies every answer (π = 1)."""
    every = Sampling(allocations=(Allocation(probability=1.0),), default_probability=1.0)
    return PolicyDocument(name=name, sampling=every, thresholds=thresholds or Thresholds())


@asynccontextmanager
async def pipeline(settings: Settings, policy: PolicyDocument, lifeline: Lifeline) -> AsyncIterator[Runtime]:
    """A runtime as ``groundwatch migrate`` and ``groundwatch run`` make it, with ``policy`` as the first one."""
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    source = settings.kafka.source
    await prepare(settings, connection_of(settings.kafka.internal), policy)
    await create_topics(connection_of(source), [TopicSpec(name, 4) for name in source.topics])
    async with connected(settings, lifeline) as runtime:
        yield runtime


def quiet_logs(listener: Any = None) -> None:
    """Drop all log lines but warnings; ``listener`` sees every event first (a structlog processor)."""

    def drop(logger: Any, method: str, event: Any) -> Any:
        if listener is not None:
            listener(logger, method, event)
        if method in {"warning", "error", "exception", "critical"}:
            return event
        raise structlog.DropEvent

    structlog.configure(
        processors=[structlog.stdlib.add_log_level, drop, structlog.dev.ConsoleRenderer(colors=False)],
        cache_logger_on_first_use=False,
    )
