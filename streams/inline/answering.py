"""From a verdict, or the lack of one, to the reply: a pure function.

The text to send comes from the answer itself or from the policy, and links from the passages that the caller sent.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from detectors.delivery import delivered_text, fallbacks_of
from schemas.labels import Containment, Layer
from schemas.layers import LayerReason, LayerRun
from schemas.policy import PolicyDocument
from schemas.routes import OnFailure
from schemas.verdict import ClaimVerdict, Verdict
from streams.inline.links import SourceLink, as_html, safe_url
from streams.inline.reply import CheckedClaim, CheckReply, ClaimEvidence, Fallback, Unchecked
from streams.inline.request import CheckPassage, CheckRequest


@dataclass(frozen=True, slots=True)
class Case:
    """What a reply is about."""

    asked: CheckRequest
    trace_id: str
    intent: str
    policy_id: str
    policy: PolicyDocument
    on_failure: OnFailure
    within_ms: int


def judged_reply(case: Case, verdict: Verdict, sources: tuple[SourceLink, ...]) -> CheckReply:
    """The reply for a verdict. One that is an error is none, and the decision is then that for failures.

    ``sources`` are the documents that may be shown in place of the answer.
    """
    reason = _why_unchecked(verdict)
    decision = verdict.containment if reason is None else failing(case.on_failure)
    text = delivered_text(decision, verdict.claims, case.asked.answer, fallbacks_of(case.policy, case.intent))
    passages = case.asked.passages or ()
    return CheckReply(
        trace_id=case.trace_id,
        decision=decision,
        text=text,
        checked=reason is None,
        reason=reason,
        fallback=_fallback(case, decision, text, sources),
        outcome=verdict.outcome,
        passed=verdict.passed,
        failures=verdict.failures,
        severity=verdict.severity,
        claims=tuple(_claim(judged, passages) for judged in verdict.claims),
        layers=verdict.routing,
        dropped=dropped_layers(verdict.routing),
        policy_id=case.policy_id,
        fingerprint=verdict.fingerprint,
        within_ms=case.within_ms,
        score=verdict.score,
        faithfulness=verdict.faithfulness,
    )


def unjudged_reply(case: Case, reason: Unchecked) -> CheckReply:
    """The reply where there is no verdict at all; without one no source is known to be fit to be shown."""
    decision = failing(case.on_failure)
    text = delivered_text(decision, (), case.asked.answer, fallbacks_of(case.policy, case.intent))
    return CheckReply(
        trace_id=case.trace_id,
        decision=decision,
        text=text,
        checked=False,
        reason=reason,
        fallback=_fallback(case, decision, text, ()),
        policy_id=case.policy_id,
        within_ms=case.within_ms,
    )


def failing(on_failure: OnFailure) -> Containment:
    """What happens to an answer that could not be judged."""
    return Containment.DELIVER if on_failure is OnFailure.OPEN else Containment.HOLD_FOR_REVIEW


def dropped_layers(routing: Sequence[LayerRun]) -> tuple[Layer, ...]:
    """The layers that time cut off."""
    return tuple(row.layer for row in routing if row.why is LayerReason.OUT_OF_TIME)


def _why_unchecked(verdict: Verdict) -> Unchecked | None:
    if not verdict.outcome.is_error:
        return None
    return Unchecked.OUT_OF_TIME if dropped_layers(verdict.routing) else Unchecked.FAILED


def _fallback(case: Case, decision: Containment, text: str, sources: tuple[SourceLink, ...]) -> Fallback | None:
    kept_back = fallbacks_of(case.policy, case.intent)
    if decision is Containment.DELIVER or text not in {kept_back.abstain, kept_back.hold_for_review}:
        return None
    return Fallback(text=text, sources=sources, html=as_html(text, sources))


def _claim(judged: ClaimVerdict, passages: Sequence[CheckPassage]) -> CheckedClaim:
    claim = judged.claim
    return CheckedClaim(
        text=claim.text,
        start=claim.start,
        end=claim.end,
        label=judged.label,
        critical_rule=claim.critical_rule,
        source=judged.source,
        evidence=_evidence(judged, passages),
        why=judged.why,
        decided_by=judged.decided_by,
        error=judged.error,
        support=judged.support,
        contradiction=judged.contradiction,
        confidence=judged.confidence,
    )


def _evidence(judged: ClaimVerdict, passages: Sequence[CheckPassage]) -> ClaimEvidence | None:
    found = judged.evidence
    if found is None:
        return None
    is_passage = found.passage < len(passages)
    return ClaimEvidence(
        passage=found.passage if is_passage else None,
        doc_id=found.doc_id,
        url=safe_url(passages[found.passage].url) if is_passage else "",
        start=found.start,
        end=found.end,
        text=found.text,
    )
