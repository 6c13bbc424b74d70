"""What the layers of detection did since the process began, for metrics: from the routing tables of its verdicts."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from detectors.judge.agreement import decided_claims, label_below
from schemas.labels import ClaimLabel, Layer
from schemas.layers import LayerReason
from schemas.verdict import Verdict


@dataclass(slots=True)
class LayerCounts:
    """Sums over answers; one that is verified again counts again, as it costs again."""

    answers: Counter[tuple[Layer, bool, LayerReason]] = field(default_factory=Counter)
    """By layer, whether it ran, and why or why not."""
    claims: Counter[Layer] = field(default_factory=Counter)
    cached: Counter[Layer] = field(default_factory=Counter)
    calls: Counter[Layer] = field(default_factory=Counter)
    tokens_in: Counter[Layer] = field(default_factory=Counter)
    tokens_out: Counter[Layer] = field(default_factory=Counter)
    dollars: dict[Layer, float] = field(default_factory=dict)
    seconds: dict[Layer, float] = field(default_factory=dict)
    labels: Counter[tuple[ClaimLabel, ClaimLabel]] = field(default_factory=Counter)
    """Claims that a judge decided, by what the thresholds would have said of the scores below, and by what it said."""

    def add(self, verdicts: Iterable[Verdict]) -> None:
        """These are published."""
        verdicts = tuple(verdicts)
        for claim in (claim for verdict in verdicts for claim in decided_claims(verdict)):
            if (below := label_below(claim)) is not None:
                self.labels[below, claim.label] += 1
        for line in (line for verdict in verdicts for line in verdict.routing):
            layer = line.layer
            self.answers[layer, line.ran, line.why] += 1
            self.claims[layer] += line.claims
            self.cached[layer] += line.cached
            self.calls[layer] += line.calls
            self.tokens_in[layer] += line.tokens_in
            self.tokens_out[layer] += line.tokens_out
            self.dollars[layer] = self.dollars.get(layer, 0.0) + line.cost_usd
            self.seconds[layer] = self.seconds.get(layer, 0.0) + line.took_ms / 1000
