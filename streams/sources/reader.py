"""One message to spans and traces: recognise, decode, name the fields, assemble what is whole."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from pydantic import ValidationError

from schemas.codec import invalid_message
from schemas.errors import InvalidMessage
from schemas.span import Span, SpanKind
from schemas.trace import Trace, Versions
from streams.assembly import assemble
from streams.assembly.closing import CloseReason
from streams.messages import Message
from streams.sources.checked import checked
from streams.sources.conventions import flat_values, to_span
from streams.sources.encoding import looks_like
from streams.sources.envelopes import jaeger, otlp_json
from streams.sources.envelopes.jaeger_proto import decode_jaeger_proto
from streams.sources.envelopes.otlp_proto import decode_otlp_proto
from streams.sources.fields import fitting
from streams.sources.json_text import clean, load
from streams.sources.lookup import Lookup
from streams.sources.mapping import Mapper
from streams.sources.native import decode_native, source_of
from streams.sources.own_calls import is_own_message, is_own_value
from streams.sources.raw import Decoded, Envelope, Json
from streams.sources.sniffing import Encoding, shape_of, sniff
from streams.sources.topic import Topic

_REPAIRS = frozenset(
    {"repaired_text", "cut_values", "bad_number", "bad_time", "wrong_shape", "skipped_documents", "name_dropped"}
)
_MOST_CONTAINERS = 1_000_000
"""Lists and maps in a message; more is an attack on memory, which the native decoder refuses cheaply."""
_LOOKED_AT = 20
"""Items of a list that begins with junk, and most keys beside it."""
MAX_WHOLE_SPANS = 2_000
"""Spans of a trace that comes whole, as of one that is assembled: the rest is left out, with ``close_reason``."""
_OWN_CALL = Decoded(evaluators=1)
_OTLP = (Encoding.OTLP_JSON_TRACES, Encoding.OTLP_JSON_LOGS)


@dataclass(slots=True)
class Reader:
    """Reads one message; ``message`` holds the value as it is after unpacking. ``encoding`` says what it was."""

    topic: Topic
    message: Message
    encoding: str = ""

    def read(self, value: bytes) -> Decoded:
        """What the value holds. Raises InvalidMessage when that is nothing."""
        if is_own_message(self.message):
            return _OWN_CALL
        format_ = self.topic.format
        if format_ == "native":
            return self._native()
        is_json = value.lstrip()[:1] in (b"{", b"[")
        if format_ == "auto":
            return self._recognised(value, is_json=is_json)
        if is_json:
            return self._formatted(*load(value))
        if format_ == "otlp":
            return self._spans(Encoding.OTLP_PROTO, decode_otlp_proto(value, self.topic.signal))
        if format_ == "jaeger":
            return self._spans(Encoding.JAEGER_PROTO, decode_jaeger_proto(value))
        raise InvalidMessage("not_json", f"(message): no JSON{looks_like(value)}; the topic's format is {format_}")

    def read_document(self, document: Json) -> Decoded:
        """What a document from a schema registry holds. Raises InvalidMessage when that is nothing."""
        if self.topic.format not in ("auto", "native"):
            return self._formatted(document, is_dirty=False)
        self.message = replace(self.message, value=json.dumps(document, default=str).encode())
        return self._native() if self.topic.format == "native" else self._shaped(document, is_dirty=False)

    def _recognised(self, value: bytes, *, is_json: bool) -> Decoded:
        if is_json and (len(value) <= _MOST_CONTAINERS or value.count(b"{") + value.count(b"[") <= _MOST_CONTAINERS):
            try:
                document, is_dirty = load(value)
            except InvalidMessage:
                return self._native()  # which says more about what is wrong
            return self._shaped(document, is_dirty=is_dirty)
        self.encoding = encoding = Encoding.UNKNOWN if is_json else sniff(value)
        if encoding is Encoding.OTLP_PROTO:
            return self._spans(encoding, decode_otlp_proto(value))
        if encoding is Encoding.JAEGER_PROTO:
            return self._spans(encoding, decode_jaeger_proto(value))
        return self._native()

    def _shaped(self, document: Json, *, is_dirty: bool) -> Decoded:
        """By what the document looks like."""
        self.encoding = shape = _shape(document)
        if shape in _OTLP:
            return self._spans(shape, otlp_json.envelope_of(document, is_dirty=is_dirty))
        if shape is Encoding.JAEGER_JSON:
            return self._spans(shape, jaeger.envelope_of(document, is_dirty=is_dirty))
        mapper = self.topic.mappers.get(shape)
        if mapper is not None:
            return self._mapped(mapper, document, is_dirty=is_dirty)
        try:
            return self._native()
        except InvalidMessage as error:
            if shape is Encoding.OTHER_JSON and isinstance(document, dict) and not {"trace_id", "ts"} & document.keys():
                raise InvalidMessage(
                    error.reason, f"{error.detail}; for JSON of another shape: docs/mapping.md"
                ) from error
            raise

    def _formatted(self, document: Json, is_dirty: bool) -> Decoded:
        """By the topic's setting."""
        if self.topic.format == "otlp":
            envelope = otlp_json.envelope_of(document, is_dirty=is_dirty)
            return self._spans(Encoding.OTLP_JSON_TRACES, envelope)
        if self.topic.format == "jaeger":
            return self._spans(Encoding.JAEGER_JSON, jaeger.envelope_of(document, is_dirty=is_dirty))
        return self._mapped(self.topic.mappers[self.topic.format], document, is_dirty=is_dirty)

    def _native(self) -> Decoded:
        self.encoding = Encoding.NATIVE_JSON
        trace = decode_native(self.message)
        if is_own_value(self.message.value or b""):
            return _OWN_CALL
        return self._strict(Decoded(traces=(with_own_fields(trace, self.topic, self.message.value or b""),)))

    def _spans(self, encoding: str, envelope: Envelope) -> Decoded:
        """Spans by their conventions; the rules for fields look into their attributes."""
        self.encoding = encoding
        source = source_of(self.message)
        rules = self.topic.fields
        spans = tuple(
            to_span(raw).model_copy(update={"mapped": rules.mapped(flat_values(raw).get), "source": source})
            for raw in envelope.spans
        )
        return self._strict(
            Decoded(spans, problems=envelope.problems, evaluators=_judges(spans), ignored=envelope.ignored)
        )

    def _mapped(self, mapper: Mapper, document: Json, *, is_dirty: bool) -> Decoded:
        self.encoding = mapper.name
        source = source_of(self.message)
        found = mapper.read(document, self.topic.fields, self._record_time(), is_dirty=is_dirty)
        spans = tuple(span.model_copy(update={"source": source}) for span in found.spans)
        traces: list[Trace] = []
        evaluators = _judges(spans)
        problems = list(found.problems)
        for whole in found.wholes:
            try:
                trace = self._assembled([span.model_copy(update={"source": source}) for span in whole])
            except ValidationError as error:
                problems.append(invalid_message(error))
                continue
            evaluators += _judges(whole)
            if trace is not None:
                traces.append(trace)
        return self._strict(Decoded(spans, tuple(traces), tuple(problems), evaluators, found.ignored))

    def _assembled(self, spans: Sequence[Span]) -> Trace | None:
        trace = assemble(spans[:MAX_WHOLE_SPANS], self.topic.assembly, self.message.recorded_at)
        if trace is None:
            return None
        if len(spans) > MAX_WHOLE_SPANS:
            trace = trace.model_copy(update={"close_reason": CloseReason.CAP_SPANS.value})
        return checked(trace, self.message.recorded_at)

    def _record_time(self) -> datetime:
        """Messages of one partition keep their order where a mapping takes the record's time, a whole millisecond."""
        return self.message.recorded_at + timedelta(microseconds=self.message.offset % 1000)

    def _strict(self, found: Decoded) -> Decoded:
        """With the topic's setting ``strict``, what was repaired is refused."""
        if not self.topic.is_strict:
            return found
        spans = [span for span in found.spans if _REPAIRS.isdisjoint(span.flags)]
        traces = [trace for trace in found.traces if _REPAIRS.isdisjoint(trace.flags)]
        flags = [set(one) & _REPAIRS for one in (*(s.flags for s in found.spans), *(t.flags for t in found.traces))]
        problems = [InvalidMessage("not_strict", f"flags: {', '.join(sorted(names))}") for names in flags if names]
        return replace(found, spans=tuple(spans), traces=tuple(traces), problems=(*found.problems, *problems))


def _shape(document: Json) -> Encoding:
    """What a document looks like; where its lists begin with junk, by the next of their items."""
    shape = shape_of(document)
    for place in range(1, _LOOKED_AT):
        if shape is not Encoding.OTHER_JSON:
            break
        if isinstance(document, list):
            shape = shape_of(document[place : place + 1])
        elif len(document) <= _LOOKED_AT:
            lists = {key: value[place : place + 1] for key, value in document.items() if isinstance(value, list)}
            shape = shape_of({**document, **lists}) if any(lists.values()) else Encoding.OTHER_JSON
    return shape


def _judges(spans: Sequence[Span]) -> int:
    return sum(span.kind is SpanKind.EVALUATOR for span in spans)


def with_own_fields(trace: Trace, topic: Topic, value: bytes) -> Trace:
    """A native trace with what the rules of its topic's settings find; without such rules it stays as it came."""
    rules = topic.own_fields.rules
    if not rules and not topic.has_own_tiers:
        return trace
    document, is_dirty = load(value)
    document = clean(document)[0] if is_dirty else document
    found = {said.field: said.value for said in topic.own_fields.mapped(Lookup.of(document))}
    update: dict[str, Any] = {name: found[name] for name in ("intent", "tenant", "locale", "region") if name in found}
    if "roles" in found:
        update["roles"] = tuple(role.strip() for role in found["roles"].split(",") if role.strip())
    versions: dict[str, Any] = {name: value for name, value in found.items() if name in Versions.model_fields}
    if versions:
        update["versions"] = trace.versions.model_copy(update=versions)
    stated = found.get("tier", "") if "tier" in rules else fitting("tier", str(document.get("tier", "")))
    if topic.has_own_tiers or "tier" in rules:
        update["tier"] = topic.tiers.tier_of(update.get("intent", trace.intent), stated)
    return trace.model_copy(update=update)
