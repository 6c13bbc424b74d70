"""How the traffic is laid out: sizes, keys, partitions, copies, times. What a producer drops is not here to be seen."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from statistics import median

from schemas.span import Span
from streams.attach.reading import Reading, share
from streams.attach.report import Coverage
from streams.attach.sample import Sample
from streams.messages import Message
from streams.sources.checked import CLOCK_TOLERANCE

MEGABYTE = 1_000_000
"""The OTel Collector's default limit of a message, before compression; larger batches are dropped whole."""
NEAR = 0.9
GRACE = timedelta(seconds=5)
_FIRST_RECORD_YEAR = 2000


def coverage(sample: Sample, reading: Reading) -> Coverage:
    """All of it; what a file cannot tell is None."""
    messages = sample.messages
    sizes = sorted(len(message.value or b"") for message in messages)
    limits = [topic.max_message_bytes for topic in sample.topics if topic.max_message_bytes]
    limit = min(limits, default=None)
    copies = [span for spans in reading.spans_by_trace.values() for span in spans]
    times = [message.recorded_at for message in messages if message.recorded_at.year >= _FIRST_RECORD_YEAR]
    known = rates(sample)
    skews = sorted(_skews(reading)) if not sample.is_file else []
    over = sum(size > MEGABYTE for size in sizes)
    near = sum(size > NEAR * limit for size in sizes) if limit else 0
    return Coverage(
        value_bytes=sum(sizes),
        largest_bytes=sizes[-1] if sizes else 0,
        median_bytes=int(median(sizes)) if sizes else 0,
        over_1_mb_share=share(over, len(sizes)),
        size_limit_bytes=limit,
        near_limit_share=share(near, len(sizes)),
        no_key_share=None if sample.is_file else share(sum(m.key is None for m in messages), len(messages)),
        spread_share=None if sample.is_file else _spread(reading),
        repeated_span_share=share(len(copies) - len({_identity(span) for span in copies}), len(copies)),
        changed_span_share=_changed(copies),
        late_span_share=_late(reading),
        repeated_traces=reading.repeated_traces,
        first_recorded_at=None if sample.is_file else min(times, default=None),
        last_recorded_at=None if sample.is_file else max(times, default=None),
        messages_per_second=round(sum(known.values()), 3) if known else None,
        bytes_per_second=_bytes_per_second(sample, known),
        rate_over_seconds=min((one.counted_seconds for one in sample.topics if one.counted_seconds), default=None),
        skew_median_seconds=_at(skews, 0.5),
        skew_p95_seconds=_at(skews, 0.95),
        ahead_share=share(sum(skew < -CLOCK_TOLERANCE.total_seconds() for skew in skews), len(skews)),
        notes=tuple(_notes(sizes, limit, near, _spread(reading), is_file=sample.is_file)),
    )


def _notes(sizes: Sequence[int], limit: int | None, near: int, spread: float, *, is_file: bool) -> Iterator[str]:
    if near:
        yield (
            f"{near} messages come near the topic's limit of {limit:,} bytes: larger ones are dropped by the producer, "
            "so long contexts are missing, not at random; raise max.message.bytes of the topic and the producer's limit"
        )
    elif sizes and max(sizes) <= MEGABYTE and max(sizes) > NEAR * MEGABYTE:
        yield (
            "the largest messages end just below 1 MB, the default limit of the OTel Collector's Kafka exporter, which "
            "drops larger batches whole: raise producer.max_message_bytes there, and max.message.bytes of the topic"
        )
    if spread and not is_file:
        yield (
            f"{100 * spread:.1f} % of traces have spans on several partitions: groundwatch joins them (gw.spans, keyed "
            "by trace id); partition_traces_by_id in the exporter makes traces whole sooner"
        )


def rates(sample: Sample) -> dict[str, float]:
    """Messages a second by topic, by the broker's offsets; empty for a file.

    Where the broker did not tell them: of all together, under the empty name, by the record times of the sample.
    """
    known = {topic.name: topic.per_second for topic in sample.topics if topic.per_second is not None}
    if known or sample.is_file:
        return known
    by_partition: dict[tuple[str, int], list[Message]] = defaultdict(list)
    for message in sample.messages:
        by_partition[message.topic, message.partition].append(message)
    found = []
    for own in by_partition.values():
        seconds = (max(m.recorded_at for m in own) - min(m.recorded_at for m in own)).total_seconds()
        if seconds > 0:
            found.append((own[-1].offset - own[0].offset) / seconds)
    return {"": sum(found)} if found else {}


def _bytes_per_second(sample: Sample, known: Mapping[str, float]) -> float | None:
    """Values as the producer made them: the mean size of each topic's messages times its rate."""
    if not known:
        return None
    total = 0.0
    for topic, rate in known.items():
        sizes = [len(message.value or b"") for message in sample.messages if topic in {"", message.topic}]
        total += rate * sum(sizes) / max(1, len(sizes))
    return round(total, 1)


def _identity(span: Span) -> tuple[str, str, str]:
    return span.trace_id, span.span_id, span.content_hash


def _changed(copies: Sequence[Span]) -> float:
    """Spans of which several copies differ: pending and complete ones, updates."""
    hashes: dict[tuple[str, str], set[str]] = defaultdict(set)
    for span in copies:
        hashes[span.trace_id, span.span_id].add(span.content_hash)
    return share(sum(len(own) > 1 for own in hashes.values()), len(hashes))


def _spread(reading: Reading) -> float:
    partitions = [
        {(span.source.topic, span.source.partition) for span in spans if span.source}
        for spans in reading.spans_by_trace.values()
    ]
    return share(sum(len(own) > 1 for own in partitions), len(partitions))


def _late(reading: Reading) -> float:
    """Spans recorded later than the grace after the end of their root was."""
    late = total = 0
    for spans in reading.spans_by_trace.values():
        roots = [one for one in spans if not one.parent_id and not one.is_update and one.end and one.source]
        total += len(spans)
        if roots:
            closed = min(one.source.recorded_at for one in roots if one.source) + GRACE
            late += sum(one.source is not None and one.source.recorded_at > closed for one in spans)
    return share(late, total)


def _skews(reading: Reading) -> Iterator[float]:
    """Record time minus event time, of traces whose message has a record time."""
    for built in reading.built:
        ends = [span.end for span in built.spans if span.end and span.source]
        source = built.trace.source
        if source is None or source.recorded_at.year < _FIRST_RECORD_YEAR:
            continue
        recorded = max((span.source.recorded_at for span in built.spans if span.source), default=source.recorded_at)
        event = max(ends, default=built.trace.ts)
        yield (recorded - event).total_seconds()


def _at(ordered: Sequence[float], quantile: float) -> float | None:
    return round(ordered[min(len(ordered) - 1, int(quantile * len(ordered)))], 3) if ordered else None
