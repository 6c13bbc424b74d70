"""A sample through the real decoder and the real assembly: what each message was, and what each trace is."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from schemas.errors import InvalidMessage, Retryable
from schemas.span import Span
from schemas.trace import Trace
from streams.assembly import assemble
from streams.attach.sample import Sample
from streams.messages import Message
from streams.sources.checked import checked
from streams.sources.decode import SourceDecoder
from streams.sources.raw import Decoded
from streams.sources.sniffing import Encoding, sniff
from streams.sources.wire import Framed, unwrap

_LAYERS = {b"\x1f\x8b": "gzip", b"\x28\xb5": "zstd", b"\xff\x06": "snappy", b"\x04\x22": "lz4"}
_REPLAYED = timedelta(hours=1)
"""Recorded so long after the event, a span was not sent when it ended."""


@dataclass(frozen=True, slots=True)
class Seen:
    """One message: ``encoding`` is what it was read as, or looks like where it could not be read.

    ``layer`` is around it: a compression that the producer put on by hand, or ``schema id``. ``conventions`` are those
    of its spans.
    """

    message: Message
    encoding: str
    layer: str
    conventions: tuple[str, ...]
    decoded: Decoded

    @property
    def is_read(self) -> bool:
        """Whether anything came out of it, or was left out on purpose."""
        return bool(self.decoded.spans or self.decoded.traces or self.decoded.ignored) or not self.decoded.problems


@dataclass(frozen=True, slots=True)
class Built:
    """A trace and the spans that it was made of; none for a trace that came whole in a message."""

    trace: Trace
    spans: tuple[Span, ...] = ()
    is_whole: bool = True
    """It has its root and began within the sample, which cuts traces at its edges."""

    @property
    def has_root(self) -> bool:
        """Whether its root is in the sample."""
        return "no_root" not in self.trace.flags


@dataclass(frozen=True, slots=True)
class Reading:
    """All of a sample. ``judges`` are traces of evaluators alone; times are this machine's."""

    seen: tuple[Seen, ...]
    built: tuple[Built, ...]
    judges: int = 0
    repeated_traces: int = 0
    decode_seconds: float = 0.0
    assemble_seconds: float = 0.0
    spans_by_trace: dict[str, list[Span]] = field(default_factory=dict)

    @property
    def whole(self) -> tuple[Built, ...]:
        """The traces that are whole; where none is, those that have a root, else all."""
        whole = tuple(one for one in self.built if one.is_whole)
        return whole or tuple(one for one in self.built if one.has_root) or self.built

    def traces_a_message(self, topic: str = "") -> float:
        """Each trace has one root, so roots count traces, however a sample tears them; of one topic, or of all."""
        rooted = [one for one in self.built if one.has_root] or self.built
        traces = [one for one in rooted if not topic or (one.trace.source and one.trace.source.topic == topic)]
        return len(traces) / max(1, sum(not topic or one.message.topic == topic for one in self.seen))


async def read(sample: Sample, decoder: SourceDecoder, max_bytes: int, clock: Callable[[], float]) -> Reading:
    """Decode and assemble. Never raises for what messages hold; a schema registry that is away is a problem of each.

    ``clock`` counts seconds from any origin.
    """
    seen: list[Seen] = []
    spent = 0.0
    is_away = ""
    for message in sample.messages:
        layer, looks = _around(message.value or b"", max_bytes)
        if is_away and layer == "schema id":
            seen.append(Seen(message, looks, layer, (), _refused("registry_away", is_away)))
            continue
        before = Counter(decoder.seen.get(message.topic, ()))
        began = clock()
        try:
            decoded = await decoder.decode(message)
        except Retryable as error:
            is_away = str(error)
            decoded = _refused("registry_away", is_away)
        spent += clock() - began
        said = Counter(decoder.seen.get(message.topic, ())) - before
        encoding = next(iter(said), looks)
        conventions = sorted({span.decoder for span in decoded.spans} | {trace.decoder for trace in decoded.traces})
        seen.append(Seen(message, encoding, layer, tuple(conventions), decoded))
    began = clock()
    built, judges, repeated, by_trace = _assembled(seen, decoder, sample.since)
    return Reading(tuple(seen), tuple(built), judges, repeated, spent, clock() - began, by_trace)


def _assembled(
    seen: Sequence[Seen], decoder: SourceDecoder, since: datetime | None
) -> tuple[list[Built], int, int, dict[str, list[Span]]]:
    by_trace: dict[str, list[Span]] = defaultdict(list)
    wholes: dict[str, Built] = {}
    repeated = 0
    for one in seen:
        for span in one.decoded.spans:
            by_trace[span.trace_id].append(span)
        for trace in one.decoded.traces:
            repeated += trace.trace_id in wholes
            wholes[trace.trace_id] = Built(trace)
    made: list[Built] = []
    judges = 0
    for trace_id, spans in by_trace.items():
        source = spans[0].source
        if trace_id in wholes or source is None:
            continue
        last = max(span.source.recorded_at for span in spans if span.source)
        found = assemble(spans, decoder.rules(source.topic), last)
        judges += found is None
        if found is not None:
            made.append(_built(checked(found, last), spans, since))
    return [*made, *wholes.values()], judges, repeated, dict(by_trace)


def _built(trace: Trace, spans: Sequence[Span], since: datetime | None) -> Built:
    has_root = "no_root" not in trace.flags
    return Built(trace, tuple(spans), is_whole=has_root and (since is None or _began(spans) >= since))


def _began(spans: Sequence[Span]) -> datetime:
    """When the trace began, in the broker's time: recorded data that is replayed began when it was sent."""
    recorded = max(span.source.recorded_at for span in spans if span.source)
    began = min((moment for span in spans if (moment := span.start or span.end)), default=recorded)
    behind = recorded - max((span.end for span in spans if span.end), default=recorded)
    return began + behind if behind > _REPLAYED else began


def _around(value: bytes, max_bytes: int) -> tuple[str, str]:
    """What is around a value, and what that which is inside looks like."""
    layer = _LAYERS.get(value[:2], "")
    try:
        inner = unwrap(value, max_bytes)
    except InvalidMessage:
        return layer, Encoding.UNKNOWN
    return ("schema id" if isinstance(inner, Framed) else layer), sniff(inner)


def _refused(reason: str, detail: str) -> Decoded:
    return Decoded(problems=(InvalidMessage(reason, detail),))


def share(count: float, of: float) -> float:
    """A share of 0 to 1, 0 where there is nothing."""
    return round(count / of, 4) if of else 0.0


def counts_of(values: Iterable[str]) -> list[tuple[str, int]]:
    """The most frequent first, names in order among equals."""
    return sorted(Counter(values).items(), key=lambda pair: (-pair[1], pair[0]))
