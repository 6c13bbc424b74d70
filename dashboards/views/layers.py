"""Which layers of detection ran on an answer, why and why not, and what comparing it with others showed; as words."""

from collections.abc import Sequence
from dataclasses import dataclass

from schemas.labels import Layer
from schemas.layers import Consistency, LayerRun

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

    @property
    def why(self) -> str:
        """Whether it ran, and why or why not."""
        return f"{'ran' if self.run.ran else 'not run'}: {self.run.why.value.replace('_', ' ')}"

    @property
    def asked(self) -> str:
        """Calls of an endpoint and answers of the cache; empty for layers that ask nobody."""
        parts = [(self.run.calls, "call", "calls"), (self.run.cached, "from the cache", "from the cache")]
        return ", ".join(f"{count} {one if count == 1 else many}" for count, one, many in parts if count)


def layer_views(routing: Sequence[LayerRun]) -> tuple[LayerView, ...]:
    """The rows, cheapest layer first."""
    return tuple(LayerView(run) for run in routing)


def consistency_text(found: Consistency) -> str:
    """How far the answers that were compared say the same."""
    source = "in the trace" if found.source == "trace" else "drawn anew from the recorded prompt"
    parts = [f"{found.samples} answers compared, the others {source}"]
    if found.votes is not None:
        parts.append(f"{found.votes} say the same")
    if found.agreement is not None:
        parts.append(f"the others support its claims by {found.agreement:.2f} on average")
    if found.unstable_claims:
        parts.append(f"too few support claim {', '.join(str(index + 1) for index in found.unstable_claims)}")
    if found.mean_logprob is not None:
        parts.append(f"mean log-probability of its tokens {found.mean_logprob:.2f}")
    return "; ".join(parts)
