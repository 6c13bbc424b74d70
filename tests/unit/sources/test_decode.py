"""The one door: formats by setting or by sight, registries, and what is refused."""

import gc
import json
from typing import Any

import pytest

from schemas.errors import ConfigError, InvalidMessage, RegistryUnavailable
from schemas.span import SpanKind
from streams.settings import SourceSettings
from streams.sources.decode import SourceDecoder
from streams.sources.native import decode_native
from tests.source_messages import FOLDER, MAX_BYTES, decode, decoder, document, fixture, message, trace_of
from tests.unit.sources.otlp_messages import attribute, otlp_fixtures, request_of, span, spans_request
from tests.unit.sources.registry_server import running_registry

NATIVE = {"trace_id": "1", "ts": "2026-05-14T08:00:00Z", "question": "?", "answer": "No."}
AVRO = {
    "type": "record",
    "name": "A",
    "fields": [{"name": name, "type": "string"} for name in ("id", "query", "answer")],
}


def framed(payload: bytes, schema_id: int = 7) -> bytes:
    """A value in the Confluent wire format."""
    return b"\0" + schema_id.to_bytes(4, "big") + payload


@pytest.mark.parametrize(
    "value",
    [
        None,
        b"",
        b"junk",
        b"\xff\xfe",
        b"[]",
        b"{",
        b'{"trace_id": "1"}',
        b'{"trace_id": 5, "ts": "x"}',
        b'{"trace_id": "\xff", "ts": "2026-05-14T08:00:00Z"}',
        b'\xef\xbb\xbf{"trace_id": "1", "ts": "2026-05-14T08:00:00Z"}',
        b'{"trace_id": "\\ud83d", "ts": "2026-05-14T08:00:00Z", "answer": "\\ud83d"}',
        b'{"trace_id": "1", "ts": "2026-05-14T08:00:00Z", "passages": "x"}',
        b"[" * 100_000,
        framed(b"abc"),
    ],
)
@pytest.mark.parametrize("format_", ["auto", "native"])
def test_native_messages_are_read_as_ever(value: bytes | None, format_: str) -> None:
    """The same trace, or the same reason; details may say more."""
    try:
        expected = [decode_native(message(value))]
        reasons = []
    except InvalidMessage as error:
        expected, reasons = [], [error.reason]
    using = decoder(format=format_)
    found = decode(*[value], using=using) if value is not None else _tombstone(using)
    assert (expected, reasons) == (list(found.traces), [problem.reason for problem in found.problems])


def _tombstone(using: SourceDecoder) -> Any:
    import asyncio  # noqa: PLC0415

    return asyncio.run(using.decode(message(None)))


@pytest.mark.parametrize("name", otlp_fixtures())
def test_protobuf_is_recognised_and_may_be_set(name: str) -> None:
    """The same spans as from JSON."""
    value = request_of(name).SerializeToString()
    signal = "logs" if "_logs" in name else "traces"
    expected = decode(*fixture(name)).spans
    assert expected == decode(value).spans == decode(value, using=decoder(format="otlp", signal=signal)).spans


@pytest.mark.parametrize(
    ("format_", "name"),
    [
        ("otlp", "otlp_openinference.json"),
        ("jaeger", "jaeger_query_openinference.json"),
        ("langsmith", "langsmith_runs.json"),
        ("langfuse", "langfuse_export.json"),
        ("mlflow", "mlflow_trace_v2.json"),
        ("langchain", "langchain_events.jsonl"),
        ("llamaindex", "llamaindex_events.jsonl"),
        ("native", "native.json"),
    ],
)
def test_a_set_format_reads_its_own_and_refuses_others(format_: str, name: str) -> None:
    """A setting is not a hint."""
    using = decoder(format=format_)
    assert () == decode(*fixture(name), using=using).problems
    other = "native.json" if format_ != "native" else "langsmith_runs.json"
    assert 1 == len(decode(*fixture(other), using=using).problems)
    assert 1 == len(decode(b"\x0a\x01junk", using=using).problems)


def test_json_of_no_known_shape_is_told_about_mappings() -> None:
    """It is what home-made topics hold."""
    (problem,) = decode({"q": "?", "a": "No."}).problems
    assert ("missing_field", True) == (problem.reason, "docs/mapping.md" in problem.detail)


def test_a_bad_span_costs_no_neighbour() -> None:
    """The message's bytes go to the dead letter beside the good spans."""
    found = decode(spans_request(span(spanId="zz"), span()))
    assert (1, 1) == (len(found.spans), len(found.problems))


def test_our_own_calls_and_evaluators_are_counted() -> None:
    """They stay among the spans, for assembly to leave out what is below them."""
    ours = span(attributes=[attribute("groundwatch.layer", stringValue="judge")])
    found = decode(spans_request(ours, span(spanId="a1f0c3d2e4b59688")))
    assert (1, [SpanKind.EVALUATOR, SpanKind.OTHER]) == (found.evaluators, [one.kind for one in found.spans])


def test_what_was_read_is_counted_by_topic() -> None:
    """Metrics and `attach` show it."""
    using = decoder()
    decode(*fixture("native.json"), *fixture("langchain_events.jsonl"), b"junk", using=using)
    assert {"traces": {"native_json": 1, "langchain": 6}} == using.seen


def test_topics_are_set_by_name_or_pattern_and_the_first_entry_counts() -> None:
    """What has no entry is recognised."""
    sources = [
        SourceSettings(topic="a", format="native"),
        SourceSettings(topic="^[ab]$", format="langsmith"),
    ]
    using = SourceDecoder.of(sources, max_message_bytes=MAX_BYTES)
    formats = {name: using._topic(name).format for name in ("a", "b", "ab")}
    assert {"a": "native", "b": "langsmith", "ab": "auto"} == formats


def test_prompt_layouts_and_tiers_go_to_assembly() -> None:
    """Contexts in prompts of another form."""
    layout = [{"start": "Facts:", "end": "Ask:", "separator": "##"}]
    using = decoder(format="rag_json", prompts=layout, default_tier="high")
    answer = {"id": "1", "answer": "No.", "prompt": "Facts: one ## two Ask: heavy?"}
    trace = trace_of(answer, using=using)
    assert (["one", "two"], "heavy?") == ([passage.text for passage in trace.passages or ()], trace.question)
    assert "high" == trace.tier
    assert () == decoder(prompts=[]).rules("traces").layouts


def test_strict_refuses_what_was_repaired() -> None:
    """Without it the span goes on, flagged."""
    dirty = json.dumps(document("langsmith_runs.json")["runs"][0]).replace("answer", "\\ud83d").encode()
    lenient, strict = decode(dirty), decode(dirty, using=decoder(strict=True))
    assert (1, True) == (len(lenient.spans), "repaired_text" in lenient.spans[0].flags)
    assert ((), ["not_strict"]) == (strict.spans, [problem.reason for problem in strict.problems])


def test_a_wrong_clock_is_found_in_whole_traces() -> None:
    """The record time counts, as for native ones."""
    ahead = {"id": "1", "answer": "No.", "time": "2026-05-14T11:00:00Z"}
    trace = trace_of(ahead, using=decoder(format="rag_json"))
    assert ("clock_ahead" in trace.flags, 9) == (True, trace.ts.hour)


async def test_avro_behind_a_registry_is_mapped() -> None:
    """The schema is asked for once."""
    fastavro = pytest.importorskip("fastavro")
    from io import BytesIO  # noqa: PLC0415

    body = BytesIO()
    fastavro.schemaless_writer(body, fastavro.parse_schema(AVRO), {"id": "1", "query": "?", "answer": "No."})
    with running_registry() as registry:
        registry.register(7, json.dumps(AVRO))
        using = decoder(format="rag_json", registry_url=registry.url)
        for _ in range(2):
            (trace,) = (await using.decode(message(framed(body.getvalue())))).traces
            assert ("1", "?", "No.") == (trace.trace_id, trace.question, trace.answer)
        assert 1 == len(registry.asked)
        await using.close()


async def test_json_behind_a_registry_is_recognised() -> None:
    """Native and foreign documents alike."""
    with running_registry() as registry:
        registry.register(7, "{}", "JSON")
        using = decoder(registry_url=registry.url)
        native = await using.decode(message(framed(json.dumps(NATIVE).encode())))
        runs = await using.decode(message(framed(fixture("langsmith_runs.json")[0])))
        assert (1, 3) == (len(native.traces), len(runs.spans))
        await using.close()


async def test_a_registry_that_is_away_makes_the_message_wait() -> None:
    """Retryable, not a dead letter; an unknown schema is one."""
    with running_registry() as registry:
        using = decoder(registry_url=registry.url)
        found = await using.decode(message(framed(b"x")))
        assert ["unknown_schema_id"] == [problem.reason for problem in found.problems]
        registry.status = 503
        with pytest.raises(RegistryUnavailable):
            await using.decode(message(framed(b"x", schema_id=8)))
        await using.close()


def test_without_a_registry_the_message_says_what_to_set() -> None:
    """It cannot be read without one."""
    (problem,) = decode(framed(b"abc")).problems
    assert "registry_url" in problem.detail


def test_a_mapping_file_that_is_wrong_stops_the_start(tmp_path: Any) -> None:
    """Before anything is read."""
    with pytest.raises(ConfigError, match=r"mine\.yaml: cannot be read"):
        decoder(format="mapping", mapping=tmp_path / "mine.yaml")


def test_fixtures_are_not_empty() -> None:
    """The tests above would pass on an empty folder."""
    assert len(list(FOLDER.iterdir())) > 20


@pytest.mark.parametrize(
    "value", [b'{"trace_id": "t", "ts": "no time"}', b"{", b'{"a":' * 5000, framed(b"abc"), b'{"trace_id": "\\ud83d"}']
)
def test_what_cannot_be_read_leaves_nothing_to_the_collector(value: bytes) -> None:
    """An error that kept its frames would keep the message too, of some megabytes each, until the collector comes."""
    own = decoder()
    decode(value, using=own)  # what is made once, at first use
    gc.collect()
    gc.disable()
    try:
        found = decode(value, using=own)
        assert 0 == gc.collect()
    finally:
        gc.enable()
    assert 1 == len(found.problems)
