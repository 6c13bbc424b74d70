"""The one loop around every agent: take a batch, handle it until it is done, acknowledge it in offset order, commit.

Faust counts a message as done when an agent raises, so nothing may leave an agent body: what passes is waited for,
what is left ends the process before the offsets move (docs/delivery.md).
"""

import asyncio
import os
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import faust
import structlog
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, wait_exponential_jitter

from schemas.errors import Retryable
from streams.agents.vitals import AllVitals
from streams.messages import Message, from_events

log = structlog.get_logger(__name__)
EXIT_BUG = 70
CEILING = "dead-letter ceiling"
"""How the reason of a stop begins when too many messages were bad."""
FAILED = "failed"
"""How it begins when a part of the process could not go on."""
PART_BYTES = 16_000_000
"""Values handled at once, however many messages a batch has: memory and the store's limit on one insert."""
DRAIN_NAP_SECONDS = 0.5
"""Between two attempts while the process stops."""
Handle = Callable[[Sequence[Message]], Awaitable[None]]
Step = Callable[[], Awaitable[None]]
Partition = tuple[str, int]
Held = Callable[[], Mapping[Partition, int]]
"""By partition the offset from which on nothing may be acknowledged yet."""


class CeilingReached(Exception):
    """Too many messages are bad: going on would drain a whole topic into the dead letter."""


@dataclass(slots=True)
class Lifeline:
    """Shared by the agents of a process: whether it is stopping, why it must, and what each of them is doing."""

    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    stop_reason: str = ""
    vitals: AllVitals = field(default_factory=AllVitals)

    def stop(self, reason: str) -> None:
        """Ask the process shell to drain and end; the first reason is kept."""
        self.stop_reason = self.stop_reason or reason
        self.stopping.set()


class Agent:
    """One agent: its loop, and what it has handled but not acknowledged because something earlier is still held.

    Most agents hold nothing: everything is acknowledged as soon as it was handled.
    """

    def __init__(self, app: faust.App, name: str, lifeline: Lifeline, held: Held) -> None:
        self._app = app
        self._name = name
        self._lifeline = lifeline
        self._vitals = lifeline.vitals.of(name)
        self._held = held
        self._stream: Any = None
        self._waiting: defaultdict[Partition, deque[Any]] = defaultdict(deque)
        self._turn = asyncio.Lock()
        self._lost: set[Partition] = set()

    async def run(self, stream: Any, handle: Handle, batch_size: int, within_seconds: float) -> None:
        """Take batches until the stream ends; never raises."""
        self._stream = stream.noack()  # before noack_take: otherwise a crash acknowledges what was never handled
        async for events in self._stream.noack_take(batch_size, within=within_seconds):
            parts = in_parts(from_events(events), PART_BYTES)
            steps = [(partial(self._handle_kept, handle, part), len(part)) for part in parts]
            await self._guarded(steps, events)

    async def pulse(self, step: Step) -> None:
        """Run a step between two batches, then acknowledge what is no longer held: time alone may release messages."""
        await self._guarded([(step, 0)])

    def lose(self, partitions: Iterable[Partition]) -> None:
        """These partitions were taken away: what waits of them is read again by whoever has them now."""
        self._lost.update(partitions)
        for partition in partitions:
            self._waiting.pop(partition, None)

    async def _handle_kept(self, handle: Handle, messages: Sequence[Message]) -> None:
        """A batch that is tried again leaves out what was taken away meanwhile."""
        kept = [message for message in messages if (message.topic, message.partition) not in self._lost]
        if kept:
            await handle(kept)
            self._vitals.read((message.position for message in kept), kept[-1].recorded_at)

    async def _guarded(self, steps: Sequence[tuple[Step, int]], events: Sequence[Any] = ()) -> None:
        """The guard around it all, since nothing may leave an agent body."""
        try:
            async with self._turn:
                self._lost.clear()
                self._vitals.begin()
                for step, messages in steps:
                    await _until_done(step, messages, self._lifeline, self._name)
                for event in events:
                    partition = (event.message.topic, event.message.partition)
                    if partition not in self._lost:
                        self._waiting[partition].append(_position_alone(event))
                await self._release()
                self._vitals.done(len(events))
        except CeilingReached as error:
            log.error("agent_stopped", agent=self._name, reason=str(error))  # noqa: TRY400  the reason is all there is
            self._lifeline.stop(str(error))
            await asyncio.Event().wait()  # holds the batch unacknowledged until the shell ends the process
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # noqa: BLE001  the guard
            _fail_stop(self._name, error)

    async def _release(self) -> None:
        """Acknowledge in offset order up to the first message that is held, and commit."""
        held = self._held()
        topics = set()
        for (topic, partition), waiting in self._waiting.items():
            bound = held.get((topic, partition))
            while waiting and (bound is None or waiting[0].message.offset < bound):
                await self._stream.ack(waiting.popleft())
                topics.add(topic)
        if topics:
            await self._app.commit(topics)


def register(  # noqa: PLR0913  an agent is these eight facts
    app: faust.App,
    topics: Sequence[str],
    handle: Handle,
    lifeline: Lifeline,
    *,
    name: str,
    batch_size: int,
    within_seconds: float,
    held: Held = dict,
) -> Agent:
    """Attach an agent to ``topics`` that passes batches to ``handle``.

    ``handle`` returns when every message of the batch is safe elsewhere, or ``held`` names its offset or an earlier one
    of its partition. Retryable makes it run again on the same batch after a pause, until it succeeds or the process
    ends; any other exception ends the process with code 70.
    """
    agent = Agent(app, name, lifeline, held)

    async def body(stream: Any) -> None:
        await agent.run(stream, handle, batch_size, within_seconds)

    app.agent(app.topic(*topics, allow_empty=True), concurrency=1, name=f"{app.conf.id}.{name}")(body)
    return agent


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


def _position_alone(event: Any) -> Any:
    """The event without its content: what waits to be acknowledged must not keep in memory all that was read since."""
    message = event.message
    event.key = event.value = event.headers = None
    message.key = message.value = message.headers = None
    return event


async def _until_done(step: Step, messages: int, lifeline: Lifeline, name: str) -> None:
    async for attempt in AsyncRetrying(
        retry=retry_if_exception_type(Retryable),
        wait=wait_exponential_jitter(multiplier=0.2, max=10),
        sleep=lambda seconds: nap(seconds, lifeline),
        before_sleep=lambda state: _say_that_it_waits(state, messages, lifeline, name),
    ):
        with attempt:
            await step()


def _say_that_it_waits(state: RetryCallState, messages: int, lifeline: Lifeline, name: str) -> None:
    error = state.outcome.exception() if state.outcome else None
    lifeline.vitals.of(name).wait(error)
    log.warning("batch_waits", agent=name, messages=messages, attempt=state.attempt_number, error=str(error or ""))


async def nap(seconds: float, lifeline: Lifeline) -> None:
    """Wait so long, or until the process is told to stop; from then on shortly, for a drain has no time to lose."""
    if lifeline.stopping.is_set():
        await asyncio.sleep(min(seconds, DRAIN_NAP_SECONDS))
    else:
        with suppress(TimeoutError):
            await asyncio.wait_for(lifeline.stopping.wait(), seconds)


def _fail_stop(name: str, error: BaseException) -> None:
    log.error("agent_failed", agent=name, consequence="process ends; its messages come again", exc_info=error)
    os._exit(EXIT_BUG)
