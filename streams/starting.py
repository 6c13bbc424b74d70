"""Waiting at start for a broker or a store that is not there yet, so that a fleet may be started in any order.

A process that ends at once would be started again and again by its supervisor, each time with all that a start costs.
"""

from collections.abc import Awaitable, Callable
from typing import TypeVar

import structlog
from aiokafka.admin import AIOKafkaAdminClient
from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_exception_type,
    stop_after_delay,
    wait_exponential_jitter,
)

from schemas.errors import Retryable
from streams.agents.batches import Lifeline, nap
from streams.broker.connection import Connection
from streams.broker.trouble import explained

log = structlog.get_logger(__name__)
LONGEST_PAUSE_SECONDS = 15.0
T = TypeVar("T")


class Stopping(Exception):
    """The process is told to stop while it still waits for what it needs; nothing was begun."""


async def reached(what: str, attempt: Callable[[], Awaitable[T]], patience_seconds: float, lifeline: Lifeline) -> T:
    """The result of ``attempt``, which is tried again while it raises Retryable, with growing pauses and a line each.

    Raises what the last attempt raised when ``patience_seconds`` are over, and Stopping when the process is told to
    stop meanwhile.
    """
    waits = AsyncRetrying(
        retry=retry_if_exception_type(Retryable),
        stop=stop_after_delay(patience_seconds),
        wait=wait_exponential_jitter(multiplier=0.5, max=LONGEST_PAUSE_SECONDS),
        sleep=lambda seconds: _pause(seconds, lifeline),
        before_sleep=lambda state: _say_that_it_waits(what, state, patience_seconds),
        reraise=True,
    )
    return await waits(attempt)


async def _pause(seconds: float, lifeline: Lifeline) -> None:
    await nap(seconds, lifeline)
    if lifeline.stopping.is_set():
        raise Stopping


def _say_that_it_waits(what: str, state: RetryCallState, patience_seconds: float) -> None:
    error = str(state.outcome.exception()) if state.outcome else ""
    waited = round(state.seconds_since_start or 0)
    log.warning("start_waits", waits_for=what, waited_s=waited, at_most_s=round(patience_seconds), error=error)


async def answers(connection: Connection) -> None:
    """Return once a broker of the cluster has answered. Raises BrokerUnavailable with the cause and what to check."""
    client = AIOKafkaAdminClient(**connection.aiokafka_options())
    try:
        async with explained(connection):
            await client.start()
    finally:
        await client.close()
