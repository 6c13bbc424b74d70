"""Whatever bytes a message holds: a trace that every later step can take, or a reason."""

import asyncio
from datetime import UTC, datetime

from hypothesis import example, given
from hypothesis import strategies as st

from schemas.codec import decode, encode
from schemas.draw import Draw, DrawnTrace, Screening
from schemas.errors import InvalidMessage
from schemas.trace import Trace
from streams.agents.deadletter import from_error, to_outgoing
from streams.messages import Message
from streams.sources.decode import SourceDecoder
from streams.sources.native import decode_native
from streams.store.trace_columns import TRACES, batch_of, trace_columns
from tests.builders import NOW
from tests.hostile import SEEDS, Fate, hostile_messages
from tests.hostile.fuzz import VALUES, fuzzed

REASONS = {"not_json", "not_utf8", "too_deep", "too_large", "wrong_type", "missing_field"}
DECODER = SourceDecoder.of((), max_message_bytes=16_000_000)
DRAW = Draw(stratum="rest", u=0.5, inclusion_probability=1, min_probability=1, policy_id="p", drawn=True)


def message(value: bytes | None, recorded_at: datetime = NOW) -> Message:
    """A message with these bytes."""
    return Message("traces", 0, 1, None, value, (), recorded_at)


def read(one: Message) -> Trace | InvalidMessage:
    """The trace, or why there is none."""
    try:
        return decode_native(one)
    except InvalidMessage as error:
        return error


def read_by_any_format(one: Message) -> Trace | InvalidMessage:
    """As `read`, by the door that source topics go through: none of these messages is of a foreign format."""
    found = asyncio.run(DECODER.decode(one))
    assert (1, ()) == (len(found.traces) + len(found.problems), found.spans)
    return found.traces[0] if found.traces else found.problems[0]


def is_takeable(trace: Trace) -> bool:
    """True when it crosses the broker unchanged and makes a row of the store whose texts can be encoded."""
    row = DrawnTrace(trace=trace, draw=DRAW, screening=Screening())
    columns = trace_columns(batch_of([row]))
    return row == decode(DrawnTrace, encode(row)) and [1] * len(TRACES.columns) == list(map(len, columns))


@given(VALUES, st.datetimes(timezones=st.just(UTC)))
@example(b'{"trace_id": "t", "ts": "0001-01-01T00:00:00+14:00"}', NOW)
@example(b'{"trace_id": "\\ud83d", "ts": "2026-03-10T12:00:00Z", "token_logprobs": [1e999]}', NOW)
@example(b'{"trace_id": "t", "ts": 1773144000, "passages": [{"text": "", "rank": 1e300}]}', NOW)
def test_every_message_is_a_trace_or_has_a_reason(value: bytes, recorded_at: datetime) -> None:
    """Nothing else leaves the decoder: any other error would end the process and come back after its restart."""
    one = message(value, recorded_at)
    found = read(one)
    if isinstance(found, Trace):
        assert is_takeable(found)
        assert found == read(one)
        return
    outgoing = to_outgoing(from_error(one, found, "ingest"), 10_000_000)
    assert (value, True, True) == (outgoing.value, found.reason in REASONS, len(found.detail) < 1_000)


def test_the_corpus_meets_its_fates_at_the_decoder() -> None:
    """Those of its kinds that decoding decides, for each of the kept seeds."""
    for seed in SEEDS:
        for one in hostile_messages(seed, 600, NOW, with_heavy=False):
            found = read_by_any_format(message(one.value, one.at or NOW))
            if isinstance(found, InvalidMessage):
                assert one.fate is Fate.EITHER or one.reason == found.reason, one.kind
                continue
            assert one.fate is not Fate.LETTER or one.reason in {"clock_ahead", "duplicate_id"}, one.kind
            assert not one.flag or one.flag in found.flags, one.kind
            assert is_takeable(found), one.kind


def test_a_seed_gives_the_same_corpus_again() -> None:
    """A run that failed can be repeated."""
    first, second = ([one.value for one in hostile_messages(SEEDS[0], 300, NOW)] for _ in range(2))
    assert first == second
    assert fuzzed(7, 20) == fuzzed(7, 20)
