"""Which loops a process runs on."""

import asyncio

import uvloop

from streams.run import run_loop


def test_the_main_loop_is_native_and_those_of_threads_are_not() -> None:
    """Threads of the engine are called into from other threads, which native loops do not bear."""

    async def main() -> int:
        made = asyncio.new_event_loop()  # as the engine makes one for a thread
        made.close()
        is_native = isinstance(asyncio.get_running_loop(), uvloop.Loop)
        return 7 if is_native and not isinstance(made, uvloop.Loop) else 1

    assert 7 == run_loop(main)
