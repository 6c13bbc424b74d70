"""Puts a verdict together from claims, judgements and structural findings; the one place where both meet."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from detectors.claims import splitter_name
from detectors.containment import contain
from detectors.fingerprint import digest, fingerprint_parts
from detectors.outcome import AnswerOutcome, answer_outcome, label_claim
from detectors.preparation import Prepared
from detectors.provenance import seen_texts, with_sources
from detectors.severity import grade, worst
from detectors.structural.effects import apply_findings, cap_findings, score_citations
from detectors.structural.sources import rests_on
from schemas.claim import Claim
from schemas.finding import Finding
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
    layers: tuple[Layer, ...]
    verified_at: datetime
    took_ms: float
    splitter: str = ""


@dataclass(frozen=True, slots=True)
class Looks:
    """What second looks at a trace's judgements found, and the time of the steps that were not this trace's alone."""

    findings: Sequence[Finding] = ()
    said_by_user: frozenset[int] = frozenset()
    timings_ms: Mapping[str, float] = field(default_factory=dict)


_NO_LOOKS = Looks()


def build_verdict(
    ready: Prepared,
    judgements: Sequence[ClaimJudgement],
    policy: PolicyDocument,
    run: Run,
    looks: Looks = _NO_LOOKS,
) -> Verdict:
    """The verdict on one trace; ``judgements`` are empty when the structure settled the outcome.

    ``passed``: grounded, nothing contradicted, and the weakest claim reaches the tier's bar (any grounded answer where
    no bar is set).
    """
    trace, early = ready.trace, ready.findings.outcome
    findings = [*ready.findings.findings, *looks.findings]
    failures: list[FailureLabel] = []
    if ready.needs_judging:
        claims = _judged_claims(ready.claims, judgements, policy.thresholds, run.layers)
        findings += rests_on(claims, trace.passages or (), trace.ts, policy.sources)
        failures += _judgement_failures(judgements, policy.thresholds)
        claims = apply_findings(claims, findings)
        used = run.layers
    else:
        claims = _settled_claims(ready.claims, early)
        used = (Layer.L0,)
    seen = seen_texts(trace)
    claims = with_sources(claims, seen, looks.said_by_user)
    failures += [finding.rule.failure for finding in findings if finding.rule.failure is not None]
    found = answer_outcome(claims, failures, early)
    severities = grade(found.failures, claims, findings, trace.tier)
    citations = score_citations(claims, findings, ready.findings.cited)
    bar = policy.bars.get(trace.tier)
    parts = fingerprint_parts(
        run.detector_fingerprint,
        policy.thresholds,
        run.layers,
        splitter=run.splitter or splitter_name(policy.claims.split),
    )
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
        layers=used,
        took_ms=run.took_ms,
        timings_ms={step: round(ms, _DECIMALS) for step, ms in {**looks.timings_ms, **ready.timings_ms}.items()},
        splitter=ready.splitter,
        answer_hash=passage_hash(trace.answer) if trace.answer is not None else "",
        seen=seen,
        verified_at=run.verified_at,
    )


def _judged_claims(
    claims: Sequence[Claim], judgements: Sequence[ClaimJudgement], thresholds: Thresholds, layers: tuple[Layer, ...]
) -> tuple[ClaimVerdict, ...]:
    verdicts = []
    for claim, judgement in zip(claims, judgements, strict=True):
        labelled = label_claim(judgement, thresholds)
        has_scores = labelled.error is None
        verdicts.append(
            ClaimVerdict(
                claim=claim,
                label=labelled.label,
                support=judgement.support if has_scores else None,
                contradiction=judgement.contradiction if has_scores else None,
                evidence=judgement.evidence if has_scores else None,
                why=judgement.why,
                layers=layers if claim.is_factual else (Layer.L0,),
                error=labelled.error,
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
        ClaimVerdict(claim=claim, label=label, why=why, layers=(Layer.L0,), error=error)
        if claim.is_factual
        else ClaimVerdict(claim=claim, label=ClaimLabel.NOT_FACTUAL, layers=(Layer.L0,))
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
