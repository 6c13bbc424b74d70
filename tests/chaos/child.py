"""``groundwatch`` as a child of a test, with shorter times and with places where it fails on purpose.

``python -m tests.chaos.child run``. Variables: CHAOS_SESSION_SECONDS, CHAOS_POLL_SECONDS replace the times after which
Kafka gives up on a silent worker, and on one that does not ask for messages. CHAOS_HURT is ``role:batch:how``: what
happens once in that role, at its n-th batch: ``kill`` (SIGKILL after the batch was handled and before it is
acknowledged), ``raise`` (a bug), ``block=SECONDS`` (the loop stands still), ``slow=SECONDS`` (a thread works so long).
"""

import asyncio
import os
import signal
import time
from collections.abc import Callable, Sequence
from typing import Any

import streams.agents.app
import streams.runtime
from streams.agents.batches import Handle, register
from streams.cli.program import main
from streams.messages import Message


def shorten() -> None:
    """Put the times of the environment in force; fails when the product no longer has them where they were."""
    if seconds := os.environ.get("CHAOS_SESSION_SECONDS"):
        for name in ("SESSION_SECONDS", "EMBEDDED_SESSION_SECONDS"):
            assert hasattr(streams.runtime, name)
            setattr(streams.runtime, name, float(seconds))
    if seconds := os.environ.get("CHAOS_POLL_SECONDS"):
        assert hasattr(streams.agents.app, "MAX_POLL_INTERVAL_SECONDS")
        streams.agents.app.MAX_POLL_INTERVAL_SECONDS = float(seconds)


def hurting(handle: Handle, batch: int, how: str) -> Handle:
    """``handle`` that comes to harm once."""
    seen = 0
    kind, _, seconds = how.partition("=")

    async def hurt(messages: Sequence[Message]) -> None:
        nonlocal seen
        seen += 1
        if seen == batch and kind == "raise":
            raise ZeroDivisionError("on purpose")
        if seen == batch and kind == "block":
            time.sleep(float(seconds))  # noqa: ASYNC251  that it blocks is the point
        if seen == batch and kind == "slow":
            await asyncio.to_thread(time.sleep, float(seconds))
        await handle(messages)
        if seen == batch and kind == "kill":
            os.kill(os.getpid(), signal.SIGKILL)

    return hurt


def registering(role: str, batch: int, how: str) -> Callable[..., Any]:
    """``register`` that hurts the agent of one role."""

    def registered(app: Any, topics: Sequence[str], handle: Handle, lifeline: Any, *, name: str, **rest: Any) -> Any:
        hurt = hurting(handle, batch, how) if name == role else handle
        return register(app, topics, hurt, lifeline, name=name, **rest)

    return registered


if __name__ == "__main__":
    shorten()
    if wish := os.environ.get("CHAOS_HURT"):
        wished_role, wished_batch, wished_how = wish.split(":")
        vars(streams.runtime)["register"] = registering(wished_role, int(wished_batch), wished_how)
    main()
