"""The one loop around every agent: take a batch, handle it until it is done, acknowledge it in offset order, commit.

Faust counts a message as done when an agent raises, so nothing may leave an agent body: what passes is waited for,
what is left ends the process before the offsets move (docs/delivery.md).
"""

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import faust
import structlog
from tenacity import AsyncRetrying, retry_if_exception_type, wait_exponential_jitter

from schemas.errors import Retryable
from streams.messages import Message, from_events

log = structlog.get_logger(__name__)
EXIT_BUG = 70
CEILING = "dead-letter ceiling"
"""How the reason of a stop begins when too many messages were bad."""
FAILED = "failed"
"""How it begins when a part of the process could not go on."""
PART_BYTES = 16_000_000
"""Values handled at once, however many messages a batch has: memory and the store's limit on one insert."""
Handle = Callable[[Sequence[Message]], Awaitable[None]]


class Stopping(Exception):
    """The process is stopping while a batch still waits; the batch is not acknowledged and comes again."""


class CeilingReached(Exception):
    """Too many messages are bad: going on would drain a whole topic into the dead letter."""


@dataclass(slots=True)
class Lifeline:
    """Shared by the agents of a process: whether it is stopping, and why it must."""

    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    stop_reason: str = ""

    def stop(self, reason: str) -> None:
        """Ask the process shell to drain and end; the first reason is kept."""
        self.stop_reason = self.stop_reason or reason
        self.stopping.set()


def register(  # noqa: PLR0913  an agent is these seven facts
    app: faust.App,
    topics: Sequence[str],
    handle: Handle,
    lifeline: Lifeline,
    *,
    name: str,
    batch_size: int,
    within_seconds: float,
) -> None:
    """Attach an agent to ``topics`` that passes batches to ``handle``.

    ``handle`` returns when every message of the batch is safe elsewhere. Retryable makes it run again on the same
    batch after a pause, until it succeeds or the process stops; any other exception ends the process with code 70.
    """

    async def agent(stream: Any) -> None:
        stream = stream.noack()  # before noack_take: otherwise a crash acknowledges what was never handled
        async for events in stream.noack_take(batch_size, within=within_seconds):
            try:
                for part in in_parts(from_events(events), PART_BYTES):
                    await _until_done(handle, part, lifeline, name)
                for event in events:
                    await stream.ack(event)
                await app.commit({events[0].message.topic})
            except Stopping:
                return
            except CeilingReached as error:
                log.error("agent_stopped", agent=name, reason=str(error))  # noqa: TRY400  the reason is all there is
                lifeline.stop(str(error))
                await asyncio.Event().wait()  # holds the batch unacknowledged until the shell ends the process
            except asyncio.CancelledError:
                raise
            except BaseException as error:  # noqa: BLE001  the guard: nothing may leave an agent body
                _fail_stop(name, error)

    app.agent(app.topic(*topics, allow_empty=True), concurrency=1, name=f"{app.conf.id}.{name}")(agent)


def in_parts(messages: Sequence[Message], max_bytes: int) -> list[list[Message]]:
    """The batch in order, cut so that no part of several messages has more than ``max_bytes`` in its values."""
    parts: list[list[Message]] = []
    room = 0
    for message in messages:
        size = len(message.value or b"")
        if not parts or size > room:
            parts.append([])
            room = max_bytes
        parts[-1].append(message)
        room -= size
    return parts


async def _until_done(handle: Handle, messages: list[Message], lifeline: Lifeline, name: str) -> None:
    async for attempt in AsyncRetrying(
        retry=retry_if_exception_type(Retryable),
        wait=wait_exponential_jitter(initial=0.2, max=10),
        sleep=lambda seconds: _pause(seconds, lifeline),
        before_sleep=lambda state: log.warning(
            "batch_waits",
            agent=name,
            messages=len(messages),
            attempt=state.attempt_number,
            error=str(state.outcome.exception()) if state.outcome else "",
        ),
    ):
        with attempt:
            await handle(messages)


async def _pause(seconds: float, lifeline: Lifeline) -> None:
    try:
        await asyncio.wait_for(lifeline.stopping.wait(), seconds)
    except TimeoutError:
        return
    raise Stopping


def _fail_stop(name: str, error: BaseException) -> None:
    log.error("agent_failed", agent=name, consequence="process ends; its messages come again", exc_info=error)
    os._exit(EXIT_BUG)
