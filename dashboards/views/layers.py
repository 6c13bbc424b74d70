"""Which layers of detection ran on an answer, with the name of each."""

from collections.abc import Sequence
from dataclasses import dataclass

from schemas.labels import Layer
from schemas.layers import LayerRun

NAMES = {
    Layer.L0: "structure",
    Layer.L1: "evidence",
    Layer.L2: "models",
    Layer.L3: "judge",
    Layer.L4: "self-consistency",
}


@dataclass(frozen=True, slots=True)
class LayerView:
    """One row of the table."""

    run: LayerRun

    @property
    def name(self) -> str:
        """What the layer is."""
        return f"{self.run.layer} {NAMES[self.run.layer]}"


def layer_views(routing: Sequence[LayerRun]) -> tuple[LayerView, ...]:
    """The rows, cheapest layer first."""
    return tuple(LayerView(run) for run in routing)
