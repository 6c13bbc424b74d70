"""``groundwatch`` with a fault that makes it look alive and do nothing, as bugs of an engine or of ours would.

``python -m tests.integration.stalling run`` is ``groundwatch run`` with the fault of ``GROUNDWATCH_TEST_STALL``:
``agent`` stops taking messages once it has handled some, ``batch`` never ends a batch, ``loop`` blocks the event loop,
``timer`` stops one that saves watermarks.
"""

import asyncio
import os
import time
from collections.abc import Callable
from typing import Any

VARIABLE = "GROUNDWATCH_TEST_STALL"


def stop_taking() -> None:
    """The engine hands nothing out any more after the first batch: no error, no log line, the loop goes on."""
    from streams.agents.batches import Agent  # noqa: PLC0415  the product is changed before it is used

    run = Agent.run

    class Dry:
        """A stream that runs dry for ever after one batch."""

        def __init__(self, stream: Any) -> None:
            self._stream = stream

        def noack(self) -> "Dry":
            return Dry(self._stream.noack())

        async def noack_take(self, *arguments: Any, **options: Any) -> Any:
            async for events in self._stream.noack_take(*arguments, **options):
                yield events
                await asyncio.Event().wait()

        def __getattr__(self, name: str) -> Any:
            return getattr(self._stream, name)

    async def run_dry(self: Agent, stream: Any, *arguments: Any) -> None:
        await run(self, Dry(stream) if self._name == "ingest" else stream, *arguments)

    Agent.run = run_dry  # type: ignore[method-assign,assignment]


def never_end_a_batch() -> None:
    """A call that never returns, without an error to try again after."""
    from streams.agents.ingest import Ingest  # noqa: PLC0415  as above

    async def handle(self: Ingest, messages: Any) -> None:
        await asyncio.Event().wait()

    Ingest.handle = handle  # type: ignore[method-assign]


def block_the_loop() -> None:
    """A synchronous call in the one loop that does not come back."""
    from streams.agents.ingest import Ingest  # noqa: PLC0415  as above

    async def handle(self: Ingest, messages: Any) -> None:
        time.sleep(600)  # noqa: ASYNC251  the fault

    Ingest.handle = handle  # type: ignore[method-assign]


def stop_a_timer() -> None:
    """One step of a timer that hangs."""
    from streams.store import Store  # noqa: PLC0415  as above

    insert = Store.insert_watermarks

    def hang(self: Store, rows: Any) -> None:
        insert(self, rows)
        time.sleep(600)

    Store.insert_watermarks = hang  # type: ignore[method-assign]


FAULTS: dict[str, Callable[[], None]] = {
    "agent": stop_taking,
    "batch": never_end_a_batch,
    "loop": block_the_loop,
    "timer": stop_a_timer,
    "none": lambda: None,
}

if __name__ == "__main__":
    FAULTS[os.environ[VARIABLE]]()
    from streams.cli import main

    main()
