"""``groundwatch`` as a child of a test, with shorter times and with places where it fails on purpose.

``python -m tests.chaos.child run``. CHAOS_ENGINE is JSON with settings of Faust that replace ours, so that what takes
hours takes seconds. CHAOS_HURT is ``role:batch:how``: what
happens once in that role, at its n-th batch: ``kill`` (SIGKILL after the batch was handled and before it is
acknowledged), ``raise`` (a bug), ``block=SECONDS`` (the loop stands still), ``slow=SECONDS`` (a thread works so long).
"""

import asyncio
import json
import os
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import faust

import streams.runtime
from streams.agents.batches import Handle, register
from streams.cli.program import main
from streams.messages import Message


def with_engine(wished: Mapping[str, Any]) -> None:
    """Make every app with these settings instead of ours; fails for one that we do not set."""
    original = faust.App

    def app(*arguments: Any, **settings: Any) -> Any:
        assert wished.keys() <= settings.keys(), wished.keys() - settings.keys()
        return original(*arguments, **{**settings, **wished})

    vars(faust)["App"] = app


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
    with_engine(json.loads(os.environ.get("CHAOS_ENGINE", "{}")))
    if wish := os.environ.get("CHAOS_HURT"):
        wished_role, wished_batch, wished_how = wish.split(":")
        vars(streams.runtime)["register"] = registering(wished_role, int(wished_batch), wished_how)
    main()
