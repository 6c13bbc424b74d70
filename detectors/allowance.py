"""The time that an answer may take before it is sent; verification of drawn traces has no limit."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from time import monotonic

from schemas.labels import Layer


@dataclass(frozen=True, slots=True)
class Allowance:
    """Until when layers may run; ``clock`` and ``deadline`` are in seconds of ``time.monotonic``.

    ``needs_seconds`` is what a layer is expected to take. One that would not end in time is left out, and the next,
    dearer one is still asked about: so what is left out first is what takes longest.
    """

    deadline: float | None = None
    needs_seconds: Mapping[Layer, float] = field(default_factory=dict)
    clock: Callable[[], float] = monotonic

    @property
    def is_limited(self) -> bool:
        """Whether an answer waits for the result."""
        return self.deadline is not None

    def has_time_for(self, layer: Layer) -> bool:
        """Whether the layer would end in time if it began now."""
        return self.deadline is None or self.clock() + self.needs_seconds.get(layer, 0.0) < self.deadline
