"""The layers of a process: loaded once for all its roles, away from the event loop, and told to probes."""

import asyncio
import threading
from contextlib import AsyncExitStack
from typing import Any

import pytest

import streams.runtime
from detectors.layers import Layers
from streams.agents.batches import Lifeline
from streams.runtime import Runtime
from streams.settings import Settings
from tests.fakes_layers import FakeStacked


async def test_two_roles_share_what_is_loaded_once_in_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Verify and the inline check of one process; probes answer meanwhile."""
    threads: list[threading.Thread] = []
    made = Layers(models=FakeStacked(), notes={"L3": "no endpoint"})

    def load(*_: object) -> Layers:
        threads.append(threading.current_thread())
        return made

    monkeypatch.setattr(streams.runtime, "load_layers", load)
    nothing: Any = None
    async with AsyncExitStack() as stack:
        runtime = Runtime(Settings(), nothing, nothing, nothing, nothing, Lifeline(), stack)
        first, second = await asyncio.gather(runtime.layers(), runtime.layers())
        assert first is second is made
        assert ["L3"] == runtime.health.process.without
        assert "L2" in runtime.health.process.layers
    assert 1 == len(threads)
    assert threading.current_thread() is not threads[0]
