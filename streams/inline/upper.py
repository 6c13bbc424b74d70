"""Runs the stages above L1 on one answer, each in threads of its kind and within what is left of the time."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from time import monotonic

from detectors.allowance import Allowance
from schemas.labels import Layer
from streams.inline.pace import Pace
from streams.inline.stages import Above
from streams.inline.workers import NotBegun, Workers


@dataclass(frozen=True, slots=True)
class _Stage:
    layers: tuple[Layer, ...]
    workers: Workers
    work: Callable[[], None]
    needs_seconds: float = 0.0


@dataclass(slots=True)
class Upper:
    """``models`` are threads for L2, which computes: few. ``endpoints`` are those for L3 and L4, which wait: many."""

    models: Workers
    endpoints: Workers
    pace: Pace = field(default_factory=Pace)

    async def run(self, above: Above, until: float, needs_seconds: Mapping[Layer, float]) -> Exception | None:
        """What it failed of, None where it did not; out of time is no failure, as what has ended by then counts.

        ``until`` is in seconds of ``time.monotonic``.
        """
        try:
            for stage in self._stages(above, Allowance(_answered_by(until, needs_seconds), needs_seconds)):
                await self._run(stage, until)
                self.pace.note(row for row in above.verdicts[-1].routing if row.layer in stage.layers)
        except TimeoutError:
            return None
        except Exception as error:  # noqa: BLE001 - whatever a layer breaks on, those below it have spoken
            return error
        return None

    def _stages(self, above: Above, allowance: Allowance) -> Iterator[_Stage]:
        if Layer.L2 in above.in_use:
            yield _Stage((Layer.L2,), self.models, above.run_models, allowance.needs_seconds.get(Layer.L2, 0.0))
        dearer = tuple(layer for layer in above.in_use if layer is not Layer.L2)
        if dearer:  # which leaves out by itself what would not end
            yield _Stage(dearer, self.endpoints, partial(above.run_all, allowance))

    async def _run(self, stage: _Stage, until: float) -> None:
        began = monotonic()
        try:
            await stage.workers.run(stage.work, until, stage.needs_seconds)
        except NotBegun:
            for layer in stage.layers:
                self.pace.left_out(layer)
            raise
        except TimeoutError:
            for layer in stage.layers:
                self.pace.overran(layer, until - began)
            raise


def _answered_by(until: float, needs_seconds: Mapping[Layer, float]) -> float:
    """When endpoints must have answered, or what they did say would come too late for the reply.

    A verdict is still to be made of it, with second looks, which takes about as long as L1; half the time at most.
    """
    return until - min(needs_seconds.get(Layer.L1, 0.0), max(0.0, until - monotonic()) / 2)
