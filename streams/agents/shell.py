"""The process shell: starts the Faust apps of the chosen roles, waits for a signal, drains within a bound.

Exit codes: 0 drained, 1 a component failed, 65 the dead-letter ceiling stopped it, 70 a bug, 75 not drained in time.
"""

import asyncio
import logging
import os
import signal
import sys
import threading
from collections.abc import Sequence
from typing import Any, NoReturn

import faust
import structlog

from streams.agents.batches import CEILING, FAILED, Lifeline
from streams.stacks import show_stacks

log = structlog.get_logger(__name__)
EXIT_OK = 0
EXIT_FAILED = 1
EXIT_CEILING = 65
EXIT_NOT_DRAINED = 75
COMES_AGAIN = "what is in hand was not acknowledged and comes again"
_SIGNAL = "signal"
"""Why the lifeline stopped, where a signal did it."""
BROKEN_DRAIN_SECONDS = 5.0
"""At the ceiling the batch in hand is never acknowledged, and an app that failed may never stop; the others get this
long."""


def install_signals(lifeline: Lifeline, drain_seconds: float, late_code: int = EXIT_NOT_DRAINED) -> None:
    """On SIGTERM or SIGINT: stop taking work, and end with 75 when draining takes longer than ``drain_seconds``.

    Another ``late_code`` is for a process whose work is thrown away anyhow.
    """
    loop = asyncio.get_running_loop()

    def on_signal() -> None:
        if not lifeline.stopping.is_set():
            lifeline.stop(_SIGNAL)
            _bound_the_drain(lifeline, drain_seconds, late_code)

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, on_signal)


def leave(code: int) -> NoReturn:
    """End the process with ``code`` at once, when all is drained and closed.

    Taking the interpreter down beside native threads (event loops, models, the embedded store) may crash, and a clean
    stop would end in a signal.
    """
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _bound_the_drain(lifeline: Lifeline, drain_seconds: float, code: int) -> None:
    """End the process with ``code`` after ``drain_seconds``, whatever hangs; nothing unacknowledged is lost by that."""
    loop = asyncio.get_running_loop()

    def give_up() -> None:
        log.error("not_drained", after_s=drain_seconds, in_hand=lifeline.vitals.in_hand(), consequence=COMES_AGAIN)
        show_stacks(loop)
        logging.shutdown()
        os._exit(code)

    timer = threading.Timer(drain_seconds, give_up)
    timer.daemon = True
    timer.start()


async def serve(apps: Sequence[faust.App], lifeline: Lifeline, drain_seconds: float) -> int:
    """Run the apps until the lifeline stops or one of them dies; then stop them (drain, commit, leave).

    When stopping takes longer than ``drain_seconds``, for whatever reason, the process ends with 75.
    """
    for app in apps:
        app.finalize()
    stopping = asyncio.create_task(lifeline.stopping.wait())
    try:
        started = await _start(apps, stopping)
        if started:
            waiting: set[asyncio.Task[Any]] = {asyncio.create_task(app.wait_until_stopped()) for app in apps}
            await asyncio.wait({stopping, *waiting}, return_when=asyncio.FIRST_COMPLETED)
            _say_what_ended(apps, lifeline)
    except Exception:
        log.exception("start_failed")
        lifeline.stop(f"{FAILED} to start")
    code = _exit_code(apps, lifeline)
    lifeline.stop("an app ended")
    if code == EXIT_OK and lifeline.stop_reason != _SIGNAL:  # which bounds it itself
        _bound_the_drain(lifeline, drain_seconds, EXIT_NOT_DRAINED)
    elif code != EXIT_OK:
        _bound_the_drain(lifeline, min(BROKEN_DRAIN_SECONDS, drain_seconds), code)
    await asyncio.gather(*(app.stop() for app in apps))
    return code


async def _start(apps: Sequence[faust.App], stopping: asyncio.Task[bool]) -> bool:
    starting = asyncio.gather(*(app.start() for app in apps))
    waiting: set[asyncio.Future[Any]] = {starting, stopping}
    await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    if starting.done():
        starting.result()
        return True
    starting.cancel()
    await asyncio.gather(starting, return_exceptions=True)
    return False


def _say_what_ended(apps: Sequence[faust.App], lifeline: Lifeline) -> None:
    """The engine's own lines name no role."""
    if not lifeline.stopping.is_set():
        ended = [app.conf.id for app in apps if app.crashed or app.should_stop]
        log.error("part_failed", parts=ended, consequence="the process ends with 1; nothing is lost by that")


def _exit_code(apps: Sequence[faust.App], lifeline: Lifeline) -> int:
    if any(app.crashed for app in apps) or lifeline.stop_reason.startswith(FAILED):
        return EXIT_FAILED
    if lifeline.stop_reason.startswith(CEILING):
        return EXIT_CEILING
    return EXIT_OK if lifeline.stopping.is_set() else EXIT_FAILED
