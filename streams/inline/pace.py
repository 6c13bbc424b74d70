"""How long each layer is expected to take on an answer, learnt from those before."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from schemas.labels import Layer
from schemas.layers import LayerReason, LayerRun

_OF_MEAN, _OF_DEVIATION, _DEVIATIONS = 1 / 8, 1 / 4, 2.0
_FORGOTTEN = 0.95


@dataclass(slots=True)
class _Time:
    mean: float
    deviation: float


@dataclass(slots=True)
class Pace:
    """Mean and mean deviation, smoothed as TCP does with its round trips (RFC 6298). Used in one thread.

    A layer that is left out for lack of time is expected to be a little faster each time, or it would never be tried
    again after one bad minute. ``Layer.L1`` stands for L0 and L1 together.
    """

    _times: dict[Layer, _Time] = field(default_factory=dict)

    def note(self, routing: Iterable[LayerRun]) -> None:
        """Learn from the routing table of an answer."""
        for row in routing:
            if row.ran and row.why is LayerReason.OUT_OF_TIME:  # cut short: how long it would have taken is not known
                self.overran(row.layer, row.took_ms / 1000)
            elif row.ran and not row.cached:
                self.took(row.layer, row.took_ms / 1000)
            elif row.why is LayerReason.OUT_OF_TIME:
                self.left_out(row.layer)

    def needs_seconds(self) -> Mapping[Layer, float]:
        """What each layer must have left to be begun; nothing is known of one that never ran.

        L4 runs before L3, and is left out before it: so it must leave time for both.
        """
        needs = {layer: time.mean + _DEVIATIONS * time.deviation for layer, time in self._times.items()}
        if Layer.L4 in needs:
            needs[Layer.L4] += needs.get(Layer.L3, 0.0)
        return needs

    def took(self, layer: Layer, seconds: float) -> None:
        """Learn from one answer."""
        known = self._times.get(layer)
        if known is None:
            self._times[layer] = _Time(seconds, seconds / 2)
            return
        known.deviation += _OF_DEVIATION * (abs(seconds - known.mean) - known.deviation)
        known.mean += _OF_MEAN * (seconds - known.mean)

    def overran(self, layer: Layer, seconds: float) -> None:
        """Expect twice what it was given, as it did not end in that (TCP's back-off)."""
        known = self._times.setdefault(layer, _Time(0.0, 0.0))
        known.mean = max(known.mean, 2 * seconds)

    def left_out(self, layer: Layer) -> None:
        """Expect a little less, so that it is tried again."""
        known = self._times.get(layer)
        if known is not None:
            known.mean *= _FORGOTTEN
            known.deviation *= _FORGOTTEN
