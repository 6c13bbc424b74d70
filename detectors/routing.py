"""Routing: which layers run on an answer, on which of its claims, and the row that says what became of each.

Pure decisions over a route of the policy, the layers that the process has, and the scores of the layer below.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from detectors.layers import Layers, Spent
from schemas.labels import Layer, RiskTier
from schemas.layers import LayerReason, LayerRun
from schemas.policy import PolicyDocument
from schemas.routes import ConsistencyRule, JudgeRule, Route
from schemas.verdict import ClaimJudgement

_ANY = "*"
UPPER = (Layer.L2, Layer.L3, Layer.L4)
"""The layers that a route may name."""
_DEFAULT = Route()
_NOTHING = Spent()


@dataclass(frozen=True, slots=True)
class Plan:
    """A route with what the process has: a layer is in use where the route names it and the process has it."""

    route: Route
    has_models: bool
    has_judge: bool
    has_consistency: bool

    @property
    def uses_models(self) -> bool:
        """Whether L2 is in use."""
        return self.route.models and self.has_models

    @property
    def judge(self) -> JudgeRule | None:
        """The rule of L3 where it is in use."""
        return self.route.judge if self.has_judge else None

    @property
    def consistency(self) -> ConsistencyRule | None:
        """The rule of L4 where it is in use."""
        return self.route.consistency if self.has_consistency else None

    @property
    def layers(self) -> tuple[Layer, ...]:
        """The layers in use, whether or not an answer gives them cause to run; part of the fingerprint."""
        upper = ((Layer.L2, self.uses_models), (Layer.L3, self.judge), (Layer.L4, self.consistency))
        return (Layer.L0, Layer.L1, *(layer for layer, used in upper if used))

    def why_not(self, layer: Layer) -> LayerReason | None:
        """Why a layer above L1 is not in use; None where it is."""
        has = {Layer.L2: self.has_models, Layer.L3: self.has_judge, Layer.L4: self.has_consistency}
        wants = {Layer.L2: self.route.models, Layer.L3: self.route.judge, Layer.L4: self.route.consistency}
        if not wants[layer]:
            return LayerReason.NOT_ROUTED
        return None if has[layer] else LayerReason.NOT_CONFIGURED


def route_of(policy: PolicyDocument, intent: str, tier: RiskTier) -> Route:
    """The first route of the policy that matches, else ``Route()``: models where there are some, no judge."""
    return next((route for route in policy.routes if _matches(route, intent, tier)), _DEFAULT)


def plan_of(route: Route, above: Layers) -> Plan:
    """What of a route this process can do."""
    return Plan(route, above.models is not None, above.judge is not None, above.consistency is not None)


@dataclass(frozen=True, slots=True)
class Wanted:
    """Indices of the claims that a judge is asked about, in order, and of those that are too many for it."""

    asked: tuple[int, ...] = ()
    capped: tuple[int, ...] = ()


def wanted_claims(judgements: Sequence[ClaimJudgement], rule: JudgeRule, *, is_suspect: bool) -> Wanted:
    """The claims whose support lies in the band, ends included; of a suspect answer all that have one.

    Claims in error keep their error. Beyond ``max_claims`` those nearest the middle of the band are asked about, the
    first of equals.
    """
    supports = {
        index: judgement.support
        for index, judgement in enumerate(judgements)
        if judgement.error is None and judgement.support is not None
    }
    wanted = [index for index, support in supports.items() if is_suspect or rule.band_low <= support <= rule.band_high]
    middle = (rule.band_low + rule.band_high) / 2
    nearest = sorted(wanted, key=lambda index: (abs(supports[index] - middle), index))
    return Wanted(tuple(sorted(nearest[: rule.max_claims])), tuple(sorted(nearest[rule.max_claims :])))


@cache
def not_run(layer: Layer, why: LayerReason) -> LayerRun:
    """The row of a layer that did not run."""
    return LayerRun(layer=layer, ran=False, why=why)


def row(layer: Layer, why: LayerReason, *, ran: bool = False, claims: int = 0, spent: Spent = _NOTHING) -> LayerRun:
    """One row of the routing table."""
    return LayerRun(
        layer=layer,
        ran=ran,
        why=why,
        claims=claims,
        calls=spent.calls,
        cached=spent.cached,
        tokens_in=spent.tokens_in,
        tokens_out=spent.tokens_out,
        cost_usd=spent.cost_usd,
        took_ms=spent.took_ms,
    )


def _matches(route: Route, intent: str, tier: RiskTier) -> bool:
    return route.intent in {_ANY, intent} and route.tier in {None, tier}
