"""From scores to labels, and from labels to the outcome of the answer."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from schemas.labels import ClaimLabel, FailureLabel, Outcome
from schemas.policy import Thresholds
from schemas.verdict import ClaimJudgement, ClaimVerdict

BAD = frozenset({ClaimLabel.CONTRADICTED, ClaimLabel.UNSUPPORTED})
"""Labels that make an answer hallucinated."""
WORST_FIRST = (
    ClaimLabel.CONTRADICTED,
    ClaimLabel.UNSUPPORTED,
    ClaimLabel.UNCLEAR,
    ClaimLabel.SUPPORTED,
    ClaimLabel.NOT_FACTUAL,
)
"""The label that a sentence has of its parts: the first of these that one of them has."""
_SCORABLE = BAD | {ClaimLabel.SUPPORTED}
_FAILURE_OF = {
    ClaimLabel.CONTRADICTED: FailureLabel.CONTRADICTED_CLAIM,
    ClaimLabel.UNSUPPORTED: FailureLabel.UNSUPPORTED_CLAIM,
}


@dataclass(frozen=True, slots=True)
class Labelled:
    """A claim's label; with ``error`` set the label is ``unclear`` and no score may be shown."""

    label: ClaimLabel
    failure: FailureLabel | None = None
    error: Outcome | None = None


@dataclass(frozen=True, slots=True)
class AnswerOutcome:
    """Outcome of the answer, its failures in the order of the enum, and two scores, None where nothing counts in them.

    ``score`` is the support of the weakest factual claim, ``faithfulness`` the share of supported ones.
    """

    outcome: Outcome
    failures: tuple[FailureLabel, ...] = ()
    score: float | None = None
    faithfulness: float | None = None


def label_claim(judgement: ClaimJudgement, thresholds: Thresholds) -> Labelled:
    """The label of one claim: the one that a judge gave, else the one that its scores come to."""
    if judgement.error is None and judgement.label is not None:
        return Labelled(judgement.label, _FAILURE_OF.get(judgement.label))
    return label_scores(judgement, thresholds)


def label_scores(judgement: ClaimJudgement, thresholds: Thresholds) -> Labelled:
    """The label that the scores of a claim come to, whatever a judge said.

    High support and high contradiction together are ``unclear`` with ``conflicting_sources``: maxima over passages are
    never set off against each other. A judgement without scores and without an error is one of a claim that is not
    factual; one without support that does not contradict either is ``error:internal``.
    """
    support, contradiction = judgement.support, judgement.contradiction
    if judgement.error is not None:
        return Labelled(ClaimLabel.UNCLEAR, error=judgement.error)
    if support is None and contradiction is None:
        return Labelled(ClaimLabel.NOT_FACTUAL)
    is_contradicted = contradiction is not None and contradiction >= thresholds.contradicted
    is_supported = support is not None and support >= thresholds.supported
    if is_contradicted and is_supported:
        return Labelled(ClaimLabel.UNCLEAR, FailureLabel.CONFLICTING_SOURCES)
    if is_contradicted:
        label = ClaimLabel.CONTRADICTED
    elif is_supported:
        label = ClaimLabel.SUPPORTED
    elif support is None:
        return Labelled(ClaimLabel.UNCLEAR, error=Outcome.ERROR_INTERNAL)
    else:
        label = ClaimLabel.UNSUPPORTED if support < thresholds.unsupported else ClaimLabel.UNCLEAR
    return Labelled(label, _FAILURE_OF.get(label))


def answer_outcome(
    claims: Sequence[ClaimVerdict], failures: Iterable[FailureLabel] = (), early: Outcome | None = None
) -> AnswerOutcome:
    """The outcome by precedence hallucinated > error > unclear > grounded; ``no_claims`` without a factual claim.

    ``early`` is an outcome that the structure already settled and that stands. Among several errors the first in the
    answer is named. The score is the lowest support that was scored, None when none was. Faithfulness is supported
    claims over scorable ones (supported, contradicted, unsupported), None without a scorable one: nothing to check is
    not 100 %.
    """
    factual = [claim for claim in claims if claim.label is not ClaimLabel.NOT_FACTUAL]
    labels = {claim.label for claim in factual}
    own = {failure for label, failure in _FAILURE_OF.items() if label in labels}
    everything = own.union(failures)
    supports = [claim.support for claim in factual if claim.support is not None]
    return AnswerOutcome(
        outcome=early if early is not None else _from_claims(factual),
        failures=tuple(failure for failure in FailureLabel if failure in everything),
        score=min(supports, default=None),
        faithfulness=_faithfulness(factual),
    )


def _faithfulness(factual: Sequence[ClaimVerdict]) -> float | None:
    scorable = sum(claim.label in _SCORABLE for claim in factual)
    supported = sum(claim.label is ClaimLabel.SUPPORTED for claim in factual)
    return supported / scorable if scorable else None


def _from_claims(factual: Sequence[ClaimVerdict]) -> Outcome:
    if any(claim.label in BAD for claim in factual):
        return Outcome.HALLUCINATED
    error = next((claim.error for claim in factual if claim.error is not None), None)
    if error is not None:
        return error
    if any(claim.label is ClaimLabel.UNCLEAR for claim in factual):
        return Outcome.UNCLEAR
    return Outcome.GROUNDED if factual else Outcome.NO_CLAIMS
