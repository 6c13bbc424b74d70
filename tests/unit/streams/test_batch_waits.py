"""A batch that waits for the store or the broker while the process stops."""

import asyncio
from typing import Any, cast

from schemas.errors import StoreUnavailable
from streams.agents.batches import Agent, Lifeline, nap

NEVER = 3_600.0


class Failing:
    """A step that cannot be done the first times."""

    def __init__(self, times: int) -> None:
        self.times = times
        self.tried = asyncio.Event()

    async def __call__(self) -> None:
        """One attempt."""
        self.tried.set()
        if self.times:
            self.times -= 1
            raise StoreUnavailable("away")


def agent(lifeline: Lifeline) -> Agent:
    """An agent that has acknowledged nothing, so that it never asks its app."""
    return Agent(cast("Any", None), "sink", lifeline, dict)


async def test_a_stop_ends_the_wait_between_two_attempts() -> None:
    """A drain has no time to lose: the store may be back already."""
    lifeline = Lifeline()
    waiting = asyncio.create_task(nap(NEVER, lifeline))
    await asyncio.sleep(0)
    lifeline.stop("signal")
    await waiting


async def test_a_batch_is_tried_again_while_the_process_stops() -> None:
    """What is in flight is finished; giving it up would make the drain wait in vain for its acknowledgement."""
    lifeline = Lifeline()
    step = Failing(3)
    finished = asyncio.create_task(agent(lifeline).pulse(step))
    await step.tried.wait()
    lifeline.stop("signal")
    await finished
    assert 0 == step.times
    assert {} == lifeline.vitals.in_hand()


async def test_what_is_in_hand_is_named_with_what_it_waits_for() -> None:
    """The last line of a process that was not drained."""
    lifeline = Lifeline()
    step = Failing(1_000)
    hanging = asyncio.create_task(agent(lifeline).pulse(step))
    await step.tried.wait()
    await asyncio.sleep(0)
    lifeline.vitals.of("verify").begin()
    assert {"sink": "store", "verify": "work"} == lifeline.vitals.in_hand()
    hanging.cancel()
