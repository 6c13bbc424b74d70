"""Messages of a topic as strangers fill it: several formats at once, spans of a trace in messages of their own."""

import asyncio
import gzip
import json
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from itertools import count
from typing import Any

from google.protobuf.json_format import ParseDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from sampling.effective import compose
from sampling.policy_file import default_policy
from streams.attach.report import Attached
from streams.attach.sample import Sample
from streams.attach.study import Study, study
from streams.attach.trial import Means
from streams.messages import Message
from streams.settings import SourceSettings
from tests.fakes_detectors import WordDetector
from tests.unit.sources.otlp_messages import _base64, _ids, fixture

AT = datetime(2026, 5, 14, 8, tzinfo=UTC)
INTENTS = ("shipping.insurance", "shipping.tracking", "billing.refund")
JUNK = b"not a trace at all"


def trace_id_of(number: int) -> str:
    """Thirty-two hex digits."""
    return blake2b(str(number).encode(), digest_size=16).hexdigest()


def openinference_spans(number: int, at: datetime | None = None) -> list[dict[str, Any]]:
    """The fixture as OTLP/JSON documents of one span each, with an id and intent of its own, root last, at ``at``."""
    document = json.loads(fixture("otlp_openinference.json"))
    resource = document["resourceSpans"][0]
    (scope,) = resource["scopeSpans"]
    text = json.dumps(scope["spans"]).replace(scope["spans"][0]["traceId"], trace_id_of(number))
    text = text.replace("shipping.insurance", INTENTS[number % len(INTENTS)])
    spans = sorted(json.loads(text), key=lambda span: "parentSpanId" not in span or not span["parentSpanId"])
    if at is not None:
        nanoseconds = int(at.timestamp() * 1e9)
        times = {"startTimeUnixNano": str(nanoseconds - 1_000_000), "endTimeUnixNano": str(nanoseconds)}
        spans = [{**one, **times} for one in spans]
    return [
        {"resourceSpans": [{**resource, "scopeSpans": [{**scope, "spans": [one]}]}]} for one in spans
    ]  # fmt: skip


def as_proto(document: dict[str, Any]) -> bytes:
    """OTLP/JSON as protobuf."""
    return bytes(ParseDict(_ids(document, _base64), ExportTraceServiceRequest()).SerializeToString())


def native(number: int, at: datetime | None = None) -> bytes:
    """A whole trace in one message."""
    document = json.loads(fixture("native.json"))
    document |= {"ts": at.isoformat()} if at else {}
    return json.dumps({**document, "trace_id": f"native-{number}", "intent": INTENTS[number % 3]}).encode()


def mixed(traces: int) -> list[bytes]:
    """Values of a topic: of ten traces six as protobuf, two as OTLP/JSON and two native, one of these gzip'd; and junk.

    Spans of a trace are one message each.
    """
    values: list[bytes] = []
    for number in range(traces):
        if number % 10 < 6:
            values += [as_proto(document) for document in openinference_spans(number)]
        elif number % 10 < 8:
            values += [json.dumps(document).encode() for document in openinference_spans(number)]
        else:
            values.append(native(number) if number % 10 == 8 else gzip.compress(native(number)))
        if number % 25 == 24:
            values.append(JUNK)
    return values


def sample(values: list[bytes], topic: str = "traces", partitions: int = 8, key: bytes | None = None) -> Sample:
    """The values in turn on the partitions, ten milliseconds apart."""
    messages = [
        Message(topic, n % partitions, n // partitions, key, value, (), AT + timedelta(seconds=2, milliseconds=10 * n))
        for n, value in enumerate(values)
    ]
    return Sample(tuple(messages))


def means(now: datetime = AT) -> Means:
    """What judging takes, with a detector that counts words."""
    ticks = count()
    return Means(
        detector=WordDetector(),
        policy=compose("default", default_policy()),
        finish=lambda trace: trace,
        now=now,
        clock=lambda: next(ticks) / 1000,
    )


def studied(taken: Sample, *sources: SourceSettings, **changed: Any) -> Attached:
    """The report of a sample, with a dry run."""
    plain = {"is_dry_run": True, "has_examples": True, **changed}
    with_ = Study(sources, 16_000_000, means(), source="kafka:9092", internal="own:9092", **plain)
    return asyncio.run(study(taken, with_))
