"""One extraction contract through the one door: whatever the format, the same request gives the same trace."""

import gzip

import cramjam
import pytest

from schemas.labels import RiskTier
from tests.source_messages import FOLDER, decode, document, fixture, trace_of

QUESTION = "Does standard parcel insurance cover a camera worth 700 euros?"
ANSWER = "Yes, standard insurance covers goods up to 750 euros [1]."
TEXT = "Standard parcel insurance covers goods up to a value of 500 euros."
INTENT = ("shipping.insurance", RiskTier.HIGH)
NOT_CARRIED = ("unmapped", RiskTier.MEDIUM)
FIXTURES = sorted(path.name for path in FOLDER.iterdir())
WITHOUT_CONTENT = "otlp_genai_1_37_spans_without_content.json"
WITHOUT_INTENT = {name for name in FIXTURES if name.startswith("otlp_genai_1_3")} | {
    "otlp_genai_content_events.json",
    "otlp_mlflow.json",
}
WITHOUT_CONVERSATION = {
    "otlp_genai_1_36_events.json", "otlp_genai_1_36_logs.json", "otlp_genai_content_events.json",
}  # fmt: skip


@pytest.mark.parametrize("name", [name for name in FIXTURES if name != WITHOUT_CONTENT])
def test_every_format_gives_the_same_trace(name: str) -> None:
    """Question, answer, contexts, conversation, intent and tier, where the format carries them."""
    trace = trace_of(*fixture(name))
    assert (QUESTION, ANSWER) == (trace.question, trace.answer)
    assert [TEXT] == [passage.text for passage in trace.passages or ()]
    assert ("" if name in WITHOUT_CONVERSATION else "chat-31") == trace.conversation_id
    assert (NOT_CARRIED if name in WITHOUT_INTENT else INTENT) == (trace.intent, trace.tier)


@pytest.mark.parametrize("name", FIXTURES)
def test_values_that_a_producer_compressed_are_read(name: str) -> None:
    """As if they were not."""
    packed = [gzip.compress(value) for value in fixture(name)]
    assert trace_of(*fixture(name)) == trace_of(*packed)


def test_a_frame_that_holds_a_value_uncompressed_is_unpacked() -> None:
    """Short values do not pack, so that the frame ends with the value itself."""
    value = b'{"trace_id": "1", "ts": "2026-05-14T08:00:00Z"}'
    framed = bytes(cramjam.zstd.compress(value))
    assert framed.endswith(value)
    assert "1" == trace_of(framed).trace_id


@pytest.mark.parametrize("name", FIXTURES)
def test_position_and_decoder_are_known(name: str) -> None:
    """A case must be found again on its topic."""
    trace = trace_of(*fixture(name))
    assert trace.source is not None
    assert ("traces", 0, 0) == (trace.source.topic, trace.source.partition, trace.source.offset)
    assert trace.decoder


def test_logs_and_spans_of_two_topics_make_one_trace() -> None:
    """Content in log records, the rest in spans without content."""
    trace = trace_of(*fixture(WITHOUT_CONTENT), *fixture("otlp_genai_1_37_logs.json"))
    assert (QUESTION, ANSWER) == (trace.question, trace.answer)


def test_what_only_some_formats_carry_is_there() -> None:
    """User, release, model and what the user said of the answer."""
    trace = trace_of(*fixture("langfuse_batch.json"))
    assert ("u-204", "4.2.0", "model-s") == (trace.user_id, trace.versions.app, trace.versions.model)
    assert "thumbs=0 (wrong amount)" == trace.feedback
    assert document("langfuse_export.json")["release"] == trace.versions.app


def test_one_topic_may_hold_all_formats() -> None:
    """Each message is looked at, whatever came before it."""
    values = [value for name in FIXTURES if name != WITHOUT_CONTENT for value in fixture(name)]
    assert () == decode(*values).problems
