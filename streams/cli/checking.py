"""Traces through the detectors without Kafka, store or draw: what ``groundwatch check`` and scripts need."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from detectors.delivery import delivered_text, fallbacks_of
from detectors.detector import Detector
from detectors.layers import Layers
from detectors.screening import Screener
from detectors.verification import verify
from schemas.draw import DrawnTrace
from schemas.errors import InvalidMessage
from schemas.finding import Finding, StructuralRule
from schemas.policy import PolicyDocument
from schemas.trace import Trace
from schemas.verdict import ClaimVerdict, Verdict
from streams.cli.recorded import Line
from streams.inline.stages import EVERY_TRACE
from streams.messages import Message
from streams.sources.native import decode_native

_NO_LAYERS = Layers()


@dataclass(frozen=True, slots=True)
class Checked:
    """A line with its trace and verdict, or with the reason why it has none."""

    line: Line
    trace: Trace | None = None
    verdict: Verdict | None = None
    delivered: str = ""
    """What a user would read: the answer, the answer without its bad claims, or a fallback text."""
    fault: str = ""


def check_lines(  # noqa: PLR0913  what is judged, and by what
    lines: Iterable[Line],
    detector: Detector,
    policy: PolicyDocument,
    now: datetime,
    batch_size: int,
    *,
    above: Layers = _NO_LAYERS,
) -> Iterator[Checked]:
    """One result a line, in order; a line that cannot become a trace has a fault and stops nothing."""
    screener = Screener(detector)
    for batch in _batches(lines, batch_size):
        decoded = [_decoded(line, now) for line in batch]
        traces = [item.trace for item in decoded if item.trace is not None]
        verdicts = iter(judge(traces, detector, screener, policy, now, above=above))
        for item in decoded:
            yield item if item.trace is None else _with_verdict(item.line, item.trace, next(verdicts), policy)


def _with_verdict(line: Line, trace: Trace, verdict: Verdict, policy: PolicyDocument) -> Checked:
    texts = fallbacks_of(policy, trace.intent)
    return Checked(line, trace, verdict, delivered_text(verdict.containment, verdict.claims, trace.answer or "", texts))


def judge(  # noqa: PLR0913  as above
    traces: Sequence[Trace],
    detector: Detector,
    screener: Screener,
    policy: PolicyDocument,
    now: datetime,
    *,
    above: Layers = _NO_LAYERS,
) -> list[Verdict]:
    """Every trace judged in full, whatever the policy would have drawn, by the layers that its routes name."""
    policies = [policy] * len(traces)
    screenings = screener.screen(traces, policies)
    drawn = [
        DrawnTrace(trace=trace, draw=EVERY_TRACE, screening=screening)
        for trace, screening in zip(traces, screenings, strict=True)
    ]
    return verify(drawn, policies, detector, now, above=above)


def as_json(checked: Checked) -> dict[str, Any]:
    """The line that ``--json`` prints; ``line`` is the number of the input line."""
    verdict = checked.verdict
    if verdict is None:
        return {"line": checked.line.number, "error": checked.fault}
    return {
        "line": checked.line.number,
        "trace_id": verdict.trace_id,
        "intent": verdict.intent,
        "tier": verdict.tier,
        "outcome": verdict.outcome,
        "score": verdict.score,
        "faithfulness": verdict.faithfulness,
        "passed": verdict.passed,
        "containment": verdict.containment,
        "delivered": checked.delivered,
        "failures": list(verdict.failures),
        "severity": verdict.severity,
        "severities": dict(zip(verdict.failures, verdict.severities, strict=True)),
        "findings": [_finding(finding) for finding in verdict.findings],
        "citation_precision": verdict.citation_precision,
        "citation_recall": verdict.citation_recall,
        "claims": [_claim(claim) for claim in verdict.claims],
        "judged": {
            "answer_hash": verdict.answer_hash,
            "texts": [text.model_dump(mode="json") for text in verdict.seen],
            "is_context_truncated": is_context_truncated(verdict),
        },
        "hops": [hop.model_dump(mode="json") for hop in verdict.hops],
        "hops_left_out": verdict.hops_left_out,
        "splitter": verdict.splitter,
        "layers": list(verdict.layers),
        "routing": [run.model_dump(mode="json") for run in verdict.routing],
        "consistency": verdict.consistency.model_dump(mode="json") if verdict.consistency else None,
        "cost_usd": verdict.cost_usd,
        "timings_ms": verdict.timings_ms,
        "took_ms": verdict.took_ms,
        "fingerprint": verdict.fingerprint,
    }


def is_context_truncated(verdict: Verdict) -> bool:
    """Whether the model was shown less than was retrieved, as far as the packed prompt tells."""
    return any(finding.rule is StructuralRule.CONTEXT_TRUNCATED for finding in verdict.findings)


def _finding(finding: Finding) -> dict[str, Any]:
    return {**finding.model_dump(mode="json"), "failure": finding.rule.failure}


def _claim(judged: ClaimVerdict) -> dict[str, Any]:
    evidence = judged.evidence
    return {
        "text": judged.claim.text,
        "start": judged.claim.start,
        "end": judged.claim.end,
        "subject": judged.claim.subject,
        "split_by": judged.claim.split_by,
        "label": judged.label,
        "source": judged.source,
        "hop": judged.hop,
        "support": judged.support,
        "contradiction": judged.contradiction,
        "critical_rule": judged.claim.critical_rule,
        "citations": list(judged.claim.citations),
        "evidence": evidence.model_dump(mode="json") if evidence else None,
        "why": judged.why,
        "layers": list(judged.layers),
        "decided_by": judged.decided_by,
        "confidence": judged.confidence,
        "error": judged.error,
    }


def _decoded(line: Line, now: datetime) -> Checked:
    message = Message("file", 0, line.number, None, line.content, (), now)
    try:
        return Checked(line, decode_native(message))
    except InvalidMessage as error:
        return Checked(line, fault=str(error))


def _batches(lines: Iterable[Line], size: int) -> Iterator[list[Line]]:
    batch: list[Line] = []
    for line in lines:
        batch.append(line)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch
