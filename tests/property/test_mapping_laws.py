"""Mapped formats: how a batch is cut and ordered changes nothing, and no JSON can do more than become a dead letter."""

import asyncio
import json
from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.trace import Trace
from streams.sources.decode import SourceDecoder
from streams.sources.mapping import PRESETS
from streams.sources.raw import Decoded
from tests.source_messages import decode, decoder, document, fixture, message, trace_of

DECODERS: Mapping[str, SourceDecoder] = {name: decoder(format=name) for name in ("auto", *PRESETS)}
ROOT = document("langsmith_batch.json")["post"][0]
TOOL = {
    "id": "0196cda1-4a00-7000-8000-000000000013",
    "trace_id": ROOT["id"],
    "dotted_order": f"{ROOT['dotted_order']}.20260514T080000055000Z0196cda1-4a00-7000-8000-000000000013",
}
MAPPED = (
    "langsmith_batch.json",
    "langfuse_batch.json",
    "langfuse_export.json",
    "mlflow_trace_v3.json",
    "mlflow_trace_v2.json",
    "langchain_events.jsonl",
    "llamaindex_events.jsonl",
)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8)
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
)


def langsmith_parts() -> list[tuple[str, dict[str, Any]]]:
    """Posts and patches of the fixture and of a tool and a retriever whose patches do not say their kind."""
    batch = document("langsmith_batch.json")
    retriever = batch["post"].pop(1)
    outputs, end = retriever.pop("outputs"), retriever.pop("end_time")
    patch = {key: retriever[key] for key in ("id", "trace_id", "dotted_order")} | {"outputs": outputs, "end_time": end}
    posts = [*batch["post"], retriever, TOOL | {"run_type": "tool", "name": "price", "inputs": {"input": "700"}}]
    patches = [*batch["patch"], patch, TOOL | {"outputs": {"output": "500"}, "end_time": "2026-05-14T08:00:00.058"}]
    return [("post", one) for one in posts] + [("patch", one) for one in patches]


def langfuse_parts() -> list[tuple[str, dict[str, Any]]]:
    """The events of the fixture."""
    return [("batch", event) for event in document("langfuse_batch.json")["batch"]]


@st.composite
def cuts(draw: st.DrawFn, parts: list[tuple[str, dict[str, Any]]]) -> list[dict[str, Any]]:
    """The parts in any order, some twice, in any number of messages."""
    order = draw(st.permutations(parts))
    again = draw(st.lists(st.sampled_from(parts), max_size=3))
    messages: list[dict[str, Any]] = []
    for key, part in [*order, *again]:
        if not messages or draw(st.booleans()):
            messages.append({})
        messages[-1].setdefault(key, []).append(part)
    return messages


def without_position(trace: Trace) -> Trace:
    """Where it was read is the one thing that may differ."""
    return trace.model_copy(update={"source": None})


def whole(parts: list[tuple[str, dict[str, Any]]]) -> Trace:
    """The trace when everything comes in one message, in order."""
    batch: dict[str, Any] = {}
    for key, part in parts:
        batch.setdefault(key, []).append(part)
    return without_position(trace_of(batch))


@given(cuts(langsmith_parts()))
def test_cutting_a_langsmith_batch_changes_nothing(messages: list[dict[str, Any]]) -> None:
    """Posts and patches come apart, late, and twice."""
    trace = trace_of(*messages, using=DECODERS["auto"])
    assert whole(langsmith_parts()) == without_position(trace)
    assert [("price", "700", "500")] == [(call.name, call.arguments, call.output) for call in trace.tool_calls]
    assert 1 == len(trace.passages or ())


@given(cuts(langfuse_parts()))
def test_cutting_a_langfuse_batch_changes_nothing(messages: list[dict[str, Any]]) -> None:
    """Creates, updates and scores."""
    assert whole(langfuse_parts()) == without_position(trace_of(*messages, using=DECODERS["auto"]))


def decoded(value: bytes, name: str) -> Decoded:
    """What a message holds; anything raised fails the test."""
    return asyncio.run(DECODERS[name].decode(message(value)))


@given(st.sampled_from(sorted(DECODERS)), JSON)
def test_no_json_does_more_than_become_a_dead_letter(name: str, content: Any) -> None:
    """Of any format."""
    found = decoded(json.dumps(content).encode(), name)
    assert found.problems or found.traces or found.spans or found.ignored


@given(st.sampled_from(sorted(DECODERS)), st.binary(max_size=60))
def test_no_bytes_do_more_than_become_a_dead_letter(name: str, value: bytes) -> None:
    """Nothing is raised but a Retryable, which needs a registry."""
    decoded(value, name)


@given(st.data(), st.sampled_from(MAPPED))
def test_a_field_may_hold_anything(data: st.DataObject, name: str) -> None:
    """One value of a real message is replaced by any JSON: at worst its item is refused."""
    values = [json.loads(value) for value in fixture(name)]
    spoilt = deepcopy(values[0])
    spoil(data, spoilt)
    for one in ("auto", name.split("_", maxsplit=1)[0]):
        decoded(json.dumps(spoilt).encode(), one)


def spoil(data: st.DataObject, value: Any) -> None:
    """Replace something somewhere within."""
    here = value
    while True:
        key = data.draw(st.sampled_from(range(len(here)) if isinstance(here, list) else sorted(here)))
        inner = here[key]
        if not isinstance(inner, (dict, list)) or not inner or data.draw(st.booleans()):
            here[key] = data.draw(JSON)
            return
        here = inner


@pytest.mark.parametrize("name", ["langsmith", "langfuse"])
@given(st.lists(JSON, max_size=4), st.data())
def test_junk_in_a_batch_costs_no_neighbour(name: str, junk: list[Any], data: st.DataObject) -> None:
    """The good items give the same trace, wherever the junk stands."""
    batch = document(f"{name}_batch.json")
    key = "post" if name == "langsmith" else "batch"
    items = list(batch[key])
    for one in junk:
        items.insert(data.draw(st.integers(0, len(items))), one)
    expected = decode(batch).spans
    ids = {span.trace_id for span in expected}
    for one in (name, "auto"):
        found = decode(batch | {key: items}, using=DECODERS[one]).spans
        assert len(expected) == sum(span.trace_id in ids for span in found)
