"""A Verdict as one row of ``verdicts``, and back; claims are Nested, so a redone verdict replaces them all."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from schemas.claim import Claim, ClaimSource
from schemas.finding import Finding, StructuralRule
from schemas.labels import ClaimLabel, Containment, FailureLabel, Layer, Outcome, RiskTier, Severity
from schemas.verdict import ClaimVerdict, Evidence, SeenText, Verdict
from streams.store.connection import Table
from streams.store.hop_rows import HOPS, hops_of
from streams.store.routing_rows import ROUTING, consistency_of, routing_of
from streams.store.trace_rows import versions
from streams.store.values import clean, cleaned, from_micros, micros

_REVISION_STEP = 1 << 44
"""Milliseconds since 1970 stay below this until the year 2527; the trace's revision counts above it."""

_WORD = "LowCardinality(String)"
_WORDS = "Array(LowCardinality(String))"
_NO_EVIDENCE = Evidence(passage=0, doc_id="", passage_hash="", start=0, end=0, text="")

_Value = Callable[[Verdict], Any]


def verdict_row(verdict: Verdict) -> list[Any]:
    """The values of one row, in the order of ``VERDICTS.columns``."""
    return [value(verdict) for _, _, value in _COLUMNS]


def verdict_of(row: Mapping[str, Any]) -> Verdict:
    """The verdict of one row."""
    return Verdict(
        trace_id=row["trace_id"],
        ts=from_micros(row["ts"]),
        revision=row["revision"],
        intent=row["intent"],
        tier=RiskTier(row["tier"]),
        versions=versions(row),
        fingerprint=row["fingerprint"],
        outcome=Outcome(row["outcome"]),
        failures=tuple(FailureLabel(word) for word in row["failures"]),
        severities=tuple(Severity(word) for word in row["severities"]),
        severity=Severity(row["severity"]) if row["severity"] else None,
        findings=tuple(_finding(row, index) for index in range(len(row["findings.rule"]))),
        citation_precision=row["citation_precision"],
        citation_recall=row["citation_recall"],
        score=row["score"],
        faithfulness=row["faithfulness"],
        passed=row["passed"],
        containment=Containment(row["containment"]),
        claims=tuple(_claim_verdict(row, index) for index in range(len(row["claims.index"]))),
        layers=tuple(Layer(word) for word in row["layers"]),
        routing=routing_of(row),
        consistency=consistency_of(row),
        took_ms=row["took_ms"],
        timings_ms=dict(zip(row["timings.step"], row["timings.ms"], strict=True)),
        splitter=row["splitter"],
        fingerprint_parts=json.loads(row["fingerprint_parts"] or "{}"),
        answer_hash=row["answer_hash"],
        seen=tuple(_seen(row, index) for index in range(len(row["seen.hash"]))),
        hops=hops_of(row),
        hops_left_out=row["hops_left_out"],
        cost_usd=row["cost_usd"],
        verified_at=from_micros(row["verified_at"]),
    )


def _finding(row: Mapping[str, Any], at: int) -> Finding:
    return Finding(
        rule=StructuralRule(row["findings.rule"][at]),
        claim=row["findings.claim"][at],
        passage=row["findings.passage"][at],
        detail=row["findings.detail"][at],
    )


def _seen(row: Mapping[str, Any], at: int) -> SeenText:
    return SeenText(
        source=ClaimSource(row["seen.source"][at]),
        doc_id=row["seen.doc_id"][at],
        content_hash=row["seen.hash"][at],
        chars=row["seen.chars"][at],
    )


def _claim_verdict(row: Mapping[str, Any], at: int) -> ClaimVerdict:
    error = row["claims.error"][at]
    claim = Claim(
        index=row["claims.index"][at],
        start=row["claims.span_start"][at],
        end=row["claims.span_end"][at],
        text=row["claims.text"][at],
        is_factual=row["claims.is_factual"][at],
        critical_rule=row["claims.critical_rule"][at],
        citations=tuple(row["claims.citations"][at]),
        subject=_later(row, "claims.subject", at, ""),
        sentence_start=_later(row, "claims.sentence_start", at, None),
        sentence_end=_later(row, "claims.sentence_end", at, None),
        split_by=_later(row, "claims.split_by", at, ""),
    )
    source, decided_by = _later(row, "claims.source", at, ""), _later(row, "claims.decided_by", at, "")
    return ClaimVerdict(
        claim=claim,
        label=ClaimLabel(row["claims.label"][at]),
        support=row["claims.support"][at],
        contradiction=row["claims.contradiction"][at],
        evidence=_evidence(row, at),
        why=row["claims.why"][at],
        layers=tuple(Layer(word) for word in row["claims.layers"][at]),
        decided_by=Layer(decided_by) if decided_by else None,
        confidence=_later(row, "claims.confidence", at, None),
        error=Outcome(error) if error else None,
        source=ClaimSource(source) if source else None,
        hop=_later(row, "claims.hop", at, None),
    )


def _later(row: Mapping[str, Any], name: str, at: int, default: Any) -> Any:
    """A claim's value in a column that came later: in rows written before it, the list may be empty."""
    values = row[name]
    return values[at] if at < len(values) else default


def _evidence(row: Mapping[str, Any], at: int) -> Evidence | None:
    passage = row["claims.evidence_passage"][at]
    if passage is None:
        return None
    return Evidence(
        passage=passage,
        doc_id=row["claims.evidence_doc"][at],
        passage_hash=row["claims.evidence_hash"][at],
        start=row["claims.evidence_start"][at],
        end=row["claims.evidence_end"][at],
        text=row["claims.evidence_text"][at],
    )


def _parts(parts: Mapping[str, str]) -> str:
    return json.dumps(parts, sort_keys=True) if parts else ""


def _each(value: Callable[[ClaimVerdict], Any]) -> _Value:
    return lambda verdict: [value(claim) for claim in verdict.claims]


def _span(value: Callable[[Evidence], Any]) -> _Value:
    return lambda verdict: [value(claim.evidence or _NO_EVIDENCE) for claim in verdict.claims]


_ANSWER: list[tuple[str, str, _Value]] = [
    ("ts", "DateTime64(6, 'UTC')", lambda v: micros(v.ts)),
    ("trace_id", "String", lambda v: clean(v.trace_id)),
    ("fingerprint", _WORD, lambda v: clean(v.fingerprint)),
    ("rev", "UInt64", lambda v: v.revision * _REVISION_STEP + micros(v.verified_at) // 1000),
    ("revision", "UInt32", lambda v: v.revision),
    ("intent", _WORD, lambda v: clean(v.intent)),
    ("tier", _WORD, lambda v: v.tier.value),
    ("model_version", _WORD, lambda v: clean(v.versions.model)),
    ("prompt_version", _WORD, lambda v: clean(v.versions.prompt)),
    ("corpus_version", _WORD, lambda v: clean(v.versions.corpus)),
    ("retriever_version", _WORD, lambda v: clean(v.versions.retriever)),
    ("app_version", _WORD, lambda v: clean(v.versions.app)),
    ("outcome", _WORD, lambda v: v.outcome.value),
    ("failures", _WORDS, lambda v: [label.value for label in v.failures]),
    ("severities", _WORDS, lambda v: [severity.value for severity in v.severities]),
    ("severity", _WORD, lambda v: v.severity.value if v.severity else ""),
    ("score", "Nullable(Float64)", lambda v: v.score),
    ("faithfulness", "Nullable(Float64)", lambda v: v.faithfulness),
    ("findings.rule", _WORDS, lambda v: [finding.rule.value for finding in v.findings]),
    ("findings.claim", "Array(Nullable(UInt32))", lambda v: [finding.claim for finding in v.findings]),
    ("findings.passage", "Array(Nullable(UInt32))", lambda v: [finding.passage for finding in v.findings]),
    ("findings.detail", "Array(String)", lambda v: [clean(finding.detail) for finding in v.findings]),
    ("citation_precision", "Nullable(Float64)", lambda v: v.citation_precision),
    ("citation_recall", "Nullable(Float64)", lambda v: v.citation_recall),
    ("passed", "Bool", lambda v: v.passed),
    ("containment", _WORD, lambda v: v.containment.value),
    ("layers", _WORDS, lambda v: [layer.value for layer in v.layers]),
    ("took_ms", "Float64", lambda v: v.took_ms),
    ("timings.step", _WORDS, lambda v: [clean(step) for step in v.timings_ms]),
    ("timings.ms", "Array(Float64)", lambda v: list(v.timings_ms.values())),
    ("splitter", _WORD, lambda v: clean(v.splitter)),
    ("fingerprint_parts", _WORD, lambda v: _parts(v.fingerprint_parts)),
    ("answer_hash", "String", lambda v: clean(v.answer_hash)),
    ("seen.source", _WORDS, lambda v: [text.source.value for text in v.seen]),
    ("seen.doc_id", "Array(String)", lambda v: [clean(text.doc_id) for text in v.seen]),
    ("seen.hash", "Array(String)", lambda v: [clean(text.content_hash) for text in v.seen]),
    ("seen.chars", "Array(UInt32)", lambda v: [text.chars for text in v.seen]),
    ("cost_usd", "Float64", lambda v: v.cost_usd),
    ("verified_at", "DateTime64(6, 'UTC')", lambda v: micros(v.verified_at)),
]
_CLAIMS: list[tuple[str, str, _Value]] = [
    ("claims.index", "Array(UInt32)", _each(lambda c: c.claim.index)),
    ("claims.span_start", "Array(UInt32)", _each(lambda c: c.claim.start)),
    ("claims.span_end", "Array(UInt32)", _each(lambda c: c.claim.end)),
    ("claims.text", "Array(String)", _each(lambda c: clean(c.claim.text))),
    ("claims.is_factual", "Array(Bool)", _each(lambda c: c.claim.is_factual)),
    ("claims.critical_rule", _WORDS, _each(lambda c: clean(c.claim.critical_rule))),
    ("claims.citations", "Array(Array(String))", _each(lambda c: cleaned(c.claim.citations))),
    ("claims.source", _WORDS, _each(lambda c: c.source.value if c.source else "")),
    ("claims.hop", "Array(Nullable(UInt32))", _each(lambda c: c.hop)),
    ("claims.subject", "Array(String)", _each(lambda c: clean(c.claim.subject))),
    ("claims.sentence_start", "Array(Nullable(UInt32))", _each(lambda c: c.claim.sentence_start)),
    ("claims.sentence_end", "Array(Nullable(UInt32))", _each(lambda c: c.claim.sentence_end)),
    ("claims.split_by", _WORDS, _each(lambda c: clean(c.claim.split_by))),
    ("claims.label", _WORDS, _each(lambda c: c.label.value)),
    ("claims.support", "Array(Nullable(Float64))", _each(lambda c: c.support)),
    ("claims.contradiction", "Array(Nullable(Float64))", _each(lambda c: c.contradiction)),
    ("claims.why", "Array(String)", _each(lambda c: clean(c.why))),
    ("claims.layers", f"Array({_WORDS})", _each(lambda c: [layer.value for layer in c.layers])),
    ("claims.decided_by", _WORDS, _each(lambda c: c.decided_by.value if c.decided_by else "")),
    ("claims.confidence", "Array(Nullable(Float64))", _each(lambda c: c.confidence)),
    ("claims.error", _WORDS, _each(lambda c: c.error.value if c.error else "")),
    ("claims.evidence_passage", "Array(Nullable(UInt32))", _each(lambda c: c.evidence.passage if c.evidence else None)),
    ("claims.evidence_doc", "Array(String)", _span(lambda e: clean(e.doc_id))),
    ("claims.evidence_hash", "Array(String)", _span(lambda e: clean(e.passage_hash))),
    ("claims.evidence_start", "Array(UInt32)", _span(lambda e: e.start)),
    ("claims.evidence_end", "Array(UInt32)", _span(lambda e: e.end)),
    ("claims.evidence_text", "Array(String)", _span(lambda e: clean(e.text))),
]
_COLUMNS = [*_ANSWER, *ROUTING, *HOPS, *_CLAIMS]

VERDICTS = Table("verdicts", tuple((name, kind) for name, kind, _ in _COLUMNS))
