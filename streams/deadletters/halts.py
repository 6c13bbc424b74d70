"""The dead-letter ceiling over restarts: a supervisor that starts the process again and again gets no further.

Without memory every life would give up another run of messages before it stops, and so drain a whole topic into the
dead letter, as fast as the supervisor restarts. So the count goes on where it stood, and a process that stops again
holds out longer each time before it ends, with its reason in sight.
"""

import asyncio
import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import structlog

from streams.agents.batches import CeilingReached, Lifeline
from streams.agents.deadletter import Ceiling
from streams.agents.ingest import Ingest
from streams.messages import Message
from streams.settings import Role

log = structlog.get_logger(__name__)
FILE = "ceiling.json"
FIRST_HOLD_SECONDS = 10.0
LONGEST_HOLD_SECONDS = 300.0
SLICE_SECONDS = 5.0


@dataclass(slots=True)
class Halts:
    """Around the step of ingest; ``stops`` counts how often the ceiling ended a process since the last good stretch."""

    step: Ingest
    file: Path
    lifeline: Lifeline
    stops: int = 0

    @classmethod
    def around(cls, step: Ingest, data_dir: Path, lifeline: Lifeline) -> "Halts":
        """Take up the count of the process before, if the ceiling ended it; limits are those of today."""
        file = data_dir / FILE
        stops, step.ceiling = _remembered(file, step.ceiling)
        return cls(step, file, lifeline, stops)

    async def handle(self, messages: Sequence[Message]) -> None:
        """``Ingest.handle``; at the ceiling it says so, waits where this was not the first time, and raises."""
        try:
            await self.step.handle(messages)
        except CeilingReached as error:
            self.stops += 1
            self._save()
            await self._hold(error)
            raise
        if self.stops:
            self._go_on()

    def _go_on(self) -> None:
        """A good message at the end, and a share well below the limit: the cause is gone."""
        ceiling = self.step.ceiling
        if ceiling.run == 0 and sum(ceiling.recent) <= ceiling.ratio * ceiling.window / 2:
            log.info("ceiling_left_behind", stops=self.stops)
            self.stops = 0
            self.file.unlink(missing_ok=True)
        else:
            self._save()

    async def _hold(self, error: CeilingReached) -> None:
        """Not ready, and known to wait, so that the watchdog lets the process be."""
        left = hold_seconds(self.stops)
        if left:
            log.error("ceiling_again", stops=self.stops, reason=str(error), ends_in_seconds=left)
        while left > 0 and not self.lifeline.stopping.is_set():
            self.lifeline.vitals.of(Role.INGEST).wait(error)
            with suppress(TimeoutError):
                await asyncio.wait_for(self.lifeline.stopping.wait(), min(left, SLICE_SECONDS))
            left -= SLICE_SECONDS

    def _save(self) -> None:
        ceiling = self.step.ceiling
        recent = "".join("1" if is_bad else "0" for is_bad in ceiling.recent)
        draft = self.file.with_suffix(".new")
        draft.write_text(json.dumps({"stops": self.stops, "run": ceiling.run, "recent": recent}), encoding="utf-8")
        draft.replace(self.file)


def hold_seconds(stops: int) -> float:
    """How long the process stays before it ends: not at all the first time, then 10 s, doubled, at most 5 min."""
    return min(FIRST_HOLD_SECONDS * 2 ** min(stops - 2, 10), LONGEST_HOLD_SECONDS) if stops > 1 else 0.0


def _remembered(file: Path, ceiling: Ceiling) -> tuple[int, Ceiling]:
    """How often the ceiling ended a process, and the ceiling with the count of the last one."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        stops, run, recent = int(found["stops"]), int(found["run"]), str(found["recent"])
    except FileNotFoundError:
        return 0, ceiling
    except (OSError, ValueError, KeyError, TypeError) as error:
        log.warning("ceiling_file_ignored", file=str(file), error=type(error).__name__)
        return 0, ceiling
    log.warning("ceiling_taken_up", stops=stops, run=run, bad=recent.count("1"))
    return stops, _restored(ceiling, run, recent)


def _restored(ceiling: Ceiling, run: int, recent: str) -> Ceiling:
    return replace(ceiling, run=max(0, run), recent=tuple(one == "1" for one in recent)[-ceiling.window :])
