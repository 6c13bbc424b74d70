"""From a sample to the whole report: decode, try, count, judge, propose. Pure but for the clocks it is given."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from streams.attach.advice import load_advice
from streams.attach.coverage import coverage, rates
from streams.attach.examples import examples
from streams.attach.forms import forms, problems
from streams.attach.needs import acls, load
from streams.attach.presence import fields_found
from streams.attach.proposal import in_effect, propose
from streams.attach.reading import Reading, read, share
from streams.attach.report import Attached, FieldFound, Topic
from streams.attach.sample import Sample
from streams.attach.trial import Means, cites, cost, dry_run, run_trial
from streams.settings import SourceSettings
from streams.sources.decode import SourceDecoder
from streams.sources.sniffing import Encoding

HOME_MADE = "rag_json"
_WORTH_TRYING = 0.2
_WORKS = 0.5


@dataclass(frozen=True, slots=True)
class Study:
    """What the report depends on beside the sample.

    ``source`` and ``internal`` are addresses for the lines of rights.
    """

    sources: tuple[SourceSettings, ...]
    max_message_bytes: int
    means: Means
    source: str
    internal: str
    retention_days: int = 90
    is_dry_run: bool = False
    has_examples: bool = True


async def study(sample: Sample, with_: Study) -> Attached:
    """The report: fields as they are found now, verdicts, examples and cost as they would be with the proposed mapping.

    Never raises for what messages hold; raises ConfigError for settings of sources that are wrong.
    """
    began = with_.means.clock()
    reading, tried = await _read(sample, with_)
    is_cited = cites(reading, with_.means.policy.document)
    fields = fields_found(reading.whole, is_cited, _conventions(reading), load_advice())
    proposal = propose(reading, fields, with_.max_message_bytes, tried, with_.sources)
    mapped = reading
    if proposal.config:
        mapped = await _read_with(sample, in_effect(with_.sources, proposal), with_)
    trial = run_trial(mapped, with_.means)
    found = _report(sample, with_, reading, fields)
    dry = dry_run(trial, load_advice().unresolved) if with_.is_dry_run else None
    update = {
        "examples": examples(mapped.built, with_.means.finish) if with_.has_examples else (),
        "proposal": proposal,
        "dry_run": dry,
        "cost": cost(mapped, trial, with_.means, rates(sample)),
        "notes": (*_notes(sample, tried), *_expired(reading, with_)),
        "seconds": round(sample.seconds + with_.means.clock() - began, 2),
    }
    return Attached(**found, **update)


def _report(sample: Sample, with_: Study, reading: Reading, fields: tuple[FieldFound, ...]) -> dict[str, Any]:
    """All that does not depend on the proposal."""
    rows = forms(reading.seen)
    layout = coverage(sample, reading)
    topics = tuple(_topics(sample))
    names = [topic.name for topic in topics]
    return {
        "topics": topics,
        "is_file": sample.is_file,
        "messages": len(sample.messages),
        "spans": sum(row.spans for row in rows),
        "traces": len(reading.built),
        "whole_traces": sum(one.is_whole for one in reading.built),
        "judge_traces": reading.judges,
        "decoded_share": share(sum(one.is_read for one in reading.seen), len(reading.seen)),
        "forms": rows,
        "problems": problems(reading.seen, load_advice().problems),
        "fields": fields,
        "coverage": layout,
        "acls": () if sample.is_file else acls(with_.source, with_.internal, names),
        "load": load(sum(topic.partitions for topic in topics), layout.bytes_per_second),
    }


def _expired(reading: Reading, with_: Study) -> Iterator[str]:
    earliest = with_.means.now - timedelta(days=with_.retention_days)
    old = sum(one.trace.ts < earliest for one in reading.built)
    if old:
        yield (
            f"{old} of {len(reading.built)} traces are older than store.retention_days ({with_.retention_days}): they "
            "would be counted as unresolved:expired, and not stored"
        )


async def _read(sample: Sample, with_: Study) -> tuple[Reading, Mapping[str, str]]:
    """The reading; topics that mostly hold JSON of their own are read once more with the usual names of fields."""
    reading = await _read_with(sample, with_.sources, with_)
    unread = Counter(
        one.message.topic for one in reading.seen if not one.is_read and one.encoding == Encoding.OTHER_JSON
    )
    sizes = Counter(message.topic for message in sample.messages)
    tried = {
        topic: HOME_MADE
        for topic, count in unread.items()
        if share(count, sizes[topic]) >= _WORTH_TRYING and not any(own.fits(topic) for own in with_.sources)
    }
    if not tried:
        return reading, {}
    extra = tuple(SourceSettings(topic=topic, format=HOME_MADE) for topic in tried)
    second = await _read_with(sample, (*extra, *with_.sources), with_)
    gained = sum(one.is_read for one in second.seen) - sum(one.is_read for one in reading.seen)
    return (second, tried) if share(gained, sum(unread.values())) >= _WORKS else (reading, {})


async def _read_with(sample: Sample, sources: Sequence[SourceSettings], with_: Study) -> Reading:
    decoder = SourceDecoder.of(sources, max_message_bytes=with_.max_message_bytes)
    try:
        return await read(sample, decoder, with_.max_message_bytes, with_.means.clock)
    finally:
        await decoder.close()


def _conventions(reading: Reading) -> list[str]:
    """The most frequent first."""
    counts = Counter(name for one in reading.seen for name in one.conventions)
    return [name for name, _ in counts.most_common() if name != "plain"]


def _topics(sample: Sample) -> Iterator[Topic]:
    read_counts = Counter(message.topic for message in sample.messages)
    if not sample.topics:
        for name, count in read_counts.items():
            yield Topic(name=name, partitions=1, available=count, read=count)
    for facts in sample.topics:
        yield Topic(
            name=facts.name,
            partitions=facts.partitions,
            available=facts.available,
            read=read_counts[facts.name],
            messages_per_second=_rounded(facts.per_second),
            busiest_partition_per_second=_rounded(facts.busiest_per_second),
            max_message_bytes=facts.max_message_bytes,
            compression=facts.compression,
            retention_seconds=facts.retention_seconds,
        )


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


def _notes(sample: Sample, tried: Mapping[str, str]) -> Iterator[str]:
    yield from sample.notes
    for topic, format_ in tried.items():
        yield (
            f"{topic} holds JSON of its own; it was read with format {format_}, which looks for the usual names of "
            "fields: look at the examples, and write a mapping file where they are wrong (docs/mapping.md)"
        )
