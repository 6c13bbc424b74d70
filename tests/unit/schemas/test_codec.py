"""The edge of the codec: headers, faults, and what is frozen."""

import pytest
from pydantic import ValidationError

from schemas.codec import decode, encode, schema_header
from schemas.errors import InvalidMessage
from schemas.trace import Trace
from tests.builders import trace


def test_header_names_model_and_version() -> None:
    """A reader can tell what a message is without parsing it."""
    assert ("gw-schema", b"Trace/1") == schema_header(Trace)


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
    """A version that this reader would misread is said, not guessed; a missing header is taken as ours."""
    value = encode(trace())
    assert trace() == decode(Trace, value, b"Trace/1") == decode(Trace, value)
    for other in (b"Trace/2", b"Verdict/1", b"\xff"):
        with pytest.raises(InvalidMessage, match="same version on both sides") as caught:
            decode(Trace, value, other)
        assert "unknown_schema" == caught.value.reason
