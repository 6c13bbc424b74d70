"""One golden case and one answer: every diagnosis, and which of several decides."""

from typing import Any

import pytest

from detectors.gate import Answered, CitationRule, Diagnosis, Fault, Rules, Stated, Status, evaluate
from schemas.finding import Finding, StructuralRule
from schemas.golden import GoldenPassage
from schemas.labels import ClaimLabel, FailureLabel, Outcome, RiskTier, Severity
from tests.builders import claim, claim_verdict, passage
from tests.builders_gate import RULES, answered
from tests.builders_golden import golden_case

OTHER = passage("Our shop opens at nine.", doc_id="hours", chunk_id="hours#1")
CITING = claim_verdict(claim=claim(citations=("1",)))
"""The default answer, read as it is: it cites the first passage."""
HALLUCINATED: dict[str, Any] = {"outcome": Outcome.HALLUCINATED, "failures": (FailureLabel.UNSUPPORTED_CLAIM,)}
CLOSED: dict[str, Any] = {
    "is_answerable": False,
    "required_sources": (),
    "passages": (),
    "claims": (),
    "answer_labels": (),
}


def told(case: dict[str, Any], given: Answered | None, **rules: Any) -> tuple[Status, Diagnosis | None, list[Fault]]:
    """Status, diagnosis and faults of a case."""
    found = evaluate(golden_case(**case), given, {tier: Rules(**rules) for tier in RiskTier})
    return found.status, found.diagnosis, [reason.fault for reason in found.reasons]


def test_a_grounded_answer_that_cites_its_source_has_passed() -> None:
    """Nothing to say about it."""
    assert (Status.PASSED, None, []) == told({}, answered())


@pytest.mark.parametrize(
    ("case", "given", "diagnosis", "fault"),
    [
        ({}, None, Diagnosis.MISSING, Fault.MISSING),
        ({}, answered(Outcome.UNRESOLVED_NO_ANSWER, trace_answer=None), Diagnosis.ERROR, Fault.ERROR),
        ({}, answered(Outcome.UNRESOLVED_NO_CONTEXT, trace_passages=None), Diagnosis.ERROR, Fault.ERROR),
        ({}, answered(**HALLUCINATED), Diagnosis.GENERATION, Fault.UNSUPPORTED_CLAIM),
        ({}, answered(**HALLUCINATED, trace_passages=(OTHER,)), Diagnosis.RETRIEVAL, Fault.UNSUPPORTED_CLAIM),
        ({}, answered(Outcome.HALLUCINATED), Diagnosis.GENERATION, Fault.UNSUPPORTED_CLAIM),
        (
            {},
            answered(Outcome.HALLUCINATED, failures=(FailureLabel.CONTRADICTED_CLAIM,)),
            Diagnosis.GENERATION,
            Fault.CONTRADICTED_CLAIM,
        ),
        (
            {"required_sources": (), "passages": ()},
            answered(**HALLUCINATED, trace_passages=()),
            Diagnosis.RETRIEVAL,
            Fault.UNSUPPORTED_CLAIM,
        ),
        ({}, answered(trace_passages=(OTHER,)), Diagnosis.RETRIEVAL, Fault.REQUIRED_SOURCE_NOT_RETRIEVED),
        (
            {"forbidden_sources": ("hours",)},
            answered(trace_passages=(passage(), OTHER)),
            Diagnosis.RETRIEVAL,
            Fault.FORBIDDEN_SOURCE_USED,
        ),
        (
            {},
            answered(failures=(FailureLabel.STALE_SOURCE,)),
            Diagnosis.RETRIEVAL,
            Fault.STALE_SOURCE,
        ),
        ({}, answered(Outcome.ABSTAINED), Diagnosis.ABSTENTION, Fault.OVER_REFUSAL),
        ({}, answered(Outcome.CLARIFIED), Diagnosis.ABSTENTION, Fault.ASKED_BACK),
        ({}, answered(Outcome.ABSTAINED, trace_passages=()), Diagnosis.RETRIEVAL, Fault.OVER_REFUSAL),
        ({}, answered(Outcome.ABSTAINED, trace_passages=None), Diagnosis.ABSTENTION, Fault.OVER_REFUSAL),
        ({}, answered(trace_passages=None), Diagnosis.RETRIEVAL, Fault.REQUIRED_SOURCE_NOT_RETRIEVED),
        (CLOSED, answered(), Diagnosis.ABSTENTION, Fault.SHOULD_HAVE_ABSTAINED),
        (CLOSED, answered(Outcome.UNCLEAR), Diagnosis.ABSTENTION, Fault.SHOULD_HAVE_ABSTAINED),
        ({}, answered(Outcome.NO_CLAIMS), Diagnosis.GENERATION, Fault.NOTHING_STATED),
        ({}, answered(passed=False), Diagnosis.GENERATION, Fault.BELOW_BAR),
        ({}, answered(stated=Stated(2, ("It must.",))), Diagnosis.GENERATION, Fault.EXPECTED_CLAIM_MISSING),
        ({}, answered(stated=Stated(1, (), ("Wrong.",))), Diagnosis.GENERATION, Fault.WRONG_CLAIM_REPEATED),
        (
            {},
            answered(failures=(FailureLabel.TOOL_CLAIM_UNPROVEN,)),
            Diagnosis.GENERATION,
            Fault.TOOL_CLAIM_UNPROVEN,
        ),
        (
            {},
            answered(claims=(CITING,), trace_passages=(OTHER, passage())),
            Diagnosis.CITATION,
            Fault.REQUIRED_SOURCE_NOT_CITED,
        ),
        (
            {},
            answered(failures=(FailureLabel.CITATION_MISMATCH,)),
            Diagnosis.CITATION,
            Fault.CITATION_MISMATCH,
        ),
    ],
)
def test_diagnoses(case: dict[str, Any], given: Answered | None, diagnosis: Diagnosis, fault: Fault) -> None:
    """Each names the part of the product to look at, and the fault that decided it."""
    status, found, faults = told(case, given)
    assert (Status.FAILED, diagnosis, fault) == (status, found, faults[0])


def test_declining_what_the_documents_do_not_answer_has_passed() -> None:
    """Even where passages about something else were retrieved and the structure suspects an over-refusal."""
    given = answered(Outcome.ABSTAINED, failures=(FailureLabel.OVER_REFUSAL,))
    assert (Status.PASSED, None, []) == told(CLOSED, given)


def test_an_error_of_the_detector_is_neither_passed_nor_failed() -> None:
    """The product may be fine."""
    assert (Status.ERROR, Diagnosis.ERROR, [Fault.ERROR]) == told({}, answered(Outcome.ERROR_TIMEOUT))


def test_unclear_fails_where_the_tier_says_so() -> None:
    """Else it is a class of its own, unless something else is wrong, too."""
    unclear = answered(Outcome.UNCLEAR, claims=(claim_verdict(ClaimLabel.UNCLEAR),))
    assert (Status.UNCLEAR, Diagnosis.UNCLEAR, [Fault.UNCLEAR]) == told({}, unclear)
    assert Status.FAILED is told({}, unclear, is_unclear_failed=True)[0]
    assert Status.FAILED is told({"forbidden_sources": ("refunds",), "required_sources": ()}, unclear)[0]


def test_rules_are_those_of_the_tier() -> None:
    """A high tier may be strict alone."""
    rules = {**RULES, RiskTier.HIGH: Rules(is_unclear_failed=True, owner="risk")}
    high = evaluate(golden_case(tier=RiskTier.HIGH, owner=""), answered(Outcome.UNCLEAR), rules)
    low = evaluate(golden_case(tier=RiskTier.LOW), answered(Outcome.UNCLEAR), rules)
    assert (Status.FAILED, "risk", Status.UNCLEAR, "support") == (high.status, high.owner, low.status, low.owner)


@pytest.mark.parametrize(
    ("rule", "answer", "faults"),
    [
        (CitationRule.WHERE_ANY, "Within 30 days of delivery.", []),
        (CitationRule.ALWAYS, "Within 30 days of delivery.", [Fault.REQUIRED_SOURCE_NOT_CITED]),
        (CitationRule.WHERE_ANY, "Within 30 days of delivery [hours].", [Fault.REQUIRED_SOURCE_NOT_CITED]),
        (CitationRule.NEVER, "Within 30 days of delivery [hours].", []),
        (CitationRule.ALWAYS, "Within 30 days of delivery [refunds].", []),
    ],
)
def test_required_sources_are_cited_as_asked(rule: CitationRule, answer: str, faults: list[Fault]) -> None:
    """Products without citations are not failed for that by default."""
    one = claim_verdict(claim=claim(answer, citations=("hours",) if "hours" in answer else ()))
    given = answered(claims=(one,), trace_answer=answer, trace_passages=(passage(), OTHER))
    assert faults == told({}, given, citations=rule)[2]


def test_citations_count_as_the_producer_marks_them() -> None:
    """Where the text names none."""
    answer = "Within 30 days of delivery."
    marked = answered(
        claims=(claim_verdict(claim=claim(answer)),),
        trace_answer=answer,
        trace_passages=(passage(), OTHER.model_copy(update={"cited": True})),
    )
    assert [Fault.REQUIRED_SOURCE_NOT_CITED] == told({}, marked)[2]


def test_faults_of_citations_can_be_left_out() -> None:
    """All of them."""
    given = answered(failures=(FailureLabel.CITATION_MISSING, FailureLabel.CITATION_UNKNOWN))
    assert Status.PASSED is told({}, given, citations=CitationRule.NEVER)[0]


def test_a_refusal_need_not_cite() -> None:
    """It asserts nothing."""
    assert [Fault.OVER_REFUSAL] == told({}, answered(Outcome.ABSTAINED), citations=CitationRule.ALWAYS)[2]


def test_retrieval_is_named_before_generation_and_citation() -> None:
    """Whoever mends the first may have mended the rest."""
    gold = (GoldenPassage(doc_id="refunds", chunk_id="refunds#1"), GoldenPassage(doc_id="hours"))
    given = answered(**HALLUCINATED, stated=Stated(1, (), ("Wrong.",)))
    status, diagnosis, faults = told({"passages": gold, "required_sources": ("refunds", "hours")}, given)
    assert (Status.FAILED, Diagnosis.RETRIEVAL) == (status, diagnosis)
    assert [
        Fault.UNSUPPORTED_CLAIM, Fault.REQUIRED_SOURCE_NOT_RETRIEVED, Fault.WRONG_CLAIM_REPEATED,
    ] == faults  # fmt: skip


def test_a_result_holds_what_is_counted_and_shown() -> None:
    """Critical claims that are contradicted, how bad it is, and what a finding says."""
    bad = claim_verdict(ClaimLabel.CONTRADICTED, claim=claim(critical_rule="amount"))
    detail = Finding(rule=StructuralRule.CITATION_UNKNOWN, detail="kb-9")
    given = answered(
        Outcome.HALLUCINATED,
        claims=(bad, claim_verdict(ClaimLabel.CONTRADICTED)),
        failures=(FailureLabel.CONTRADICTED_CLAIM, FailureLabel.CITATION_UNKNOWN),
        findings=(detail,),
        severity=Severity.HIGH,
        stated=Stated(3, ("One.",)),
    )
    found = evaluate(golden_case(), given, RULES)
    assert (1, Severity.HIGH, 3, 2) == (found.contradicted_critical, found.severity, found.expected, found.stated)
    assert {"kb-9", "One.", bad.claim.text} == {reason.detail for reason in found.reasons}
    assert found.retrieval is not None
