"""The page for producers: its program sends what we read, its collector configuration uses keys that exist."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar, Self

import pytest
import yaml

from schemas.labels import RiskTier
from streams.messages import Message
from streams.settings import Settings
from streams.settings.sections import Ingest
from streams.sources.native import decode_native
from tests.builders import NOW

PAGE = Path(__file__).parents[2] / "docs" / "attach-producers.md"

KAFKA_EXPORTER = {
    "brokers", "protocol_version", "client_id", "conn_idle_timeout", "topic_from_attribute", "include_metadata_keys",
    "record_headers", "partition_traces_by_id", "partition_metrics_by_resource_attributes",
    "partition_logs_by_resource_attributes", "partition_logs_by_trace_id", "timeout",
    *(f"{signal}.{key}" for signal in ("traces", "logs", "metrics")
      for key in ("topic", "encoding", "topic_from_metadata_key", "message_key_from_metadata_key")),
    *(f"producer.{key}" for key in ("max_message_bytes", "max_broker_write_bytes", "required_acks", "compression",
      "compression_params.level", "flush_max_messages", "allow_auto_topic_creation", "linger")),
}  # fmt: skip
"""Keys that exporter/kafkaexporter/README.md of open-telemetry/opentelemetry-collector-contrib documents.

As of commit 000d4c7c4b7769e2d7d1b00ee41d5868add14e06; of its nested parts those that this page could come to use.
"""
BATCH_PROCESSOR = {"timeout", "send_batch_size", "send_batch_max_size", "metadata_keys", "metadata_cardinality_limit"}
"""Keys of processor/batchprocessor/README.md of open-telemetry/opentelemetry-collector."""
ENCODINGS = {"otlp_proto", "otlp_json", "jaeger_proto", "jaeger_json", "zipkin_proto", "zipkin_json"}


def blocks(language: str) -> list[str]:
    """The code blocks of the page in one language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def paths(tree: dict[str, Any], above: str = "") -> Iterator[str]:
    """Dotted names of all leaves."""
    for name, value in tree.items():
        if isinstance(value, dict):
            yield from paths(value, f"{above}{name}.")
        else:
            yield f"{above}{name}"


def collector() -> dict[str, Any]:
    """The configuration of the collector."""
    found: dict[str, Any] = yaml.safe_load(blocks("yaml")[0])
    return found


class FakeProducer:
    """What the program needs of a producer; keeps what was sent."""

    options: ClassVar[dict[str, Any]] = {}
    sent: ClassVar[list[tuple[str, bytes, bytes]]] = []

    def __init__(self, **options: Any) -> None:
        self.options.update(options)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        """Nothing to close."""

    async def send_and_wait(self, topic: str, value: bytes, key: bytes) -> None:
        """Keep the message."""
        self.sent.append((topic, value, key))


def test_the_program_sends_a_trace_that_is_read_as_it_was_meant(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run as it stands on the page, but for the producer."""
    (program,) = blocks("python")
    monkeypatch.setattr("aiokafka.AIOKafkaProducer", FakeProducer)
    exec(compile(program, str(PAGE), "exec"), {})  # noqa: S102  the page is ours
    ((topic, value, key),) = FakeProducer.sent
    trace = decode_native(Message(topic, 0, 0, key, value, (), NOW.replace(year=2100)))
    assert ("rag-answers", key.decode()) == (topic, trace.trace_id)
    assert ("returns", RiskTier.MEDIUM, "p-14") == (trace.intent, trace.tier, trace.versions.prompt)
    assert ("Within 30 days of delivery [1].", ()) == (trace.answer, trace.flags)
    assert ["returns"] == [passage.doc_id for passage in trace.passages or ()]
    assert Ingest().max_message_bytes == FakeProducer.options["max_request_size"]
    assert len(program.splitlines()) <= 25


def test_the_exporter_is_configured_with_documented_keys() -> None:
    """A misspelt or removed key would stop the collector at its start."""
    kafka = collector()["exporters"]["kafka"]
    assert set(paths(kafka)) - KAFKA_EXPORTER == set()
    assert {kafka["traces"]["encoding"], kafka["logs"]["encoding"]} - ENCODINGS == set()
    assert kafka["partition_traces_by_id"] is True
    assert Ingest().max_message_bytes == kafka["producer"]["max_message_bytes"]
    assert set(collector()["processors"]["batch"]) - BATCH_PROCESSOR == set()


def test_every_part_of_a_pipeline_is_configured() -> None:
    """And nothing is configured that no pipeline uses."""
    whole = collector()
    for kind in ("receivers", "processors", "exporters"):
        used = {name for pipeline in whole["service"]["pipelines"].values() for name in pipeline[kind]}
        assert whole[kind].keys() == used


def test_our_settings_read_the_topics_that_the_collector_fills() -> None:
    """The second block is a part of groundwatch.yaml."""
    ours = Settings.model_validate(yaml.safe_load(blocks("yaml")[1]))
    kafka = collector()["exporters"]["kafka"]
    assert (kafka["traces"]["topic"], kafka["logs"]["topic"]) == tuple(ours.kafka.source.topics)
