"""``groundwatch`` as a child of a test, with shorter times and with places where it fails on purpose.

``python -m tests.chaos.child run``. CHAOS_ENGINE is JSON with settings of Faust that replace ours, so that what takes
hours takes seconds. CHAOS_HURT is ``role:batch:how``: what
happens once in that role, at its n-th batch: ``kill`` (SIGKILL after the batch was handled and before it is
acknowledged), ``raise`` (a bug), ``block=SECONDS`` (the loop stands still), ``slow=SECONDS`` (a thread works so long).
CHAOS_NAMES is a file: while it is there, names that end with ``.test`` mean this machine; without it nobody knows them.
"""

import asyncio
import json
import os
import signal
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import aiokafka.client
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


def with_names(file: Path) -> None:
    """Answer for names of our own, as a name service that may be down; asked by the Kafka client on any event loop."""
    original = aiokafka.client.create_conn

    async def create_conn(host: str, *rest: Any, **more: Any) -> Any:
        if host.endswith(".test"):
            if not file.exists():  # noqa: ASYNC240  one look at a local file
                raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
            host = "127.0.0.1"
        return await original(host, *rest, **more)

    vars(aiokafka.client)["create_conn"] = create_conn


if __name__ == "__main__":
    if names := os.environ.get("CHAOS_NAMES"):
        with_names(Path(names))
    with_engine(json.loads(os.environ.get("CHAOS_ENGINE", "{}")))
    if wish := os.environ.get("CHAOS_HURT"):
        wished_role, wished_batch, wished_how = wish.split(":")
        vars(streams.runtime)["register"] = registering(wished_role, int(wished_batch), wished_how)
    main()
