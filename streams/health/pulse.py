"""The watchdog's thread: looks whether the event loop answers, judges its last look, and ends the process when it must.

A thread, because a blocked loop cannot watch itself. Clocks are monotonic: a wall clock that is set says nothing here.
"""

import asyncio
import json
import logging
import os
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from time import process_time

import structlog

from streams.health.process import Process
from streams.health.watchdog import Stall, loop_stall, stall_of
from streams.stacks import show_stacks

log = structlog.get_logger(__name__)
EXIT_STALLED = 79
"""Above sysexits.h: the process looked alive and did nothing; start it again."""
TURN_SECONDS = 1.0
SUSPENDED_SECONDS = 3.0
"""A turn that is late by this, while the process used no processor time, was a stopped process or machine."""
STALLS_FILE = "stalls.json"
_BUSY_SHARE = 0.5


class Pulse:
    """One a process. ``end`` gets the stall and does not return; ``cpu_seconds``: processor time of the process."""

    def __init__(
        self, process: Process, end: Callable[[Stall], None], cpu_seconds: Callable[[], float] = process_time
    ) -> None:
        self._process = process
        self._end = end
        self._cpu_seconds = cpu_seconds
        self._turned_at = process.clock()
        self._used = cpu_seconds()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="watchdog", daemon=True)

    def start(self) -> None:
        """Begin to watch."""
        self._thread.start()

    def stop(self) -> None:
        """Stop watching; returns when the thread has ended."""
        self._stopped.set()
        self._thread.join()

    def turn(self) -> Stall | None:
        """One look: what is stuck, after telling ``end``."""
        process = self._process
        now, used = process.clock(), self._cpu_seconds()
        late = now - self._turned_at - TURN_SECONDS
        if late > SUSPENDED_SECONDS and used - self._used < _BUSY_SHARE * late:
            log.warning("process_was_suspended", seconds=round(late, 1))
            process.woke_up(now)
        self._turned_at, self._used = now, used
        if process.lifeline.stopping.is_set():  # a drain has a bound of its own
            return None
        look = process.look
        stall = loop_stall(now - look.at, now - process.awake_since, process.limits)
        if look.at >= process.awake_since:  # one from before, or from the moment of waking, counts the time asleep
            stall = stall or stall_of(look.signs, process.limits)
        if stall is not None:
            self._end(stall)
        return stall

    def _run(self) -> None:
        while not self._stopped.wait(TURN_SECONDS):
            self.turn()


def end_process(stall: Stall, data_dir: Path, loop: asyncio.AbstractEventLoop) -> None:
    """Say what is stuck and where everything stands, remember it in ``data_dir``, and end the process with 79.

    Nothing unacknowledged is lost: it comes again, here after the restart or at another worker.
    """
    log.error(
        "watchdog_ended_process",
        reason=stall.reason.value,
        part=stall.part,
        seconds=round(stall.seconds),
        unread=stall.unread,
        consequence="process ends; what it had not acknowledged comes again",
        see="docs/operations.md",
    )
    with suppress(Exception):  # whatever fails here must not keep the process alive
        remember(data_dir, stall)
    show_stacks(loop)
    logging.shutdown()
    os._exit(EXIT_STALLED)


def remember(data_dir: Path, stall: Stall) -> None:
    """Count the stall where the next process on the folder finds it."""
    counts, _ = remembered(data_dir)
    counts[stall.reason.value] += 1
    draft = data_dir / f"{STALLS_FILE}.{os.getpid()}"
    draft.write_text(json.dumps({"counts": counts, "at": datetime.now(UTC).isoformat()}), encoding="utf-8")
    draft.replace(data_dir / STALLS_FILE)


def remembered(data_dir: Path) -> tuple[Counter[str], datetime | None]:
    """How often a watchdog ended a process on this folder, by reason, and when it last did."""
    try:
        found = json.loads((data_dir / STALLS_FILE).read_text(encoding="utf-8"))
        return Counter({str(name): int(count) for name, count in found["counts"].items()}), datetime.fromisoformat(
            found["at"]
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return Counter(), None
