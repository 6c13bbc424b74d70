"""One extraction contract: whatever convention, version and envelope, the same request gives the same trace."""

from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from schemas.trace import Trace, passage_hash
from streams.assembly import AssemblyRules, assemble
from streams.sources.conventions import to_span
from streams.sources.envelopes.jaeger import decode_jaeger_json
from streams.sources.envelopes.otlp_json import decode_otlp_json
from streams.sources.envelopes.otlp_proto import decode_otlp_proto
from streams.sources.raw import RawSpan
from tests.unit.sources.otlp_messages import FOLDER, TRACE_ID, fixture, otlp_fixtures, request_of

QUESTION = "Does standard parcel insurance cover a camera worth 700 euros?"
ANSWER = "Yes, standard insurance covers goods up to 750 euros [1]."
TEXT = "Standard parcel insurance covers goods up to a value of 500 euros."
BY_CONTENT = f"content:{passage_hash(TEXT)[:16]}"
READ_AT = datetime(2026, 5, 14, 9, tzinfo=UTC)


@dataclass(frozen=True)
class Carried:
    """What a fixture carries; a default is what most of them do, everything else is what that format lacks."""

    user: str = ""
    conversation: str = "chat-31"
    model: str = "model-s"
    prompt: str = ""
    app: str = "4.2.0"
    doc_id: str = "insurance.md"
    """Documents without an id are named by their address; without that, by their content."""
    score: float | None = None
    flags: tuple[str, ...] = ()


OPENINFERENCE = Carried(user="u-204", prompt="p7", doc_id="tariff-8#2", score=0.83)
FROM_PROMPT = Carried(conversation="", doc_id=BY_CONTENT, flags=("passages_from_prompt",))
"""Events of up to 1.36: no retrieval span, no conversation, no user."""
CARRIED = {
    "jaeger_openinference.jsonl": OPENINFERENCE,
    "jaeger_query_openinference.json": OPENINFERENCE,
    "otlp_openinference.json": OPENINFERENCE,
    "otlp_openinference_reranker.json": Carried(prompt="p7", doc_id="tariff-8#2", score=0.97),
    "otlp_genai_1_36_events.json": FROM_PROMPT,
    "otlp_genai_1_36_logs.json": Carried(
        conversation="", model="", doc_id=BY_CONTENT, flags=("passages_from_prompt",)
    ),  # the model stands on the span, which came on another topic
    "otlp_genai_content_events.json": FROM_PROMPT,
    "otlp_genai_1_37_logs.json": Carried(doc_id=BY_CONTENT, flags=("passages_from_prompt",)),
    "otlp_genai_1_41.json": Carried(
        model="model-s-2026-02", doc_id="tariff-8#2", score=0.83, flags=("passages_from_prompt",)
    ),  # documents without text, which the prompt lends
    "otlp_genai_repository.json": Carried(model="model-s-2026-02"),
    "otlp_langfuse.json": Carried(user="u-204"),
    "otlp_mlflow.json": Carried(user="u-204", doc_id="tariff-8#2"),
    "otlp_openllmetry_0_4.json": Carried(user="u-204", doc_id="tariff-8#2", score=0.83),
    "otlp_openllmetry_0_5.json": Carried(user="u-204"),
}
WITHOUT_CONTENT = "otlp_genai_1_37_spans_without_content.json"
"""Spans whose content comes as logs: they meet in assembly."""


def raw_spans(name: str) -> tuple[RawSpan, ...]:
    """The raw spans of a fixture in its own envelope."""
    if name.endswith(".jsonl"):
        return tuple(span for line in fixture(name).splitlines() for span in decode_jaeger_json(line).spans)
    return (decode_jaeger_json if name.startswith("jaeger") else decode_otlp_json)(fixture(name)).spans


def assembled(raws: tuple[RawSpan, ...]) -> Trace:
    """The trace of these raw spans."""
    trace = assemble([to_span(raw) for raw in raws], AssemblyRules(), READ_AT)
    assert trace is not None
    return trace


def carried_by(trace: Trace) -> Carried:
    """The same fields of an assembled trace."""
    (passage,) = trace.passages or ()
    return Carried(
        user=trace.user_id,
        conversation=trace.conversation_id,
        model=trace.versions.model,
        prompt=trace.versions.prompt,
        app=trace.versions.app,
        doc_id=passage.doc_id,
        score=passage.score,
        flags=trace.flags,
    )


def test_every_fixture_is_in_the_contract() -> None:
    """A fixture that nobody expects anything of would hide a gap."""
    jaeger = [path.name for path in FOLDER.glob("jaeger_*")]
    assert {*CARRIED, WITHOUT_CONTENT} == {*otlp_fixtures(), *jaeger}


@pytest.mark.parametrize("name", CARRIED)
def test_the_same_request_gives_the_same_trace(name: str) -> None:
    """Question, answer and passage are equal in all of them; ids, score and versions where the format has them."""
    trace = assembled(raw_spans(name))
    assert (TRACE_ID, QUESTION, ANSWER) == (trace.trace_id, trace.question, trace.answer)
    assert [TEXT] == [passage.text for passage in trace.passages or ()]
    assert CARRIED[name] == carried_by(trace)


@pytest.mark.parametrize("name", [name for name in CARRIED if name.startswith("otlp")])
def test_both_encodings_of_otlp_give_the_same_trace(name: str) -> None:
    """Protobuf carries what JSON carries."""
    proto = decode_otlp_proto(request_of(name).SerializeToString()).spans
    assert assembled(raw_spans(name)) == assembled(proto)


@pytest.mark.parametrize("name", CARRIED)
def test_the_order_of_spans_and_attributes_does_not_matter(name: str) -> None:
    """Exporters keep neither."""
    shuffled = tuple(
        RawSpan(
            **{slot: getattr(raw, slot) for slot in raw.__slots__}
            | {"attributes": dict(reversed(list(raw.attributes.items())))}
        )
        for raw in reversed(raw_spans(name))
    )
    assert assembled(raw_spans(name)) == assembled(shuffled)


def test_content_in_logs_joins_its_spans() -> None:
    """Spans without content and the log records of their calls make the whole request."""
    trace = assembled((*raw_spans(WITHOUT_CONTENT), *raw_spans("otlp_genai_1_37_logs.json")))
    assert (QUESTION, ANSWER) == (trace.question, trace.answer)
    assert Carried(flags=("span_no_content",)) == carried_by(trace)


def test_spans_without_content_say_so() -> None:
    """A call without content is no answer that nobody gave."""
    trace = assembled(raw_spans(WITHOUT_CONTENT))
    assert (None, ("no_content",)) == (trace.answer, trace.flags)
