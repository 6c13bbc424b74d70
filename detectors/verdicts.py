"""Puts a verdict together from claims, judgements and structural findings; the one place where both meet."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from detectors.containment import contain
from detectors.course import Course
from detectors.fingerprint import digest, route_parts
from detectors.layers import Layers
from detectors.outcome import AnswerOutcome, answer_outcome, label_claim
from detectors.provenance import seen_texts, with_sources
from detectors.routing import UPPER
from detectors.second_looks import Looked
from detectors.severity import grade, worst
from detectors.structural.effects import apply_findings, cap_findings, score_citations
from detectors.structural.sources import rests_on
from schemas.claim import Claim
from schemas.labels import ClaimLabel, FailureLabel, Layer, Outcome
from schemas.policy import PolicyDocument, Thresholds
from schemas.trace import passage_hash
from schemas.verdict import ClaimJudgement, ClaimVerdict, Verdict

_DECIMALS = 3


@dataclass(frozen=True, slots=True)
class Run:
    """What all verdicts of a batch share.

    ``took_ms`` is each trace's part of the batch, in milliseconds; ``splitter`` the name of what splits answers, where
    that is not the policy's rules.
    """

    detector_fingerprint: str
    above: Layers
    verified_at: datetime
    took_ms: float
    splitter: str = ""


def build_verdict(
    course: Course, policy: PolicyDocument, run: Run, looked: Looked, timings_ms: Mapping[str, float]
) -> Verdict:
    """The verdict on one trace that has been through its layers; ``timings_ms`` are those of steps over the batch.

    ``passed``: grounded, nothing contradicted, and the weakest claim reaches the tier's bar (any grounded answer where
    no bar is set).
    """
    ready, routing = course.ready, course.table
    trace, early = ready.trace, ready.findings.outcome
    findings = [*ready.findings.findings, *looked.findings]
    failures: list[FailureLabel] = []
    if ready.needs_judging:
        claims = _judged_claims(course, policy.thresholds)
        findings += rests_on(claims, trace.passages or (), trace.ts, policy.sources)
        failures += _judgement_failures(course.judgements, policy.thresholds)
        claims = apply_findings(claims, findings)
    else:
        claims = _settled_claims(ready.claims, early)
    seen = seen_texts(trace)
    claims = with_sources(claims, seen, looked.said_by_user)
    failures += [finding.rule.failure for finding in findings if finding.rule.failure is not None]
    found = answer_outcome(claims, failures, early)
    severities = grade(found.failures, claims, findings, trace.tier)
    citations = score_citations(claims, findings, ready.findings.cited)
    bar = policy.bars.get(trace.tier)
    parts = route_parts(run.detector_fingerprint, policy, course.plan, run.above, run.splitter)
    return Verdict(
        trace_id=trace.trace_id,
        ts=trace.ts,
        revision=trace.revision,
        intent=trace.intent,
        tier=trace.tier,
        versions=trace.versions,
        fingerprint=digest(parts),
        fingerprint_parts=parts,
        outcome=found.outcome,
        failures=found.failures,
        severities=severities,
        severity=worst(severities),
        findings=cap_findings(findings),
        citation_precision=citations.precision,
        citation_recall=citations.recall,
        score=found.score,
        faithfulness=found.faithfulness,
        passed=_has_passed(found, claims, bar),
        containment=contain(found.outcome, claims, trace.answer or "", bar),
        claims=claims,
        layers=tuple(line.layer for line in routing if line.ran),
        routing=routing,
        consistency=course.consistency,
        took_ms=run.took_ms,
        timings_ms=_timings(course, timings_ms),
        splitter=ready.splitter,
        answer_hash=passage_hash(trace.answer) if trace.answer is not None else "",
        seen=seen,
        hops=course.hops,
        hops_left_out=course.hops_left_out,
        cost_usd=sum(line.cost_usd for line in routing),
        verified_at=run.verified_at,
    )


def _timings(course: Course, shared: Mapping[str, float]) -> dict[str, float]:
    upper = {line.layer.value: line.took_ms for line in course.table if line.ran and line.layer in UPPER}
    return {step: round(ms, _DECIMALS) for step, ms in {**shared, **upper, **course.ready.timings_ms}.items()}


def _judged_claims(course: Course, thresholds: Thresholds) -> tuple[ClaimVerdict, ...]:
    verdicts = []
    for at, (claim, judgement) in enumerate(zip(course.ready.claims, course.judgements, strict=True)):
        labelled = label_claim(judgement, thresholds)
        has_scores = labelled.error is None
        decided_by = (judgement.layer or course.layer) if has_scores else None
        verdicts.append(
            ClaimVerdict(
                claim=claim,
                label=labelled.label,
                support=judgement.support if has_scores else None,
                contradiction=judgement.contradiction if has_scores else None,
                evidence=judgement.evidence if has_scores else None,
                why=judgement.why,
                layers=course.seen_by(judgement) if claim.is_factual else (Layer.L0,),
                decided_by=decided_by if claim.is_factual else Layer.L0,
                confidence=judgement.confidence if has_scores and judgement.label is not None else None,
                error=labelled.error,
                hop=course.hop_of.get(at) if claim.is_factual and has_scores else None,
            )
        )
    return tuple(verdicts)


def _settled_claims(claims: Sequence[Claim], outcome: Outcome | None) -> tuple[ClaimVerdict, ...]:
    """Claims of an answer that no detector saw.

    An assertion out of nothing is unsupported, what cannot be checked is unclear, and a mere referral beside a refusal
    is outside the score.
    """
    label, why = ClaimLabel.NOT_FACTUAL, ""
    if outcome is Outcome.HALLUCINATED:
        label, why = ClaimLabel.UNSUPPORTED, "nothing was retrieved"
    elif outcome is not None and (outcome.is_unresolved or outcome.is_error):
        label, why = ClaimLabel.UNCLEAR, outcome.value
    error = outcome if outcome is not None and outcome.is_error else None
    return tuple(
        ClaimVerdict(
            claim=claim,
            label=label,
            why=why,
            layers=(Layer.L0,),
            decided_by=Layer.L0 if error is None else None,
            error=error,
        )
        if claim.is_factual
        else ClaimVerdict(claim=claim, label=ClaimLabel.NOT_FACTUAL, layers=(Layer.L0,), decided_by=Layer.L0)
        for claim in claims
    )


def _judgement_failures(judgements: Sequence[ClaimJudgement], thresholds: Thresholds) -> list[FailureLabel]:
    failures = [label_claim(judgement, thresholds).failure for judgement in judgements]
    return [failure for failure in failures if failure is not None]


def _has_passed(found: AnswerOutcome, claims: Sequence[ClaimVerdict], bar: float | None) -> bool:
    """A contradicted claim fails the answer whatever the bar and whatever else the answer was found to be."""
    is_contradicted = any(judged.label is ClaimLabel.CONTRADICTED for judged in claims)
    is_above = bar is None or (found.score is not None and found.score >= bar)
    return found.outcome is Outcome.GROUNDED and is_above and not is_contradicted
