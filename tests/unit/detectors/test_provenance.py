"""Where claims come from."""

from typing import Any

from detectors.verification import verify
from schemas.claim import ClaimSource
from schemas.draw import DrawnTrace, Screening
from schemas.labels import ClaimLabel, FailureLabel, Outcome
from schemas.trace import ToolCall, passage_hash
from schemas.verdict import ClaimJudgement, Verdict
from tests.builders import NOW, PASSAGE_TEXT, draw, evidence, passage, policy, trace
from tests.fakes_detectors import ScriptedDetector, WordDetector

BAD = ClaimJudgement(support=0.0, contradiction=0.0)


def verdict_on(detector: WordDetector | ScriptedDetector | None = None, **fields: Any) -> Verdict:
    """The verdict on a trace that nothing was screened of."""
    item = DrawnTrace(trace=trace(**fields), draw=draw(), screening=Screening())
    return verify([item], [policy()], detector or WordDetector(), NOW)[0]


def sources(verdict: Verdict) -> list[ClaimSource | None]:
    """By claim."""
    return [judged.source for judged in verdict.claims]


def test_the_deciding_text_says_whether_a_claim_is_from_a_document_or_a_tool() -> None:
    """Evidence counts through the passages first, then the outputs of tools."""
    scripted = ScriptedDetector(
        {
            "It is open.": ClaimJudgement(support=1.0, contradiction=0.0, evidence=evidence(passage=0)),
            "It is sunny.": ClaimJudgement(support=1.0, contradiction=0.0, evidence=evidence(passage=1)),
        }
    )
    tool = ToolCall(name="weather", output="sunny")

    found = verdict_on(scripted, answer="It is open. It is sunny.", tool_calls=(tool,))

    assert [ClaimSource.DOCUMENT, ClaimSource.TOOL] == sources(found)


def test_without_evidence_the_source_is_known_only_where_there_is_one_kind() -> None:
    """A judge may name no passage."""
    tool = ToolCall(name="weather", output="sunny")

    assert [ClaimSource.DOCUMENT] == sources(verdict_on(ScriptedDetector(), answer="It is open."))
    assert [None] == sources(verdict_on(ScriptedDetector(), answer="It is open.", tool_calls=(tool,)))


def test_the_packed_prompt_counts_as_a_document() -> None:
    """It stands in where the trace shows neither passages nor tools."""
    found = verdict_on(answer="the shop is open", passages=None, packed_prompt="the shop is open")

    assert [ClaimSource.DOCUMENT] == sources(found)
    assert [ClaimSource.DOCUMENT] == [text.source for text in found.seen]


def test_what_nothing_supports_is_from_memory_or_what_the_user_said() -> None:
    """A claim that the user stated keeps its label: it is repeated, not looked up."""
    question = "my order came on Monday. Is it paid?"

    found = verdict_on(question=question, answer="It came by air.\n\nmy order came on Monday.")

    assert [ClaimLabel.UNSUPPORTED] * 2 == [judged.label for judged in found.claims]
    assert [ClaimSource.MEMORY, ClaimSource.USER] == sources(found)
    assert Outcome.HALLUCINATED is found.outcome


def test_a_question_states_nothing() -> None:
    """To ask whether it is so is not to say that it is; the detector is not even asked."""
    detector = WordDetector()

    found = verdict_on(detector, question="Did my order come on Monday?", answer="Did order come on Monday: yes.")

    assert [ClaimSource.MEMORY] == sources(found)
    assert [1, 0] == [detector.batches[0], len(detector.batches[1:])]


def test_an_assertion_out_of_nothing_is_from_memory_unless_the_user_said_it() -> None:
    """Retrieval gave nothing, so no detector saw the claims."""
    found = verdict_on(question="my plan is Pro.", answer="my plan is Pro. The fee is $5.", passages=())

    assert [ClaimSource.USER, ClaimSource.MEMORY] == sources(found)
    assert FailureLabel.SHOULD_HAVE_ABSTAINED in found.failures


def test_where_nothing_was_decided_no_source_is_named() -> None:
    """Not factual, unclear, or no context shown."""
    unclear = ScriptedDetector({"It is open.": ClaimJudgement(support=0.9, contradiction=0.9)})

    assert [None, None] == sources(verdict_on(unclear, answer="Hello! It is open."))
    assert [None] == sources(verdict_on(answer="It is open.", passages=None))


def test_a_verdict_says_what_was_judged() -> None:
    """The whole answer by its hash, and every text by kind, id, hash and length."""
    found = verdict_on(passages=(passage(),), tool_calls=(ToolCall(name="lookup", output="ok"),))

    assert passage_hash(trace().answer or "") == found.answer_hash
    assert [
        (ClaimSource.DOCUMENT, "refunds", passage_hash(PASSAGE_TEXT), len(PASSAGE_TEXT)),
        (ClaimSource.TOOL, "tool:lookup", passage_hash("ok"), 2),
    ] == [(text.source, text.doc_id, text.content_hash, text.chars) for text in found.seen]
