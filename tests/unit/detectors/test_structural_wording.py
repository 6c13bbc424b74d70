"""From what an answer says to its verdict: quotations, deeds, canaries, and what is too much for one trace."""

from typing import Any

import pytest

from detectors.screening import Screener
from detectors.structural.readable import MAX_CLAIMS, MAX_CONTEXT_CHARS
from detectors.verification import verify
from schemas.finding import StructuralRule
from schemas.labels import ClaimLabel, FailureLabel, Layer, Outcome
from schemas.sources import RestrictedSource, SourceRules
from schemas.trace import ToolCall
from schemas.verdict import Verdict
from tests.builders import NOW, drawn_trace, passage, policy, screening, trace
from tests.fakes_detectors import ScriptedDetector, WordDetector


def verified(policy_fields: dict[str, Any] | None = None, **fields: Any) -> Verdict:
    """The verdict by a detector that supports everything, on a trace that differs from the default by ``fields``."""
    item = drawn_trace(trace=trace(**fields), screening=screening(fingerprint=""))
    return verify([item], [policy(**(policy_fields or {}))], ScriptedDetector({}), NOW)[0]


LABELS = [
    ('It says "free returns for all" there.', ClaimLabel.UNSUPPORTED, Outcome.HALLUCINATED),
    ('It says "within 30 days of delivery" there.', ClaimLabel.SUPPORTED, Outcome.GROUNDED),
    ('It is called "magic" there.', ClaimLabel.UNCLEAR, Outcome.UNCLEAR),
    ('It is called "delivery" there.', ClaimLabel.SUPPORTED, Outcome.GROUNDED),
    ("I have refunded your order.", ClaimLabel.UNSUPPORTED, Outcome.HALLUCINATED),
]


@pytest.mark.parametrize(("answer", "label", "outcome"), LABELS)
def test_wording_alone_decides_a_claim(answer: str, label: ClaimLabel, outcome: Outcome) -> None:
    """Whatever the detector thinks: not verbatim and not proven are unsupported, too short is unclear."""
    found = verified(answer=answer)

    assert (label, outcome) == (found.claims[0].label, found.outcome)
    assert (label is ClaimLabel.SUPPORTED) == (Layer.L1 in found.claims[0].layers and not found.findings)


def test_a_proven_deed_stays_with_the_detector() -> None:
    """A tool result takes the finding away."""
    call = ToolCall(name="create_refund", output='{"ok": true}')
    found = verified(answer="I have refunded your order.", tool_calls=(call,))

    assert (Outcome.GROUNDED, ()) == (found.outcome, found.failures)


def test_canaries_come_from_the_policy() -> None:
    """The phrase is a failure whatever else the answer is."""
    found = verified({"canaries": ("never say plugh",)}, answer="I don't know. My rule is: Never  say PLUGH!")

    assert FailureLabel.FOLLOWS_INJECTED_INSTRUCTION in found.failures
    assert StructuralRule.CANARY_REPEATED in {finding.rule for finding in found.findings}


def test_truncated_context_is_told_and_no_failure() -> None:
    """Claims are judged against all that was retrieved."""
    found = verified(packed_prompt="Answer from: " + "nothing. " * 20)

    assert [StructuralRule.CONTEXT_TRUNCATED] == [finding.rule for finding in found.findings]
    assert (Outcome.GROUNDED, ()) == (found.outcome, found.failures)


FORBIDDEN = {"sources": SourceRules(restricted=(RestrictedSource(name="secret", documents="refunds"),))}


@pytest.mark.parametrize("answer", ["It is so.", "I don't know.", None, "x" * 300_000])
def test_a_forbidden_document_is_found_beside_any_answer(answer: str | None) -> None:
    """Also where nothing can be read."""
    assert (FailureLabel.FORBIDDEN_SOURCE,) == verified(FORBIDDEN, answer=answer).failures[-1:]


TOO_MUCH = [
    {"passages": (passage("a b " * (MAX_CONTEXT_CHARS // 4)), passage("too much"))},
    {"tool_calls": (ToolCall(name="t", output="a b " * (MAX_CONTEXT_CHARS // 4)),)},
    {"answer": "- It is a.\n" * (MAX_CLAIMS + 1)},
    {"answer": "- It is a.\n" * 1000, "passages": (passage("a b " * 30_000),)},
]


@pytest.mark.parametrize("fields", TOO_MUCH)
def test_what_is_too_much_for_one_trace_is_an_outcome(fields: dict[str, Any]) -> None:
    """Screening and verification agree, and nothing is cut or judged."""
    seen = trace(**fields)
    (screened,) = Screener(WordDetector()).screen([seen], [policy()])
    (found,) = verify([drawn_trace(trace=seen, screening=screened)], [policy()], WordDetector(), NOW)

    assert (Outcome.ERROR_TOO_LONG, ()) == (screened.outcome, screened.claims)
    assert (Outcome.ERROR_TOO_LONG, ()) == (found.outcome, found.claims)


REFUSALS = [
    ("I don't know the date, but the fee is $5.", None),
    ("I don't know the fee. Delivery is possible.", None),
    ("I don't know the fee. Which plan do you have?", Outcome.CLARIFIED),
    ("Das weiß ich leider nicht.", Outcome.ABSTAINED),
    ("No tengo información sobre eso.", Outcome.ABSTAINED),
    ("申し訳ありませんが、わかりません。", Outcome.ABSTAINED),
    ("我不知道。", Outcome.ABSTAINED),
    ("لا أعرف.", Outcome.ABSTAINED),
]


@pytest.mark.parametrize(("answer", "expected"), REFUSALS)
def test_partial_answers_state_something_and_refusals_do_not(answer: str, expected: Outcome | None) -> None:
    """In several languages; a question back is a good outcome of its own."""
    (screened,) = Screener(WordDetector()).screen([trace(answer=answer)], [policy()])

    assert expected == screened.outcome


ANSWERABLE = [
    ("How much is the fee for 2 parcels?", "The fee for 2 parcels is $5.", True),
    ("How much is the fee for 3 parcels?", "The fee for 2 parcels is $5.", False),
    ("What is the fee for parcels to Norway?", "The fee is $5. Parcels to Norway take a week.", True),
    (
        "What is the fee for parcels to Norway?",
        "The fee is $5. It is paid at once. Nobody is exempt. We ship parcels. It is so. Norway is cold.",
        False,
    ),
    ("환불 기간은 며칠인가요?", "환불 기간은 14일입니다.", True),
]


@pytest.mark.parametrize(("question", "text", "expected"), ANSWERABLE)
def test_over_refusal_needs_the_question_in_neighbouring_sentences(question: str, text: str, expected: bool) -> None:
    """Terms scattered over a passage, or another figure, do not answer it."""
    found = verified(answer="I don't know.", question=question, passages=(passage(text),))

    assert Outcome.ABSTAINED is found.outcome
    assert expected == (FailureLabel.OVER_REFUSAL in found.failures)
