"""An item to a span, by way of the conventions: a mapping finds the values, what they mean is read there as ever."""

from collections.abc import Mapping
from typing import Any

from schemas.span import MappedValue, Span, SpanKind
from schemas.trace import Versions
from streams.sources.conventions import to_span
from streams.sources.conventions.reading import Given, Reading
from streams.sources.conventions.shapes import shaped
from streams.sources.fields import LAST_RANK, FieldRules, fitting
from streams.sources.mapping.item import Item
from streams.sources.raw import Json, RawSpan

_NAMES = ("conversation_id", "user_id", *Versions.model_fields)
_PLACES = ("tenant", "locale", "region")
_OWN_RULES = ("intent", "tier")
_KIND_NAMES = frozenset(SpanKind)
_ANY_KIND = (SpanKind.TOOL, SpanKind.LLM, SpanKind.RETRIEVER, SpanKind.CHAIN)


def span_of(item: Item, mapping: str, kinds: Mapping[str, SpanKind], rules: FieldRules) -> Span:
    """The span in an item. Raises InvalidMessage for an item without ids.

    A copy that does not say its kind (an update) keeps its content in the shape of every kind, since another copy will
    say which of them it is.
    """
    given = item.value("attributes")
    attributes: Mapping[str, Json] = given if isinstance(given, dict) else {}
    kind = _kind(item, kinds)
    raw = RawSpan(
        trace_id=item.required_id("trace_id"),
        span_id=item.required_id("span_id"),
        parent_id=item.parent_id(),
        name=item.name("name"),
        start=item.moment("start"),
        end=item.moment("end"),
        attributes=attributes,
        is_error=bool(item.value("is_error")),
    )
    reading = _reading(item, mapping, kind)
    span = to_span(raw, (reading,))
    update: dict[str, Any] = {}
    if kind is None and not attributes:
        update = _every_shape(reading, raw.name)
    if span.end is None and "no_content" in span.flags:  # the content may come with the end
        span = span.model_copy(update={"flags": tuple(flag for flag in span.flags if flag != "no_content")})
    return span.model_copy(
        update={
            **update,
            **item.names(*_PLACES),
            "roles": item.texts("roles"),
            "said_at": item.moment("said_at"),
            "is_update": bool(item.value("is_update")),
            "mapped": mapped_values(item, attributes, rules),
            "flags": _flags(item, span),
        }
    )


def mapped_values(item: Item, attributes: Mapping[str, Json], rules: FieldRules) -> tuple[MappedValue, ...]:
    """What the rules of the configuration find, then what the mapping itself says of intent and tier."""
    own = [
        MappedValue(field=field, rank=LAST_RANK, value=value)
        for field in _OWN_RULES
        if (value := fitting(field, item.name(field)))
    ]
    return (*rules.mapped(item.lookup(attributes)), *own)


def _kind(item: Item, kinds: Mapping[str, SpanKind]) -> SpanKind | None:
    """By the mapping's table, else by our own names; ``other`` for unknown words, None where nothing is said."""
    if item.is_judge():
        return SpanKind.EVALUATOR
    word = item.name("kind").casefold()
    if not word:
        return None
    if word in kinds:
        return kinds[word]
    return SpanKind(word) if word in _KIND_NAMES else SpanKind.OTHER


def _reading(item: Item, mapping: str, kind: SpanKind | None) -> Reading:
    return Reading(
        convention=mapping,
        kind=kind,
        input=_given(item, "input"),
        output=_given(item, "output"),
        query=_given(item, "query"),
        documents=_given(item, "documents"),
        tool_name=item.name("tool_name"),
        arguments=_given(item, "arguments") or _given(item, "input"),
        finish_reason=item.name("finish_reason"),
        names=item.names(*_NAMES),
        feedback=item.feedback(),
    )


def _given(item: Item, key: str) -> Given | None:
    found = item.value(key)
    return None if found is None else Given(found)


def _every_shape(reading: Reading, name: str) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for kind in _ANY_KIND:
        fields |= shaped(kind, [reading], name, set())
    return fields


def _flags(item: Item, span: Span) -> tuple[str, ...]:
    return tuple(sorted({*span.flags, *item.flags, *item.own_flags()}))
