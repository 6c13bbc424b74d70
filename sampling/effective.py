"""The policy in force at one moment: a base document with overlays, as inclusion probabilities per cell and stratum.

Composition does not depend on the order of overlays: the highest ``at_least`` raises first, then every ``times``
lowers, because a budget is a limit and a surge is a wish.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

from schemas.labels import RiskTier
from schemas.policy import REST, Allocation, Overlay, PolicyDocument

SMALLEST_PROBABILITY = 1e-6
"""π never falls below this: a design weight above a million would drown every other answer."""
ANY = "*"


@dataclass(frozen=True, slots=True)
class EffectivePolicy:
    """A base document with the overlays in force; ``policy_id`` is the base id plus overlay ids (``p1+s3``)."""

    policy_id: str
    document: PolicyDocument
    overlays: tuple[Overlay, ...] = ()
    _cells: Mapping[tuple[str, RiskTier], Mapping[str, float]] = field(default_factory=dict, repr=False, compare=False)

    def probability(self, intent: str, tier: RiskTier, stratum: str) -> float:
        """Inclusion probability π in (0, 1]; KeyError for a stratum that the document does not name."""
        return self._cell(intent, tier)[stratum]

    def min_probability(self, intent: str, tier: RiskTier) -> float:
        """Smallest π over all strata of the cell, ``rest`` included: the bound of the nested subsample."""
        return min(self._cell(intent, tier).values())

    def _cell(self, intent: str, tier: RiskTier) -> Mapping[str, float]:
        return self._cells.get((intent, tier)) or self._cells[ANY, tier]


def compose(base_id: str, document: PolicyDocument, overlays: Iterable[tuple[str, Overlay]] = ()) -> EffectivePolicy:
    """The policy that results from a document and the overlays in force (id and overlay), in any order."""
    ordered = sorted(overlays, key=lambda named: named[0])
    changes = tuple(overlay for _, overlay in ordered)
    sampling = document.sampling
    # Intents that no line names share the row of "*", so the table stays as small as the file.
    intents = {ANY, *(line.intent for line in sampling.allocations), *(overlay.intent for overlay in changes)}
    strata = [*(rule.name for rule in sampling.strata), REST]
    cells = {
        (intent, tier): {stratum: _probability(document, changes, intent, tier, stratum) for stratum in strata}
        for intent in intents
        for tier in RiskTier
    }
    return EffectivePolicy("+".join((base_id, *(name for name, _ in ordered))), document, changes, cells)


def _probability(
    document: PolicyDocument, overlays: Sequence[Overlay], intent: str, tier: RiskTier, stratum: str
) -> float:
    base = next(
        (
            line.probability
            for line in document.sampling.allocations
            if _is_for(line, intent, tier) and line.stratum in {ANY, stratum}
        ),
        document.sampling.default_probability,
    )
    active = [overlay for overlay in overlays if _is_for(overlay, intent, tier)]
    raised = max([base, *(overlay.at_least for overlay in active if overlay.at_least is not None)])
    lowered = raised * prod(overlay.times for overlay in active if overlay.times is not None)
    return min(max(lowered, SMALLEST_PROBABILITY), 1.0)


def _is_for(line: Allocation | Overlay, intent: str, tier: RiskTier) -> bool:
    return line.intent in {ANY, intent} and line.tier in {None, tier}
