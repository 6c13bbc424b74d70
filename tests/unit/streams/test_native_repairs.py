"""What is put right in a native message, what the trace says of it, and what is left to the dead letter."""

import json
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from schemas.errors import InvalidMessage
from schemas.trace import MAX_ITEMS
from streams.messages import Message
from streams.sources.checked import is_name
from streams.sources.native import decode_native
from tests.builders import NOW

PLAIN: dict[str, Any] = {"trace_id": "t-1", "ts": NOW.isoformat(), "answer": "30 days [a]."}


def message(value: bytes, recorded_at: datetime = NOW) -> Message:
    """A message recorded at ``NOW``."""
    return Message("traces", 0, 7, None, value, (), recorded_at)


def encoded(**fields: Any) -> bytes:
    """A good trace with fields overridden."""
    return json.dumps({**PLAIN, **fields}).encode()


def written(field: str, text: str) -> bytes:
    """A trace in which ``field`` is spelled as ``text``, whatever JSON says of it."""
    rest = {name: value for name, value in PLAIN.items() if name != field}
    return f'{json.dumps(rest)[:-1]}, "{field}": {text}}}'.encode("utf-8", "surrogatepass")


def passage(**fields: str) -> bytes:
    """A trace with one passage whose fields are spelled as given."""
    inner = ", ".join(f'"{name}": {text}' for name, text in fields.items())
    return written("passages", f'[{{"text": "a", {inner}}}]')


@pytest.mark.parametrize(
    ("value", "flags", "field", "expected"),
    [
        (passage(score='"0.83"', rank='"3"'), ("text_as_number",), "score", 0.83),
        (passage(rank='"3"'), ("text_as_number",), "rank", 3),
        (passage(rank="3.0"), ("number_respelled",), "rank", 3),
        (passage(rank="-1"), ("number_dropped",), "rank", 0),
        (passage(rank="18446744073709551616"), ("number_dropped",), "rank", 0),
        (passage(score="NaN"), ("number_dropped",), "score", None),
        (passage(score="-Infinity"), ("number_dropped",), "score", None),
        (passage(score="1e999"), ("number_dropped",), "score", None),
        (passage(score='"nan"'), ("text_as_number", "number_dropped"), "score", None),
        (passage(score='""'), ("blank_as_missing",), "score", None),
        (passage(trust='" Trusted"'), ("word_respelled",), "trust", "trusted"),
        (passage(trust='""'), ("blank_as_missing",), "trust", "unknown"),
        (passage(archived='"TRUE"'), ("text_as_boolean",), "archived", True),
        (passage(archived="null"), ("null_as_missing",), "archived", False),
        (passage(cited='"no"'), ("text_as_boolean",), "cited", False),
        (passage(doc_id="17"), ("number_as_text",), "doc_id", "17"),
        (passage(updated_at='"2026-02-01"'), ("utc_assumed",), "updated_at", datetime(2026, 2, 1, tzinfo=UTC)),
        (passage(updated_at='"last week"'), ("time_dropped",), "updated_at", None),
        (passage(updated_at='"0001-01-01T00:00:00+14:00"'), ("time_dropped",), "updated_at", None),
        (passage(updated_at="1773144000"), ("epoch_time",), "updated_at", datetime(2026, 3, 10, 12, tzinfo=UTC)),
    ],
)
def test_a_passage_is_repaired_and_the_trace_says_how(
    value: bytes, flags: tuple[str, ...], field: str, expected: Any
) -> None:
    """One reading only, so it is taken, and the flag shows what the producer should mend."""
    trace = decode_native(message(value))
    assert trace.passages is not None
    assert (flags, expected) == (trace.flags, getattr(trace.passages[0], field))


@pytest.mark.parametrize(
    ("value", "flag", "field", "expected"),
    [
        (encoded(tier="HIGH"), "word_respelled", "tier", "high"),
        (encoded(tier=""), "blank_as_missing", "tier", "medium"),
        (encoded(question=None), "null_as_missing", "question", ""),
        (encoded(trace_id=17), "number_as_text", "trace_id", "17"),
        (written("token_logprobs", "[-0.1, NaN, -0.2]"), "number_dropped", "token_logprobs", ()),
        (written("token_logprobs", "[-0.1, null]"), "number_dropped", "token_logprobs", ()),
        (written("answer", r'"\ud83d and \ude00"'), "surrogate_replaced", "answer", "\ufffd and \ufffd"),
        (written("answer", '"\ud83d \ud83d\ude00"'), "surrogate_replaced", "answer", "\ufffd \U0001f600"),
        (written("trace_id", r'"a\udc00"'), "surrogate_replaced", "trace_id", "a\ufffd"),
        (b"\xef\xbb\xbf" + encoded(), "bom_removed", "trace_id", "t-1"),
        (encoded(intent="i" * 257), "name_dropped", "intent", "unmapped"),
        (encoded(intent="a\nb"), "name_dropped", "intent", "unmapped"),
        (encoded(intent="a\u202eb"), "name_dropped", "intent", "unmapped"),
        (encoded(intent=" "), "name_dropped", "intent", "unmapped"),
        (encoded(region="\x1b[31m"), "name_dropped", "region", ""),
        (encoded(flags=["mine", "x" * 65]), "flags_dropped", "answer", "30 days [a]."),
    ],
)
def test_a_trace_is_repaired_and_says_how(value: bytes, flag: str, field: str, expected: Any) -> None:
    """The rest of a trace with one odd field is worth keeping."""
    trace = decode_native(message(value))
    assert flag in trace.flags
    assert expected == getattr(trace, field)


@pytest.mark.parametrize("unit", [1, 1_000, 1_000_000, 1_000_000_000])
@pytest.mark.parametrize("spelled", ["{}", '"{}"'])
def test_a_number_of_seconds_or_smaller_units_is_a_time(unit: int, spelled: str) -> None:
    """The four readings never overlap between 2000 and 2100."""
    moment = NOW - timedelta(hours=1)
    assert moment == decode_native(message(written("ts", spelled.format(int(moment.timestamp()) * unit)))).ts


@pytest.mark.parametrize(
    ("value", "reason", "named"),
    [
        (encoded(ts="2026-03-10T12:00:00"), "wrong_type", "offset"),
        (encoded(ts=0), "wrong_type", "ts"),
        (encoded(ts=True), "wrong_type", "ts"),
        (written("ts", "NaN"), "wrong_type", "ts"),
        (encoded(ts="9999-12-31T23:59:59-12:00"), "wrong_type", "ts"),
        (encoded(ts="0001-01-01T00:00:00+14:00"), "wrong_type", "ts"),
        (encoded(ts=None), "missing_field", "ts"),
        (encoded(tier="urgent"), "wrong_type", "low, medium or high"),
        (encoded(answer=17), "wrong_type", "answer"),
        (passage(score="true"), "wrong_type", "score"),
        (passage(score='"0,83"'), "wrong_type", "score"),
        (passage(score='"1_0"'), "wrong_type", "score"),
        (passage(version="1.10"), "wrong_type", "version"),
        (encoded(tenant="t" * 257), "wrong_type", "tenant"),
        (encoded(trace_id="t" * 257), "wrong_type", "trace_id"),
        (encoded(passages=[{"text": ""}] * (MAX_ITEMS + 1)), "too_large", "passages"),
        (written("extra", "[" * 10_000 + "]" * 10_000), "too_deep", "recursion"),
        (written("extra", '{"a":' * 10_000 + "1" + "}" * 10_000), "too_deep", "recursion"),
        (written("answer", '"' + "\\ud83d" + '"')[:-1] + b', "x": ' + b"[" * 10_000, "too_deep", "levels"),
        (json.dumps(PLAIN).encode("utf-16"), "not_utf8", "UTF-16"),
        (json.dumps(PLAIN).encode("utf-16-le"), "not_json", "UTF-16"),
        (json.dumps(PLAIN).encode("utf-32"), "not_utf8", "UTF-32"),
        (b"\x1f\x8b\x08\x00", "not_utf8", "gzip"),
        (encoded(answer="X").replace(b"X", b"caf\xe9"), "not_utf8", "byte"),
        (encoded(answer="X").replace(b"X", b"\x00"), "not_json", "control"),
        (b"null", "wrong_type", "object"),
        (encoded() + encoded(), "not_json", "trailing"),
    ],
)
def test_what_has_two_readings_is_refused(value: bytes, reason: str, named: str) -> None:
    """A guess would put a wrong figure into a rate; the dead letter names the field."""
    with pytest.raises(InvalidMessage) as caught:
        decode_native(message(value))
    assert reason == caught.value.reason
    assert named in caught.value.detail


def test_producers_cannot_set_what_is_ours() -> None:
    """Position, decoder and revision decide what replaces what in the store."""
    trace = decode_native(message(encoded(revision=7, late_spans=9, decoder="x", close_reason="y")))
    assert (1, 0, "native_json", "whole") == (trace.revision, trace.late_spans, trace.decoder, trace.close_reason)


def test_a_missing_record_time_makes_no_clock_wrong() -> None:
    """Producers may send none; then there is nothing to compare with, and the event time is kept."""
    trace = decode_native(message(encoded(), datetime(1970, 1, 1, tzinfo=UTC)))
    assert (NOW, ()) == (trace.ts, trace.flags)


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(b'{"a":"' + b"x" * 16_000_000, id="cut off"),
        pytest.param(written("passages", "[" + ",".join(["{}"] * 5_000_000) + "]"), id="five million wrong passages"),
        pytest.param(written("token_logprobs", "[" + ",".join(['"x"'] * 3_000_000) + "]"), id="wrong numbers"),
        pytest.param(written("extra", "[" + "[]," * 5_000_000 + "[]]"), id="five million lists"),
        pytest.param(written("answer", '"' + "x" * 16_000_000 + '\\ud83d"'), id="a surrogate at the end"),
        pytest.param(b"[" * 16_000_000, id="nesting"),
    ],
)
def test_sixteen_megabytes_of_anything_are_decided(value: bytes) -> None:
    """The time limit of the test run is the check: an error report for every item would take minutes."""
    with suppress(InvalidMessage):
        assert decode_native(message(value)).trace_id


def test_a_name_may_be_of_any_script() -> None:
    """Joiners and wide spaces are part of ordinary names."""
    assert is_name("\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 \u8fd4\u54c1\u3000")
    assert not is_name("a\x85b")
