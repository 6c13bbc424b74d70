"""What should happen to an answer before it is sent; a pure decision over labels, whatever the rates say.

Whether cutting a claim changes what the rest means cannot be known for certain, so the rule errs towards abstaining.
"""

import re
from collections.abc import Sequence

from detectors.claims.parts import by_sentence
from detectors.lexicon import load_lexicon, normal_form
from detectors.outcome import BAD, WORST_FIRST
from schemas.labels import ClaimLabel, Containment, Outcome
from schemas.verdict import ClaimVerdict

_STEP_MARKER = re.compile(r"[\s>(（]*(?:(?:\d{1,3}|[a-zA-Z]|[ivx]{1,5})[.)）、]|[①-⑳])\s*")
_INLINE_STEP = re.compile(r"\d{1,2}[.)]\s")
_MARKER_CHARS = 40
_OPENING_CHARS = 60


def contain(outcome: Outcome, claims: Sequence[ClaimVerdict], answer: str, bar: float | None = None) -> Containment:
    """The containment of an answer; ``bar`` is the lowest support with which its tier lets a claim pass.

    An unsupported or contradicted critical claim: ``abstain``; else a claim to review or in error, or an answer that
    could not be judged: ``hold_for_review``; else an unsupported or contradicted claim: ``deliver_trimmed``, or
    ``abstain`` where ``changes_meaning`` says so; else ``deliver``. A supported claim below the bar is one to review.
    """
    bad = [claim for claim in claims if claim.label in BAD]
    if any(claim.claim.critical_rule for claim in bad):
        return Containment.ABSTAIN
    to_review = any(_needs_review(claim, bar) for claim in claims)
    if to_review or outcome is Outcome.UNCLEAR or outcome.is_error or outcome.is_unresolved:
        return Containment.HOLD_FOR_REVIEW
    if bad:
        return Containment.ABSTAIN if changes_meaning(claims, answer) else Containment.DELIVER_TRIMMED
    return Containment.ABSTAIN if outcome is Outcome.HALLUCINATED else Containment.DELIVER


def _needs_review(judged: ClaimVerdict, bar: float | None) -> bool:
    if judged.error is not None or judged.label is ClaimLabel.UNCLEAR:
        return True
    is_scored = judged.label is ClaimLabel.SUPPORTED and judged.support is not None
    return is_scored and bar is not None and (judged.support or 0.0) < bar


def changes_meaning(claims: Sequence[ClaimVerdict], answer: str) -> bool:
    """Whether cutting the bad claims, each with its whole sentence, could change what the rest means.

    Yes when no supported claim would remain; when the claim after a cut one refers back ("This …", "However, …"); when
    a cut one limits what stands before it ("But …", "Unless …"); when a cut one ends with a colon; or when it is a
    numbered step.
    """
    sentences = by_sentence(claims, answer, WORST_FIRST)
    if not any(claim.label is ClaimLabel.SUPPORTED for claim in sentences):
        return True
    following = [*sentences[1:], None]
    return any(
        _leans_on_cut(after) or _limits(claim) or _introduces(claim) or _is_step(claim, answer)
        for claim, after in zip(sentences, following, strict=True)
        if claim.label in BAD
    )


def _leans_on_cut(after: ClaimVerdict | None) -> bool:
    if after is None or after.label in BAD:
        return False
    opening = normal_form(after.claim.text, _OPENING_CHARS)
    lexicon = load_lexicon()
    return lexicon.referring.match(opening) is not None or lexicon.limiting.match(opening) is not None


def _limits(claim: ClaimVerdict) -> bool:
    return load_lexicon().limiting.match(normal_form(claim.claim.text, _OPENING_CHARS)) is not None


def _introduces(claim: ClaimVerdict) -> bool:
    return claim.claim.text.rstrip("*_ ").endswith((":", "："))


def _is_step(claim: ClaimVerdict, answer: str) -> bool:
    line_start = answer.rfind("\n", 0, claim.claim.start) + 1
    if claim.claim.start - line_start <= _MARKER_CHARS and _STEP_MARKER.fullmatch(
        answer, line_start, claim.claim.start
    ):
        return True
    return _INLINE_STEP.match(claim.claim.text) is not None
