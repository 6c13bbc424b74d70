"""``groundwatch coverage``: what was produced against what became of it, by source topic."""

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from schemas.errors import NotReached
from streams.cli.display import json_line, stdout
from streams.cli.exits import ExitCode
from streams.cli.options import AsJson, ConfigFile, Since, moment_of, settings_of
from streams.clock import utc_now
from streams.settings import Settings
from streams.settings.connect import connection_of, reading_of

if TYPE_CHECKING:
    from streams.health.coverage import TopicCoverage
    from streams.store import Store

SHOWN = timedelta(hours=24)
Topics = Annotated[
    list[str] | None, typer.Option("--topic", help="Only this source topic; may be repeated. Left out: all of them.")
]


def coverage(config: ConfigFile = None, since: Since = "", topic: Topics = None, as_json: AsJson = False) -> None:
    """Account for every message of the source topics, and for every trace in them: stored, drawn, judged, or why not.

    Numbers come from the brokers (what is there, what was read) and the store; what comes twice counts once, also over
    restarts. Messages are counted from the first one recorded since --since (24 hours when left out)
    that this version has handled. Exit code 0 when all is accounted for or in flight, 1 when something is missing.

    For example:

    - `groundwatch coverage`

    - `groundwatch coverage --since 7d --topic rag.traces --json | jq .messages.missing`
    """
    now = utc_now()
    found = read_coverage(settings_of(config), moment_of(since, now, "--since") or now - SHOWN, topic or [])
    for one in found:
        if as_json:
            json_line(one.model_dump(mode="json"))
    if not as_json:
        from streams.cli.coverage_view import describe  # noqa: PLC0415  the store's client is slow to import

        stdout().print(describe(found) if found else "No such topic is read.")
    if any(one.broken for one in found):
        raise typer.Exit(ExitCode.FOUND_FAULTS)


def read_coverage(settings: Settings, since: datetime, topics: Sequence[str]) -> "list[TopicCoverage]":
    """By source topic. Raises NotReached, StoreUnavailable, BrokerUnavailable, ConfigError."""
    from streams.cli.opened import opened_store, running_process  # noqa: PLC0415  as above
    from streams.health.coverage import TopicCoverage  # noqa: PLC0415

    if process := running_process(settings):
        rows = process.get("/api/v1/coverage", is_long=True, since=since.isoformat(), topic=list(topics))
        return [TopicCoverage.model_validate(row) for row in rows]
    if settings.embedded:
        raise NotReached(
            f"nothing runs on {settings.data_dir}, and its embedded broker has forgotten what was in it; "
            "start `groundwatch run`"
        )
    with opened_store(settings, read_only=True) as store:
        return asyncio.run(_counted(settings, store, since, topics))


async def _counted(settings: Settings, store: "Store", since: datetime, topics: Sequence[str]) -> "list[TopicCoverage]":
    from streams.health.broker_numbers import BrokerNumbers  # noqa: PLC0415  as above
    from streams.health.counting import CoverageCounter  # noqa: PLC0415
    from streams.health.probe import ClusterTopics  # noqa: PLC0415

    source = BrokerNumbers(connection_of(settings.kafka.source))
    internal = BrokerNumbers(connection_of(settings.kafka.internal))
    try:
        counter = CoverageCounter(
            store,
            ClusterTopics(source),
            ClusterTopics(internal),
            settings.kafka.source.topics,
            settings.store.retention_days,
            reading_of(settings.kafka.source, is_embedded=settings.embedded).pattern,
        )
        return await counter.count(since, utc_now(), topics)
    finally:
        await source.stop()
        await internal.stop()
