"""An item that is a whole trace, as spans: a chain, what it retrieved, the model call, its tools.

So that one path makes traces of every format: ids from content, contexts out of a prompt, tiers and flags are decided
by assembly alone.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

from schemas.span import Span, SpanKind
from schemas.trace import MAX_ITEMS
from streams.sources.conventions import to_span
from streams.sources.conventions.messages import Said
from streams.sources.conventions.reading import Given, Reading
from streams.sources.conventions.texts import OUTPUT, unwrap
from streams.sources.conventions.values import name, number, parsed
from streams.sources.fields import FieldRules
from streams.sources.mapping.item import Item
from streams.sources.mapping.spans import mapped_values
from streams.sources.raw import Json, RawSpan

_DAY_MS = 86_400_000.0


def spans_of(item: Item, mapping: str, rules: FieldRules) -> tuple[Span, ...]:
    """The spans of a trace; one without a time has the record's. Raises InvalidMessage for an item without an id."""
    end = item.moment("ts")
    if end is None:
        item.flags.add("record_time")
        end = item.recorded_at
    chain = RawSpan(item.required_id("trace_id"), "trace", name=mapping, start=_start(item, end), end=end)
    kind = SpanKind.EVALUATOR if item.is_judge() else SpanKind.CHAIN
    names = item.names("conversation_id", "user_id", "model", "prompt", "corpus", "retriever", "app")
    said = Reading(
        mapping, kind, _given(item, "question"), _given(item, "answer"), names=names, feedback=item.feedback()
    )
    children = tuple(
        to_span(replace(chain, span_id=span_id, parent_id="trace", name=called, start=None), (reading,))
        for span_id, called, reading in _children(item, mapping)
    )
    root = to_span(chain, (said,))
    update: dict[str, Any] = {
        **item.names("tenant", "locale", "region"),
        "roles": item.texts("roles"),
        "mapped": mapped_values(item, {}, rules),
        "flags": tuple(sorted({*root.flags, *item.flags, *item.own_flags()})),
    }
    return (root.model_copy(update=update), *children)


def _children(item: Item, mapping: str) -> Iterator[tuple[str, str, Reading]]:
    passages = _given(item, "passages")
    if passages is not None:
        yield "passages", "retriever", Reading(mapping, SpanKind.RETRIEVER, documents=passages)
    prompt = _given(item, "packed_prompt")
    written = tuple(_written(item))
    if prompt is not None or written:
        yield "prompt", "model", Reading(mapping, SpanKind.LLM, input=prompt, completions=written)
    calls = parsed(item.value("tool_calls"), item.flags)
    for place, call in enumerate(islice(calls if isinstance(calls, list) else (), MAX_ITEMS)):
        if isinstance(call, dict):
            yield f"tool-{place:05}", "tool", _tool(call, mapping)


def _written(item: Item) -> Iterator[Said]:
    """The answer and its alternatives; nothing where there are no alternatives, since the chain has the answer."""
    others = item.value("alternatives")
    answer = unwrap(item.value("answer"), OUTPUT, set())
    if answer is None or not isinstance(others, list):
        return
    for other in (answer, *islice(others, MAX_ITEMS)):
        text = unwrap(other, OUTPUT, item.flags)
        if text is not None:
            yield Said("assistant", text)


def _tool(call: dict[str, Any], mapping: str) -> Reading:
    return Reading(
        mapping,
        SpanKind.TOOL,
        output=_stated(call.get("output")),
        tool_name=name(call.get("name"), set()),
        arguments=_stated(call.get("arguments")),
    )


def _stated(value: Json) -> Given | None:
    return None if value is None else Given(value)


def _given(item: Item, key: str) -> Given | None:
    return _stated(item.value(key))


def _start(item: Item, end: datetime) -> datetime | None:
    milliseconds = number(item.value("total_ms"))
    if milliseconds is None or not 0 <= milliseconds <= _DAY_MS:
        return None
    return end - timedelta(milliseconds=milliseconds)
