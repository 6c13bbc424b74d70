"""The edge of the codec: headers, faults, and what is frozen."""

import pytest
from pydantic import ValidationError

from schemas import codec
from schemas.codec import decode, encode, schema_header
from schemas.errors import InvalidMessage, SchemaTooNew
from schemas.trace import Trace
from tests.builders import trace


def test_header_names_model_and_version() -> None:
    """A reader can tell what a message is without parsing it."""
    assert ("gw-schema", b"Trace/1.0") == schema_header(Trace)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (None, "tombstone"),
        (b"", "not_json"),
        (b"{", "not_json"),
        (b"\x00\x00\x00\x01{}", "not_json"),
        (b"[]", "wrong_type"),
        (b"{}", "missing_field"),
        (b'{"trace_id": "t", "ts": "2026-03-10T12:00:00"}', "wrong_type"),
        (b'{"trace_id": "", "ts": "2026-03-10T12:00:00Z"}', "wrong_type"),
        (b'{"trace_id": "t", "ts": "2026-03-10T12:00:00Z", "tier": "extreme"}', "wrong_type"),
    ],
)
def test_faults_have_constant_reasons(value: bytes | None, reason: str) -> None:
    """Fit for a metric label."""
    with pytest.raises(InvalidMessage) as caught:
        decode(Trace, value)
    assert reason == caught.value.reason


def test_fault_names_its_field() -> None:
    """Down to the position in a list."""
    value = b'{"trace_id": "t", "ts": "2026-03-10T12:00:00Z", "passages": [{"text": "a"}, {"text": 5}]}'
    with pytest.raises(InvalidMessage, match=r"passages\.1\.text"):
        decode(Trace, value)


def test_no_passages_and_unknown_passages_stay_apart() -> None:
    """Retrieval that found nothing is not the same as a trace that does not say."""
    assert decode(Trace, encode(trace(passages=()))).passages == ()
    assert decode(Trace, encode(trace(passages=None))).passages is None


def test_records_are_frozen() -> None:
    """Steps share them without copying."""
    with pytest.raises(ValidationError, match="frozen"):
        trace().answer = "other"  # type: ignore[misc]  # that is the point


def test_a_message_of_another_schema_is_refused() -> None:
    """What was never ours is said, not guessed; a missing header is taken as ours."""
    value = encode(trace())
    assert trace() == decode(Trace, value, b"Trace/1.0") == decode(Trace, value, b"Trace/1") == decode(Trace, value)
    for other in (b"Trace/0.9", b"Verdict/1.0", b"\xff", b"Trace/1.0 ", b"Trace/1.0\n"):
        with pytest.raises(InvalidMessage, match="unknown_schema: header gw-schema") as caught:
            decode(Trace, value, other)
        assert "Trace/1.0" == caught.value.decoder


def test_a_newer_writer_may_add_fields() -> None:
    """A rolling upgrade mixes both: what the older reader does not know, it passes over."""
    value = encode(trace())[:-1] + b',"added_later":{"a":1}}'
    assert trace() == decode(Trace, value, b"Trace/1.7")


@pytest.mark.parametrize("schema", [b"Trace/2.0", b"Trace/3.1"])
def test_what_an_older_reader_would_misread_waits(schema: bytes) -> None:
    """Not even a look at the value: the upgraded worker reads it."""
    with pytest.raises(SchemaTooNew, match="upgrade this worker"):
        decode(Trace, b"{}", schema)


def test_what_a_newer_writer_wrote_and_nobody_here_can_read_waits_too() -> None:
    """A word that was added by mistake in a minor version costs time, not messages; from our own version it is junk."""
    value = encode(trace()).replace(b'"tier":"medium"', b'"tier":"extreme"')
    assert b"extreme" in value
    with pytest.raises(SchemaTooNew):
        decode(Trace, value, b"Trace/1.1")
    with pytest.raises(InvalidMessage, match="wrong_type: tier"):
        decode(Trace, value, b"Trace/1.0")


def test_an_older_writer_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """After an upgrade the topics still hold what older workers left there, of the major version before as well."""
    value = encode(trace())
    monkeypatch.setattr(codec, "VERSION", codec.Version(2, 3))
    assert trace() == decode(Trace, value, b"Trace/1.0") == decode(Trace, value, b"Trace/2.0")
