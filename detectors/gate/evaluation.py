"""One golden case and the answer that a run gave to it: every reason why it is not passed, and what each points to.

The case decides intent and tier, so that both runs are held to the same rules whatever the product sends.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from detectors.gate.citing import Cited, cited_documents
from detectors.gate.expected import Stated
from detectors.gate.results import CaseResult, Diagnosis, Fault, Reason, Status
from detectors.gate.retrieval import has_evidence, measure, retrieved_documents
from schemas.golden import GoldenCase
from schemas.labels import ClaimLabel, FailureLabel, Outcome, RiskTier
from schemas.trace import Trace
from schemas.verdict import Verdict


class CitationRule(StrEnum):
    """When an answer has to cite the required sources; ``never`` leaves all faults of citations out."""

    ALWAYS = "always"
    WHERE_ANY = "where_any"
    """Where it cites anything at all, or the policy requires citations."""
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class Rules:
    """What holds for the cases of a tier; ``owner`` is who is told where a case names nobody."""

    is_unclear_failed: bool = False
    citations: CitationRule = CitationRule.WHERE_ANY
    owner: str = ""


@dataclass(frozen=True, slots=True)
class Answered:
    """The answer to a case: its trace, the verdict on it, and what it states of the expected claims."""

    trace: Trace
    verdict: Verdict
    stated: Stated = field(default_factory=Stated)


_CITATION_FAULTS = frozenset(
    {FailureLabel.CITATION_MISSING, FailureLabel.CITATION_UNKNOWN, FailureLabel.CITATION_MISMATCH}
)
_OF_RETRIEVAL = frozenset({FailureLabel.STALE_SOURCE, FailureLabel.UNTRUSTED_SOURCE, FailureLabel.FORBIDDEN_SOURCE})
_OF_CLAIMS = frozenset({FailureLabel.UNSUPPORTED_CLAIM, FailureLabel.CONTRADICTED_CLAIM})
_BY_THE_CASE = frozenset(
    {FailureLabel.SHOULD_HAVE_ABSTAINED, FailureLabel.OVER_REFUSAL, FailureLabel.CONFLICTING_SOURCES}
)
"""Abstention is told by the case, not guessed; conflicting sources make an answer unclear."""
_FIRST = {diagnosis: place for place, diagnosis in enumerate(Diagnosis)}


def evaluate(case: GoldenCase, answered: Answered | None, rules: Mapping[RiskTier, Rules]) -> CaseResult:
    """The result of a case; without an answer it is failed as ``missing``, never left out."""
    own = rules[case.tier]
    if answered is None:
        reasons = [Reason(fault=Fault.MISSING, diagnosis=Diagnosis.MISSING, detail="the run has no answer to it")]
        return _result(case, None, reasons, own)
    return _result(case, answered, list(_reasons(case, answered, own)), own)


def _reasons(case: GoldenCase, answered: Answered, rules: Rules) -> Iterator[Reason]:
    verdict = answered.verdict
    outcome = verdict.outcome
    if outcome.is_error or outcome.is_unresolved:
        yield Reason(fault=Fault.ERROR, diagnosis=Diagnosis.ERROR, detail=outcome.value)
    elif not case.is_answerable:
        if outcome is not Outcome.ABSTAINED:
            told = f"the documents do not answer it, and the answer is {outcome.value}"
            yield Reason(fault=Fault.SHOULD_HAVE_ABSTAINED, diagnosis=Diagnosis.ABSTENTION, detail=told)
    elif outcome in {Outcome.ABSTAINED, Outcome.CLARIFIED}:
        yield _refusal(case, answered)
    else:
        yield from _of_answer(case, answered)
    yield from _of_sources(case, answered, rules)
    yield from (_repeated(text) for text in answered.stated.repeated)
    yield from _of_failures(verdict, rules)


def _refusal(case: GoldenCase, answered: Answered) -> Reason:
    """Declining without the evidence is what a model should do: retrieval is to blame."""
    fault = Fault.OVER_REFUSAL if answered.verdict.outcome is Outcome.ABSTAINED else Fault.ASKED_BACK
    if has_evidence(case, answered.trace):
        return Reason(fault=fault, diagnosis=Diagnosis.ABSTENTION, detail="the evidence was there")
    return Reason(fault=fault, diagnosis=Diagnosis.RETRIEVAL, detail="what it needs was not retrieved")


def _of_answer(case: GoldenCase, answered: Answered) -> Iterator[Reason]:
    verdict, outcome = answered.verdict, answered.verdict.outcome
    blamed = Diagnosis.GENERATION if has_evidence(case, answered.trace) else Diagnosis.RETRIEVAL
    bad = [failure for failure in verdict.failures if failure in _OF_CLAIMS]
    if outcome is Outcome.HALLUCINATED and not bad:
        bad = [FailureLabel.UNSUPPORTED_CLAIM]
    for failure in bad:
        yield Reason(fault=Fault(failure.value), diagnosis=blamed, detail=_first_bad(verdict, failure))
    if outcome is Outcome.UNCLEAR:
        yield Reason(fault=Fault.UNCLEAR, diagnosis=Diagnosis.UNCLEAR, detail=_first_unclear(verdict))
    elif outcome is Outcome.NO_CLAIMS:
        yield Reason(fault=Fault.NOTHING_STATED, diagnosis=blamed, detail="the answer states nothing")
    elif outcome is Outcome.GROUNDED and not verdict.passed:
        told = "" if verdict.score is None else f"its weakest claim has a support of {verdict.score:.2f}"
        yield Reason(fault=Fault.BELOW_BAR, diagnosis=blamed, detail=told)
    for text in answered.stated.missing:
        yield Reason(fault=Fault.EXPECTED_CLAIM_MISSING, diagnosis=blamed, detail=text)


def _of_sources(case: GoldenCase, answered: Answered, rules: Rules) -> Iterator[Reason]:
    trace = answered.trace
    retrieved = retrieved_documents(trace)
    cited = cited_documents(trace, answered.verdict)
    is_asked = case.is_answerable and (trace.passages is not None or answered.verdict.outcome in _ASSERTS)
    for source in case.required_sources if is_asked else ():
        if source not in retrieved:
            yield Reason(fault=Fault.REQUIRED_SOURCE_NOT_RETRIEVED, diagnosis=Diagnosis.RETRIEVAL, detail=source)
        elif _must_cite(answered.verdict, cited, rules) and source not in cited.documents:
            yield Reason(fault=Fault.REQUIRED_SOURCE_NOT_CITED, diagnosis=Diagnosis.CITATION, detail=source)
    for source in case.forbidden_sources:
        if source in retrieved | cited.documents:
            yield Reason(fault=Fault.FORBIDDEN_SOURCE_USED, diagnosis=Diagnosis.RETRIEVAL, detail=source)


def _must_cite(verdict: Verdict, cited: Cited, rules: Rules) -> bool:
    """An answer that asserts nothing has nothing to cite."""
    if rules.citations is CitationRule.NEVER or verdict.outcome not in _ASSERTS:
        return False
    is_asked = cited.exist or FailureLabel.CITATION_MISSING in verdict.failures
    return rules.citations is CitationRule.ALWAYS or is_asked


def _of_failures(verdict: Verdict, rules: Rules) -> Iterator[Reason]:
    """What the verdict found beside its claims; where abstention is concerned, the case knows better."""
    for failure in verdict.failures:
        if failure in _OF_CLAIMS | _BY_THE_CASE:
            continue
        if failure in _CITATION_FAULTS:
            if rules.citations is CitationRule.NEVER:
                continue
            diagnosis = Diagnosis.CITATION
        else:
            diagnosis = Diagnosis.RETRIEVAL if failure in _OF_RETRIEVAL else Diagnosis.GENERATION
        detail = next((one.detail for one in verdict.findings if one.rule.failure is failure), "")
        yield Reason(fault=Fault(failure.value), diagnosis=diagnosis, detail=detail)


def _result(case: GoldenCase, answered: Answered | None, reasons: list[Reason], rules: Rules) -> CaseResult:
    reasons.sort(key=lambda reason: _FIRST[reason.diagnosis])
    fields = {} if answered is None else _fields(case, answered)
    return CaseResult(
        case_id=case.case_id,
        intent=case.intent,
        tier=case.tier,
        owner=case.owner or rules.owner,
        question=case.question,
        is_answerable=case.is_answerable,
        status=_status(reasons, answered, rules),
        diagnosis=reasons[0].diagnosis if reasons else None,
        reasons=tuple(reasons),
        **fields,
    )


def _fields(case: GoldenCase, answered: Answered) -> dict[str, object]:
    trace, verdict, stated = answered.trace, answered.verdict, answered.stated
    is_hit = [one.label is ClaimLabel.CONTRADICTED and bool(one.claim.critical_rule) for one in verdict.claims]
    return {
        "trace_id": trace.trace_id,
        "answer": trace.answer or "",
        "outcome": verdict.outcome,
        "score": verdict.score,
        "severity": verdict.severity,
        "contradicted_critical": sum(is_hit),
        "expected": stated.expected,
        "stated": stated.expected - len(stated.missing),
        "retrieval": measure(case, trace),
        "took_ms": verdict.took_ms,
    }


def _status(reasons: list[Reason], answered: Answered | None, rules: Rules) -> Status:
    if not reasons:
        return Status.PASSED
    faults = {reason.fault for reason in reasons}
    if answered is not None and answered.verdict.outcome.is_error:
        return Status.ERROR
    if faults <= {Fault.UNCLEAR} and not rules.is_unclear_failed:
        return Status.UNCLEAR
    return Status.FAILED


def _repeated(text: str) -> Reason:
    return Reason(fault=Fault.WRONG_CLAIM_REPEATED, diagnosis=Diagnosis.GENERATION, detail=text)


def _first_bad(verdict: Verdict, failure: FailureLabel) -> str:
    label = ClaimLabel.CONTRADICTED if failure is FailureLabel.CONTRADICTED_CLAIM else ClaimLabel.UNSUPPORTED
    return next((one.claim.text for one in verdict.claims if one.label is label), "")


def _first_unclear(verdict: Verdict) -> str:
    return next((one.claim.text for one in verdict.claims if one.label is ClaimLabel.UNCLEAR), "")


_ASSERTS = frozenset({Outcome.GROUNDED, Outcome.HALLUCINATED, Outcome.UNCLEAR})
