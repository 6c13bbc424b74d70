"""What the commands on dead letters do, apart from talking to the user: Kafka directly, the store through its owner."""

import asyncio
import json
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Any

from schemas.errors import NotReached
from streams.agents.batches import Lifeline
from streams.api.deadletters import MOST, PATH
from streams.broker.connection import Connection
from streams.cli.opened import running_process
from streams.cli.reach import LONG_TIMEOUT_SECONDS
from streams.deadletters.envelope import Whole
from streams.deadletters.letters import Position
from streams.deadletters.reading import Found, read_letters, read_whole
from streams.deadletters.replaying import Outcome, preview
from streams.deadletters.running import replay_letters
from streams.logging import configure_logging
from streams.run import connected
from streams.run_file import embedded_servers
from streams.settings import Settings
from streams.settings.connect import connection_of
from streams.sources.decode import SourceDecoder

OnDone = Callable[[int], None]
CHUNK = 200
"""Letters asked of a running process at a time: some seconds of work."""


def letters_of(settings: Settings, since: datetime | None) -> Found:
    """Every letter since a moment. Raises NotReached, BrokerUnavailable."""
    return asyncio.run(read_letters(_connection(settings), since))


def whole_of(settings: Settings, position: Position) -> Whole:
    """One letter with its content. Raises NotReached when it is not there (any longer)."""

    async def read() -> Whole | None:
        found = None
        async for whole in read_whole(_connection(settings), [position]):
            found = whole
        return found

    found = asyncio.run(read())
    if found is None:
        raise NotReached(f"no letter {position}; `groundwatch deadletter list --all` shows those that are kept")
    return found


def previewed(settings: Settings, positions: Sequence[Position], on_done: OnDone) -> list[Outcome]:
    """What the configuration as it is now makes of the letters; nothing is sent or stored."""

    async def run() -> list[Outcome]:
        limit = settings.ingest.max_message_bytes
        decoder = SourceDecoder.of(settings.sources, max_message_bytes=limit)
        outcomes = []
        try:
            async for whole in read_whole(_connection(settings), positions):
                outcomes += await preview([whole], decoder.decode, limit)
                on_done(len(outcomes))
        finally:
            await decoder.close()
        return outcomes

    return asyncio.run(run())


def replayed(settings: Settings, positions: Sequence[Position], on_done: OnDone) -> list[Outcome]:
    """What became of the letters: through the running process, which owns the store, or else directly."""
    process = running_process(settings, LONG_TIMEOUT_SECONDS)
    if process is not None:
        outcomes = []
        for chunk in _chunks(positions, min(CHUNK, MOST)):
            rows: list[Any] = process.post(PATH, json.dumps({"letters": [str(position) for position in chunk]}))
            outcomes += [Outcome.model_validate(row) for row in rows]
            on_done(len(outcomes))
        return outcomes
    return asyncio.run(_directly(settings, positions, on_done))


async def _directly(settings: Settings, positions: Sequence[Position], on_done: OnDone) -> list[Outcome]:
    _connection(settings)  # embedded, there is nothing without a process
    configure_logging("warning", settings.log.format)  # standard output is for the result
    outcomes: list[Outcome] = []
    async with connected(settings, Lifeline()) as runtime:
        for chunk in _chunks(positions, CHUNK):
            outcomes += await replay_letters(runtime, settings, chunk)
            on_done(len(outcomes))
    return outcomes


def _chunks(positions: Sequence[Position], size: int) -> Iterator[Sequence[Position]]:
    for start in range(0, len(positions), size):
        yield positions[start : start + size]


def _connection(settings: Settings) -> Connection:
    """The cluster of our own topics; embedded, that of the running process."""
    if not settings.embedded:
        return connection_of(settings.kafka.internal)
    fix = "it keeps nothing over a restart: start `groundwatch run`, or set `embedded: false` and kafka.internal"
    return Connection(embedded_servers(settings.data_dir, fix))
