"""Requests of the check: what is read as it was meant, and what is refused with the fix."""

import json

import pytest

from schemas.errors import InvalidMessage
from schemas.labels import RiskTier
from schemas.trace import Passage, Trace
from streams.inline.request import CheckPassage, CheckRequest, read_request
from tests.builders import NOW
from tests.fakes_inline import body, request, without


@pytest.mark.parametrize(
    ("text", "reason", "says"),
    [
        ("{", "not_json", "send UTF-8 JSON"),
        ("[" * 300 + "]" * 300, "too_deep", "send flatter data"),
        ("[]", "wrong_type", "(message): Input should be an object"),
        (json.dumps(without(body(), "answer")), "missing_field", "answer: Field required; send the text that the user"),
        (json.dumps(without(body(), "passages")), "missing_field", "passages: Field required; send what the model was"),
        (
            json.dumps(body(passages=[{"doc_id": "a"}])),
            "missing_field",
            "passages.0.text: Field required; send the text",
        ),
        (
            json.dumps(body(passages=[{"text": "a", "urll": "b"}])),
            "unknown_field",
            "passages.urll: no such field; did you",
        ),
        (json.dumps(body(contexts=["a"])), "unknown_field", "contexts: no such field; known: question, answer"),
        (json.dumps(body(tier="huge")), "wrong_type", "use one of low, medium, high"),
        (json.dumps(body(ts="2026-03-10T12:00:00")), "wrong_type", "send a time with its zone"),
        (json.dumps(body(within_ms=9)), "wrong_type", "greater than or equal to 10; send whole milliseconds"),
        (json.dumps({**body(), "answer": 3}), "wrong_type", "answer: Input should be a valid string; send the text"),
        (json.dumps(body(trace_id="x" * 257)), "wrong_type", "trace_id: "),
        (json.dumps(body(passages=[{"text": "a", "url": "u" * 2001}])), "wrong_type", "passages.0.url: "),
        (json.dumps(body(token_logprobs=[1e999])), "wrong_type", "token_logprobs.0"),
    ],
    ids=[
        *("no-json", "deep", "no-object", "no-answer", "no-passages", "no-text", "misspelt-inside", "unknown"),
        *("tier", "no-zone", "too-short-a-time", "answer-is-a-number", "long-id", "long-url", "infinity"),
    ],
)
def test_a_wrong_request_is_named_with_its_fix(text: str, reason: str, says: str) -> None:
    """The field first, then what would be right."""
    with pytest.raises(InvalidMessage) as caught:
        read_request(text.encode())
    assert (reason, True) == (caught.value.reason, says in caught.value.detail), caught.value.detail


def test_a_refusal_never_repeats_what_was_sent() -> None:
    """Answers and passages must not get into logs and error pages of callers."""
    for wrong in (
        body(tier="my secret"),
        {**body(), "answer": ["my secret"]},
        body(passages=[{"text": 7, "doc_id": "my secret"}]),
    ):
        with pytest.raises(InvalidMessage) as caught:
            read_request(json.dumps(wrong).encode())
        assert "secret" not in caught.value.detail


@pytest.mark.parametrize(
    "sent",
    [b'{"answer": "a\\ud83d b", "passages": []}', b'{"answer": "a\xff b", "passages": []}'],
    ids=["half-a-pair", "no-utf-8"],
)
def test_a_broken_character_does_not_leave_an_answer_unchecked(sent: bytes) -> None:
    """An answer that a model cut in the middle of an emoji is judged, with U+FFFD in its place."""
    assert "a\ufffd b" == read_request(sent).answer


def test_a_request_becomes_the_trace_that_a_producer_would_have_sent() -> None:
    """Every field that both have is taken over; what is not given is made."""
    asked = request(tier="high", tenant="acme", roles=["staff"], tool_calls=[{"name": "f", "output": "x"}], locale="en")
    trace = asked.to_trace(NOW, "made-1")
    assert ("made-1", NOW, RiskTier.HIGH, "acme", ("staff",)) == (
        trace.trace_id,
        trace.ts,
        trace.tier,
        trace.tenant,
        trace.roles,
    )
    assert ("refunds", "x", "check") == (trace.intent, trace.tool_calls[0].output, trace.decoder)
    assert "own" == request(trace_id="own").to_trace(NOW, "made-1").trace_id
    assert "unmapped" == request(intent="a\nb").to_trace(NOW, "made-1").intent


def test_retrieval_that_is_not_shown_is_not_retrieval_that_found_nothing() -> None:
    """The two have other outcomes."""
    assert None is request(passages=None).to_trace(NOW, "t").passages
    assert () == request(passages=[]).to_trace(NOW, "t").passages


def test_every_part_of_a_trace_that_can_change_a_decision_can_be_sent() -> None:
    """A field that is added to traces is added here, or is one of those that come from the stream alone."""
    of_the_stream = {"rewrites", "timings", "feedback", "source", "decoder", "close_reason", "late_spans", "revision"}
    assert of_the_stream == Trace.model_fields.keys() - CheckRequest.model_fields.keys()
    assert {"url", "title"} == CheckPassage.model_fields.keys() - Passage.model_fields.keys()
