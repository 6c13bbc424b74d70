"""Why an answer is compared with others: the policy's causes, in the order of their price."""

from collections.abc import Sequence

from schemas.layers import LayerReason
from schemas.routes import ConsistencyCause, ConsistencyRule
from schemas.trace import Trace
from schemas.verdict import ClaimJudgement

_DECIMALS = 4
_LOWEST = -100.0
"""Natural log-probability of a token that an endpoint calls impossible."""


def why_check(rule: ConsistencyRule, judgements: Sequence[ClaimJudgement], trace: Trace) -> LayerReason | None:
    """The first cause of the rule that is there; None where none is. ``judgements`` are those of the layer below.

    A claim without a support score (not factual, or in error) is no weak evidence: it says nothing either way.
    """
    causes = frozenset(rule.causes)
    if ConsistencyCause.ALWAYS in causes:
        return LayerReason.ALWAYS
    supports = [judgement.support for judgement in judgements if judgement.support is not None]
    if ConsistencyCause.WEAK_EVIDENCE in causes and min(supports, default=1.0) < rule.score_below:
        return LayerReason.WEAK_EVIDENCE
    if ConsistencyCause.LOW_LOGPROB in causes and is_unsure(rule, mean_logprob(trace)):
        return LayerReason.LOW_LOGPROB
    return None


def mean_logprob(trace: Trace) -> float | None:
    """Mean natural log-probability of the answer's tokens, at most 0; None where the trace has none.

    The mean and not the sum, so that a long answer is not unsure for its length alone. What some endpoints send for
    an impossible token (−9999) counts as −100.
    """
    values = trace.token_logprobs
    if not values:
        return None
    return round(sum(min(0.0, max(_LOWEST, value)) for value in values) / len(values), _DECIMALS)


def is_unsure(rule: ConsistencyRule, logprob: float | None) -> bool:
    """Whether the model was unsure of its own words, as the rule has it."""
    return logprob is not None and logprob < rule.logprob_below
