"""What the structure of a trace shows without a detector."""

from datetime import timedelta
from typing import Any

import pytest

from detectors.claims import split_claims
from detectors.structural import MAX_ANSWER_BYTES, StructuralFindings, context_passages, examine, find_unreadable
from schemas.labels import FailureLabel, Outcome
from schemas.trace import Passage, ToolCall
from tests.builders import NOW, passage, trace

REFUSAL = "I'm sorry, but I couldn't find that in the documents. Please contact support."


def examined(*, citations_required: bool = False, **fields: Any) -> StructuralFindings:
    """The findings on a trace that differs from the default one by ``fields``."""
    seen = trace(**fields)
    return examine(seen, split_claims(seen.answer or ""), citations_required=citations_required)


def test_a_plain_cited_answer_has_no_findings() -> None:
    """It is left to the detector."""
    assert StructuralFindings(cited=((0,),)) == examined(citations_required=True)


UNREADABLE = [
    ({"answer": None}, Outcome.UNRESOLVED_NO_ANSWER),
    ({"answer": " \n\u200b\x00"}, Outcome.UNRESOLVED_NO_ANSWER),
    ({"answer": "[REDACTED]"}, Outcome.UNRESOLVED_REDACTED),
    ({"answer": "__REDACTED__"}, Outcome.UNRESOLVED_REDACTED),
    ({"answer": "*****"}, Outcome.UNRESOLVED_REDACTED),
    ({"passages": (passage("[redacted]"), passage("<hidden by policy>"))}, Outcome.UNRESOLVED_REDACTED),
    ({"flags": ("truncated",)}, Outcome.UNRESOLVED_TRUNCATED),
    ({"flags": ("no_content",), "answer": None}, Outcome.UNRESOLVED_NO_CONTENT),
    ({"flags": ("redacted",)}, Outcome.UNRESOLVED_REDACTED),
    ({"answer": "é" * (MAX_ANSWER_BYTES // 2 + 1)}, Outcome.ERROR_TOO_LONG),
    ({"answer": "é" * (MAX_ANSWER_BYTES // 2)}, None),
    ({"answer": "The word [REDACTED] stands here."}, None),
    ({"flags": ("late",)}, None),
]


@pytest.mark.parametrize(("fields", "expected"), UNREADABLE)
def test_what_cannot_be_read_is_named(fields: dict[str, Any], expected: Outcome | None) -> None:
    """Absent, hidden, cut and over-long answers each have an outcome of their own; the limit itself still passes."""
    assert expected == find_unreadable(trace(**fields))


STANCES = [
    ({"answer": REFUSAL}, Outcome.ABSTAINED),
    ({"answer": "I don't know.", "passages": ()}, Outcome.ABSTAINED),
    ({"answer": "I don't know.", "passages": None}, Outcome.ABSTAINED),
    ({"answer": "Please contact support.", "passages": ()}, Outcome.ABSTAINED),
    ({"answer": "Please contact support."}, None),
    ({"answer": "Which plan do you have?"}, Outcome.CLARIFIED),
    ({"answer": f"Which plan do you have{' of those that we sell in your country' * 5}?"}, Outcome.CLARIFIED),
    ({"answer": f"How do pumps keep pressure{' in long pipes on steep hills' * 5}?"}, Outcome.NO_CLAIMS),
    ({"answer": "I couldn't find your order. Could you tell me its number?"}, Outcome.CLARIFIED),
    ({"answer": "Hello! How can I help you today?"}, Outcome.NO_CLAIMS),
    ({"answer": "👍"}, Outcome.NO_CLAIMS),
    ({"answer": "I don't know the date. The fee is $5."}, None),
    ({"answer": "It takes 5 days.", "passages": None}, Outcome.UNRESOLVED_NO_CONTEXT),
    ({"answer": "It takes 5 days.", "passages": ()}, Outcome.HALLUCINATED),
    ({"answer": "It takes 5 days.", "passages": (passage(" "),)}, Outcome.HALLUCINATED),
    ({"answer": "It takes 5 days.", "passages": None, "packed_prompt": "Context: 5 days"}, None),
    ({"answer": "It takes 5 days.", "passages": None, "packed_prompt": " "}, Outcome.UNRESOLVED_NO_CONTEXT),
    ({"answer": "It takes 5 days.", "passages": None, "tool_calls": (ToolCall(name="t", output="5 days"),)}, None),
    ({"answer": "It takes 5 days.", "passages": (), "tool_calls": (ToolCall(name="t", output="5 days"),)}, None),
    (
        {"answer": "It takes 5 days.", "passages": None, "tool_calls": (ToolCall(name="t"),)},
        Outcome.UNRESOLVED_NO_CONTEXT,
    ),
]


@pytest.mark.parametrize(("fields", "expected"), STANCES)
def test_outcomes_that_need_no_detector(fields: dict[str, Any], expected: Outcome | None) -> None:
    """Abstention, counter question, courtesy, and assertion without context."""
    assert expected == examined(**fields).outcome


def test_an_assertion_out_of_nothing_should_have_abstained() -> None:
    """Empty retrieval is marked for its own rate, whatever the answer does."""
    asserting, abstaining = examined(answer="It takes 5 days.", passages=()), examined(answer=REFUSAL, passages=())

    assert (FailureLabel.SHOULD_HAVE_ABSTAINED,) == asserting.failures
    assert () == abstaining.failures
    assert (True, True, False) == (
        asserting.is_empty_retrieval,
        abstaining.is_empty_retrieval,
        examined().is_empty_retrieval,
    )


@pytest.mark.parametrize(
    ("question", "text", "expected"),
    [
        ("How long do refunds take?", "A refund will take 5 days and is paid long after.", True),
        ("How long do refunds take?", "Shipping takes 5 days.", False),
        ("Why?", "Because of why.", False),
        ("退款需要几天？", "退款需要几天取决于银行。", True),
        ("退款需要几天？", "运费为五元。", False),
    ],
)
def test_a_refusal_beside_an_answering_passage_is_over_refusal(question: str, text: str, expected: bool) -> None:
    """Three fifths of the question's terms in one passage look like an answer."""
    findings = examined(answer=REFUSAL, question=question, passages=(passage("Other text."), passage(text)))

    assert Outcome.ABSTAINED == findings.outcome
    assert expected == (FailureLabel.OVER_REFUSAL in findings.failures)


KB = (
    passage(doc_id="kb-12", chunk_id="c1"),
    passage(doc_id="kb-7", chunk_id="c2", version="2"),
    passage(doc_id="terms"),
)
CITATIONS = [
    ("It is free [1].", ((0,),), False),
    ("It is free [3][2].", ((2, 1),), False),
    ("It is free [4].", ((),), True),
    ("It is free [KB-12].", ((0,),), False),
    ("It is free (kb-7).", ((1,),), False),
    ("It is free [c2] and [kb-7#c2] and [kb-7@2].", ((1,),), False),
    ("It is free (terms).", ((2,),), False),
    ("It is free (kb-99).", ((),), True),
    ("It is free [doc-99].", ((),), True),
    ("It is free (well-known) [sic] (1).", ((),), False),
    ("It is free. It is fast [1].", ((), (0,)), False),
]


@pytest.mark.parametrize(("answer", "cited", "is_unknown"), CITATIONS)
def test_citations_are_matched_by_id_chunk_or_number(
    answer: str,
    cited: tuple[tuple[int, ...], ...],
    is_unknown: bool,
) -> None:
    """What matches no passage, or has the shape of an id but is none, is unknown."""
    findings = examined(answer=answer, passages=KB)

    assert cited == findings.cited
    assert is_unknown == (FailureLabel.CITATION_UNKNOWN in findings.failures)


def test_a_number_means_the_rank_where_ranks_count_from_one() -> None:
    """Else it means the place in the list."""
    ranked = (passage(doc_id="b", rank=2), passage(doc_id="a", rank=1))
    from_zero = (passage(doc_id="b", rank=1), passage(doc_id="a", rank=0))

    assert ((1,),) == examined(answer="It is free [1].", passages=ranked).cited
    assert ((0,),) == examined(answer="It is free [1].", passages=from_zero).cited


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("It is free.", True),
        ("It is free [1].", False),
        ("It is free.\n\nSources: [1]", False),
        (REFUSAL, False),
        ("Hi!", False),
    ],
)
def test_required_citations_are_missing_when_facts_cite_nothing(answer: str, expected: bool) -> None:
    """One citation anywhere is enough; what states nothing needs none."""
    findings = examined(citations_required=True, answer=answer)

    assert expected == (FailureLabel.CITATION_MISSING in findings.failures)
    assert FailureLabel.CITATION_MISSING not in examined(answer=answer).failures


def test_the_producers_word_counts_as_a_citation() -> None:
    """``cited`` on a passage stands for a citation in the text."""
    assert () == examined(citations_required=True, answer="It is free.", passages=(passage(cited=True),)).failures


def test_a_citation_is_not_unknown_when_nothing_shows_what_was_retrieved() -> None:
    """Without context there is nothing to compare with."""
    assert () == examined(answer="It is free [1].", passages=None).failures


OLD, NEW = NOW - timedelta(days=90), NOW - timedelta(days=3)
STALE = [
    ((passage(archived=True),), True),
    ((passage(superseded_by="refunds-2"),), True),
    ((passage(version="2"), passage(version="10")), True),
    ((passage(version="10"), passage(version="2")), False),
    ((passage(version="a", updated_at=OLD), passage(version="b", updated_at=NEW)), True),
    ((passage(version="b", effective_from=NEW), passage(version="c", effective_from=OLD)), False),
    ((passage(version="1"), passage(version="2", effective_from=NOW + timedelta(days=1))), False),
    ((passage(version="1"), passage(version="2", archived=True)), False),
    ((passage(version="1"), passage(doc_id="other", version="2")), False),
    ((passage(version="1", doc_id=""), passage(doc_id="", version="2")), False),
]


@pytest.mark.parametrize(("passages", "expected"), STALE)
def test_a_cited_passage_is_stale_when_a_newer_version_is_in_force(
    passages: tuple[Passage, ...],
    expected: bool,
) -> None:
    """Archived or superseded, or an older version beside a newer one that already holds."""
    assert expected == (FailureLabel.STALE_SOURCE in examined(answer="It is free [1].", passages=passages).failures)


def test_a_document_id_means_its_version_in_force() -> None:
    """Citing a document of which an old version was retrieved too is not stale; citing that version is."""
    passages = (passage(version="1", chunk_id="refunds@1#1"), passage(version="2", chunk_id="refunds@2#1"))

    assert () == examined(answer="It is free (refunds).", passages=passages).failures
    assert (FailureLabel.STALE_SOURCE,) == examined(answer="It is free [refunds@1].", passages=passages).failures


def test_an_uncited_stale_passage_is_no_failure_of_structure() -> None:
    """Only what is cited counts here."""
    assert () == examined(answer="It is free.", passages=(passage(archived=True),)).failures


def test_context_is_passages_then_tool_outputs_else_the_prompt() -> None:
    """Indices of the trace's own passages stay."""
    calls = (ToolCall(name="t", output="5 days"), ToolCall(name="u"))

    assert ["refunds", "tool:t"] == [p.doc_id for p in context_passages(trace(tool_calls=calls, packed_prompt="x"))]
    assert ["prompt"] == [p.doc_id for p in context_passages(trace(passages=None, packed_prompt="x"))]
    assert () == context_passages(trace(passages=(), packed_prompt="x"))
