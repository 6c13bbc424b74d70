"""The structural examination: failures that need no detector, and outcomes that make one needless."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from detectors.structural.citations import citation_findings, resolve_citations
from detectors.structural.context import (
    context_passages,
    has_no_context,
    has_nothing_to_rely_on,
    is_empty_retrieval,
    known_texts,
)
from detectors.structural.folding import FoldedTexts
from detectors.structural.injection import canary_findings, obeyed_findings
from detectors.structural.quotes import quote_findings
from detectors.structural.readable import MAX_ANSWER_BYTES, find_unreadable, has_too_many_claims
from detectors.structural.sources import source_findings
from detectors.structural.staleness import stale_findings
from detectors.structural.stance import find_stance, seems_answerable
from detectors.structural.tools import tool_findings
from detectors.structural.truncation import truncation_findings
from schemas.claim import Claim
from schemas.finding import Finding, StructuralRule
from schemas.labels import FailureLabel, Outcome
from schemas.sources import SourceRules
from schemas.trace import Trace

L0_VERSION = "2"
"""Part of the fingerprint: raise it whenever the same trace could get other findings."""

_NO_SOURCE_RULES = SourceRules()


@dataclass(frozen=True, slots=True)
class StructuralFindings:
    """``outcome`` is set when nothing is left to judge; ``cited`` holds, per claim, indices of cited passages."""

    outcome: Outcome | None = None
    findings: tuple[Finding, ...] = ()
    is_empty_retrieval: bool = False
    cited: tuple[tuple[int, ...], ...] = ()

    @property
    def failures(self) -> tuple[FailureLabel, ...]:
        """The failure labels of the findings, each once, in the order of the enum."""
        found = {finding.rule.failure for finding in self.findings}
        return tuple(label for label in FailureLabel if label in found)


def examine(  # noqa: PLR0913 - the trace, and what the policy says about it by name
    trace: Trace,
    claims: Sequence[Claim],
    *,
    citations_required: bool = False,
    sources: SourceRules = _NO_SOURCE_RULES,
    canaries: Iterable[str] = (),
    max_answer_bytes: int = MAX_ANSWER_BYTES,
) -> StructuralFindings:
    """What the structure shows; ``claims`` are those of the trace's answer, the rest is what the policy asks for.

    An answer that asserts something although nothing was retrieved is ``hallucinated`` with
    ``should_have_abstained``; too many claims for their context are ``error:too_long``. Forbidden documents are found
    whatever the answer is, everything else in readable answers only. Raises ConfigError for a source pattern that
    ``policy apply`` would have refused, and nothing for what a trace contains.
    """
    unreadable = find_unreadable(trace, max_answer_bytes)
    if unreadable is None and has_too_many_claims(trace, len(claims)):
        unreadable = Outcome.ERROR_TOO_LONG
    if unreadable is not None:
        forbidden = source_findings(trace, (), resolve_citations((), ()), sources, is_asserting=False)
        return StructuralFindings(unreadable, tuple(forbidden), is_empty_retrieval(trace))
    has_nothing = has_nothing_to_rely_on(trace)
    stance = find_stance(claims, has_nothing=has_nothing)
    is_asserting = stance is None
    citations = resolve_citations(claims, context_passages(trace), trace.answer or "")
    findings = citation_findings(trace, claims, citations, are_required=citations_required and is_asserting)
    findings += stale_findings(trace, citations)
    findings += source_findings(trace, claims, citations, sources, is_asserting=is_asserting)
    findings += _wording_findings(trace, claims, canaries)
    if stance is Outcome.ABSTAINED and seems_answerable(trace.question, trace.passages or ()):
        findings.append(Finding(rule=StructuralRule.REFUSED_ALTHOUGH_ANSWERABLE))
    outcome = stance
    if is_asserting and has_no_context(trace):
        outcome = Outcome.UNRESOLVED_NO_CONTEXT
    elif is_asserting and has_nothing:
        outcome = Outcome.HALLUCINATED
        findings.append(Finding(rule=StructuralRule.ASSERTED_WITHOUT_CONTEXT))
    return StructuralFindings(outcome, tuple(findings), is_empty_retrieval(trace), citations.by_claim)


def _wording_findings(trace: Trace, claims: Sequence[Claim], canaries: Iterable[str]) -> list[Finding]:
    """Quotations and deeds only where the trace shows what the model was given: else nothing could prove them."""
    answer = trace.answer or ""
    findings = canary_findings(answer, claims, canaries)
    findings += obeyed_findings(trace, claims)
    findings += truncation_findings(trace)
    if not has_no_context(trace):
        findings += quote_findings(answer, claims, FoldedTexts(known_texts(trace)))
        findings += tool_findings(trace, claims)
    return findings
