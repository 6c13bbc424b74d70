"""Our own calls in a topic that we watch: recognised by the header's name wherever a gateway writes it, and counted."""

import json
from dataclasses import replace
from typing import Any

import pytest

from schemas.span import SpanKind
from streams.sources.own_calls import is_own_document, is_own_span, is_own_value
from tests.source_messages import decode, decoder, message
from tests.unit.sources.otlp_messages import attribute, span, spans_request
from tests.unit.sources.raw_spans import span as read_span

NATIVE = {"trace_id": "1", "ts": "2026-05-14T08:00:00Z", "question": "Is it so?", "answer": "SUPPORTED"}
RAG_JSON = {"id": "1", "question": "Is it so?", "answer": "SUPPORTED"}
NAMES = (
    "x-groundwatch",
    "X-Groundwatch",
    "http.request.header.x-groundwatch",
    "http.request.header.x_groundwatch",
    "metadata.headers.X-GROUNDWATCH",
)
OTHERS = ("groundwatch", "x-groundwatch-id", "max-groundwatch", "question", "header", "-groundwatch", "")


@pytest.mark.parametrize("name", NAMES)
def test_the_header_is_known_by_its_name_in_any_spelling(name: str) -> None:
    """OpenTelemetry wrote underscores once; proxies change the case."""
    assert is_own_span({name: ["judge"]})
    assert is_own_document({"request": {"headers": {name: "judge"}}})


@pytest.mark.parametrize("name", OTHERS)
def test_other_names_are_not_ours(name: str) -> None:
    """Nothing that merely looks like it."""
    assert not is_own_span({name: "x-groundwatch"})
    assert not is_own_document({name: "x-groundwatch"})


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ({"metadata": '{"headers": {"x-groundwatch": "judge"}}'}, True),
        ({"llm.invocation_parameters": '{"extra_headers": {"x-groundwatch": "samples"}}'}, True),
        ({"mlflow.spanInputs": '{"messages": [], "extra_headers": {"x-groundwatch": "claims"}}'}, True),
        ({"metadata": '{"note": "x-groundwatch"}'}, False),
        ({"metadata": "x-groundwatch: judge"}, False),
        ({"input.value": '{"x-groundwatch": "judge"}'}, False),
        ({"llm.input_messages": [{"x-groundwatch": "judge"}]}, False),
    ],
)
def test_text_is_read_only_where_it_tells_of_the_call(attributes: dict[str, Any], expected: bool) -> None:
    """Else a user could keep an answer from being judged by what he writes."""
    found = read_span({**attributes, "openinference.span.kind": "LLM"})
    assert expected == (found.kind is SpanKind.EVALUATOR)


def test_a_gateways_span_of_our_call_is_counted_and_not_judged() -> None:
    """Its neighbour in the batch is."""
    ours = span(attributes=[attribute("http.request.header.x-groundwatch", stringValue="judge")])
    found = decode(spans_request(ours, span(spanId="a1f0c3d2e4b59688")))
    assert (1, [SpanKind.EVALUATOR, SpanKind.OTHER]) == (found.evaluators, [one.kind for one in found.spans])


@pytest.mark.parametrize(("document", "format_"), [(NATIVE, "native"), (NATIVE, "auto"), (RAG_JSON, "rag_json")])
def test_a_whole_trace_of_our_call_is_counted_and_let_go(document: dict[str, Any], format_: str) -> None:
    """In our own format and in one that a mapping describes."""
    using = decoder(format=format_)
    for place in ({"headers": {"X-Groundwatch": "judge"}}, {"metadata": {"request": {"x-groundwatch": "samples"}}}):
        found = decode({**document, **place}, using=using)
        assert (1, (), (), ()) == (found.evaluators, found.traces, found.spans, found.problems)
    assert 1 == len(decode(document, using=using).traces)


async def test_a_record_that_carries_the_header_is_ours() -> None:
    """Whatever its value holds."""
    one = replace(message(json.dumps(NATIVE).encode()), headers=(("x-groundwatch", b"judge"),))
    found = await decoder().decode(one)
    assert (1, ()) == (found.evaluators, found.traces)


@pytest.mark.parametrize("field", ["question", "answer", "packed_prompt"])
def test_a_trace_that_only_speaks_of_the_header_is_judged(field: str) -> None:
    """Nor can JSON in its text hide it."""
    found = decode({**NATIVE, field: '{"x-groundwatch": "judge"}', "passages": [{"text": '"x-groundwatch": 1'}]})
    assert (1, 0) == (len(found.traces), found.evaluators)


def test_only_so_much_is_looked_at() -> None:
    """A hostile document costs no more than an honest one."""
    deep: dict[str, Any] = {"x-groundwatch": "judge"}
    for _ in range(10):
        deep = {"a": deep}
    wide = {**{str(number): {} for number in range(3000)}, "x-groundwatch": 1}
    assert not is_own_document(deep)
    assert not is_own_document(wide)
    assert not is_own_value(b"[" * 10_000 + b"groundwatch")
