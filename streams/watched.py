"""Puts a process under watch: what its loop looks at again and again, its probes and its watchdog."""

from datetime import timedelta

import structlog

from streams.clock import utc_now
from streams.health.broker_numbers import BrokerNumbers
from streams.health.counting import CoverageCounter
from streams.health.probe import ClusterTopics, EngineTopics
from streams.health.server import ProbeRoutes
from streams.health.watch import INTERNAL, LOOK_SECONDS, SOURCE, STORE_SECONDS, ServiceChecks, start_watching
from streams.runtime import Runtime
from streams.settings import Role

log = structlog.get_logger(__name__)
COVERED = timedelta(hours=24)
COVERED_SECONDS = 60.0
SILENT_SECONDS = 1800.0
"""Draws wait for a verdict and none came for so long: said in the log, too."""


async def watch(runtime: Runtime) -> ProbeRoutes:
    """Start it all until the runtime's stack closes. Raises ConfigError when the address of the probes is in use."""
    settings = runtime.settings
    connections = {INTERNAL: runtime.internal}
    if Role.INGEST in settings.roles:
        connections[SOURCE] = runtime.source
    checks = ServiceChecks(runtime.health.process, runtime.open_store(), connections, is_embedded=settings.embedded)
    runtime.stack.push_async_callback(checks.stop)
    routes = await start_watching(runtime.health, settings.health, settings.data_dir, runtime.stack)
    runtime.every(LOOK_SECONDS, "look", checks.look)
    runtime.every(STORE_SECONDS, "store check", checks.ask_store)
    runtime.every(settings.health.lag_seconds, "broker check", checks.ask_brokers)
    return routes


def coverage_counter(runtime: Runtime) -> CoverageCounter:
    """Counts coverage with connections of its own, made when it is first asked."""
    settings = runtime.settings
    numbers = [BrokerNumbers(runtime.source), BrokerNumbers(runtime.internal)]
    for one in numbers:
        runtime.stack.push_async_callback(one.stop)
    members = runtime.health.process.members
    source, internal = (EngineTopics(one, members) if settings.embedded else ClusterTopics(one) for one in numbers)
    topics, days = settings.kafka.source.topics, settings.store.retention_days
    pattern = runtime.reading(settings.kafka.source).pattern
    return CoverageCounter(runtime.open_store(), source, internal, topics, days, pattern)


def count_again_and_again(runtime: Runtime) -> None:
    """Count the coverage of the last day each minute, on the process whose alert tick counts, for metrics."""
    counter, health = coverage_counter(runtime), runtime.health

    async def count() -> None:
        process = health.process
        if not any(member.is_leader for member in process.look.signs.members):
            return
        now = utc_now()
        topics = await counter.count(now - COVERED, now)
        health.covered = health.covered.after(topics, process.clock())
        if health.covered.silent_since is not None:
            seconds = process.clock() - health.covered.silent_since
            if seconds >= SILENT_SECONDS:
                log.error("nothing_judged", seconds=round(seconds), see="docs/operations.md")

    runtime.every(COVERED_SECONDS, "coverage", count)
