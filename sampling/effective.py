"""The policy in force at one moment: a base document with overlays, as inclusion probabilities per cell and stratum.

Composition does not depend on the order of overlays: the highest ``at_least`` raises first, then the lowest ``times``
lowers, because a budget is a limit and a surge is a wish. The lowest, not the product: what keeps to the narrowest
budget keeps to the wider ones, and an entry that two leaders publish at a time lowers once.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

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
    by_intent = _by_intent(sampling.allocations, intents)
    cells: dict[tuple[str, RiskTier], Mapping[str, float]] = {}
    for intent, lines in by_intent.items():
        active = [overlay for overlay in changes if overlay.intent in {ANY, intent}]
        for tier in RiskTier:
            base = {stratum: _base(lines, tier, stratum, sampling.default_probability) for stratum in strata}
            on_top = [overlay for overlay in active if overlay.tier in {None, tier}]
            cells[intent, tier] = {stratum: _changed(value, on_top) for stratum, value in base.items()}
    return EffectivePolicy("+".join((base_id, *(name for name, _ in ordered))), document, changes, cells)


def _by_intent(lines: Sequence[Allocation], intents: Iterable[str]) -> dict[str, list[Allocation]]:
    """For each intent the lines that may match it, in order; one pass over many lines, not one for each intent."""
    general: list[Allocation] = []
    found: dict[str, list[Allocation]] = {intent: [] for intent in intents}
    for line in lines:
        (general if line.intent == ANY else found[line.intent]).append(line)
    order = {id(line): place for place, line in enumerate(lines)}
    return {
        intent: sorted([*own, *general], key=lambda line: order[id(line)]) if own else general
        for intent, own in found.items()
    }


def _base(lines: Sequence[Allocation], tier: RiskTier, stratum: str, default: float) -> float:
    return next(
        (line.probability for line in lines if line.tier in {None, tier} and line.stratum in {ANY, stratum}), default
    )


def _changed(base: float, overlays: Sequence[Overlay]) -> float:
    raised = max([base, *(overlay.at_least for overlay in overlays if overlay.at_least is not None)])
    lowered = raised * min((overlay.times for overlay in overlays if overlay.times is not None), default=1.0)
    return min(max(lowered, SMALLEST_PROBABILITY), 1.0)
