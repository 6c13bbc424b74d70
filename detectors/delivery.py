"""What a user reads in place of an answer, by containment; never a word that neither the product nor its owner wrote.

A fallback text is looked up by intent, then in ``*``, then here, so there is always one.
"""

from collections.abc import Sequence

from detectors.trimming import without_bad_claims
from schemas.labels import Containment
from schemas.policy import Fallbacks, IntentRules, PolicyDocument
from schemas.verdict import ClaimVerdict

DEFAULT_FALLBACKS = Fallbacks(
    abstain="I cannot give a reliable answer to this. Please ask our support team.",
    hold_for_review="This answer is being reviewed by a person. Please come back later.",
)
_NO_RULES = IntentRules()


def fallbacks_of(policy: PolicyDocument, intent: str) -> Fallbacks:
    """The fallback texts of an intent: each its own, else that of ``*``, else the default; never empty."""
    own, general = (policy.intents.get(name, _NO_RULES).fallbacks for name in (intent, "*"))
    return Fallbacks(
        abstain=own.abstain or general.abstain or DEFAULT_FALLBACKS.abstain,
        hold_for_review=own.hold_for_review or general.hold_for_review or DEFAULT_FALLBACKS.hold_for_review,
    )


def delivered_text(containment: Containment, claims: Sequence[ClaimVerdict], answer: str, fallbacks: Fallbacks) -> str:
    """What would be sent: the answer, the answer without its bad claims, or a fallback text.

    ``claims`` are those of ``answer``, as its verdict holds them. Where cutting would leave nothing to read, it is the
    text for ``abstain``. Time is linear in the length of the answer.
    """
    if containment is Containment.DELIVER:
        return answer
    if containment is Containment.HOLD_FOR_REVIEW:
        return fallbacks.hold_for_review
    trimmed = without_bad_claims(claims, answer) if containment is Containment.DELIVER_TRIMMED else ""
    return trimmed if any(char.isalnum() for char in trimmed) else fallbacks.abstain
