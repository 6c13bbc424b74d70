"""The structural examination: failures that need no detector, and outcomes that make one needless."""

from collections.abc import Sequence
from dataclasses import dataclass

from detectors.structural.citations import citation_findings, resolve_citations
from detectors.structural.context import (
    context_passages,
    has_no_context,
    has_nothing_to_rely_on,
    is_blank,
    is_empty_retrieval,
    is_redacted,
)
from detectors.structural.staleness import stale_findings
from detectors.structural.stance import find_stance, seems_answerable
from schemas.claim import Claim
from schemas.finding import Finding, StructuralRule
from schemas.labels import FailureLabel, Outcome
from schemas.trace import Trace

L0_VERSION = "1"
"""Part of the fingerprint: raise it whenever the same trace could get other findings."""
MAX_ANSWER_BYTES = 262_144
"""Longest answer that is judged, in bytes of UTF-8; a longer one is ``error:too_long``, never cut."""

_FLAG_OUTCOMES = {
    "no_content": Outcome.UNRESOLVED_NO_CONTENT,
    "redacted": Outcome.UNRESOLVED_REDACTED,
    "truncated": Outcome.UNRESOLVED_TRUNCATED,
}


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


def examine(
    trace: Trace, claims: Sequence[Claim], *, citations_required: bool, max_answer_bytes: int = MAX_ANSWER_BYTES
) -> StructuralFindings:
    """What the structure shows; ``claims`` are those of the trace's answer.

    An answer that asserts something although nothing was retrieved is ``hallucinated`` with
    ``should_have_abstained``. Required citations are missing when the answer states facts and cites nothing at all.
    """
    unreadable = find_unreadable(trace, max_answer_bytes)
    if unreadable is not None:
        return StructuralFindings(unreadable, is_empty_retrieval=is_empty_retrieval(trace))
    has_nothing = has_nothing_to_rely_on(trace)
    stance = find_stance(claims, has_nothing=has_nothing)
    citations = resolve_citations(claims, context_passages(trace), trace.answer or "")
    are_required = citations_required and stance is None
    findings = citation_findings(trace, claims, citations, are_required=are_required)
    findings += stale_findings(trace, citations)
    if stance is Outcome.ABSTAINED and seems_answerable(trace.question, trace.passages or ()):
        findings.append(Finding(rule=StructuralRule.REFUSED_ALTHOUGH_ANSWERABLE))
    outcome = stance
    if stance is None and has_no_context(trace):
        outcome = Outcome.UNRESOLVED_NO_CONTEXT
    elif stance is None and has_nothing:
        outcome = Outcome.HALLUCINATED
        findings.append(Finding(rule=StructuralRule.ASSERTED_WITHOUT_CONTEXT))
    return StructuralFindings(outcome, tuple(findings), is_empty_retrieval(trace), citations.by_claim)


def find_unreadable(trace: Trace, max_answer_bytes: int = MAX_ANSWER_BYTES) -> Outcome | None:
    """The outcome of an answer that cannot be read at all (absent, hidden, cut, too long); None for all others."""
    flagged = next((outcome for flag, outcome in _FLAG_OUTCOMES.items() if flag in trace.flags), None)
    if flagged is not None:
        return flagged
    if trace.answer is None or is_blank(trace.answer):
        return Outcome.UNRESOLVED_NO_ANSWER
    if is_redacted(trace):
        return Outcome.UNRESOLVED_REDACTED
    if len(trace.answer) * 4 > max_answer_bytes and len(trace.answer.encode("utf-8", "replace")) > max_answer_bytes:
        return Outcome.ERROR_TOO_LONG
    return None
