"""Records go through bytes unharmed, whatever they hold, and newer writers do not break older readers."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from schemas.codec import decode, encode
from schemas.draw import Draw
from schemas.errors import InvalidMessage
from schemas.labels import RiskTier
from schemas.tally import BUCKET, bucket_start
from schemas.trace import Passage, Trace, Versions, passage_hash
from tests.builders import drawn_trace, trace

TEXTS = st.text(max_size=60)
MOMENTS = st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1), timezones=st.timezones())  # noqa: DTZ001  the strategy adds the zone
PASSAGES = st.builds(
    Passage,
    doc_id=TEXTS,
    text=TEXTS,
    score=st.none() | st.floats(-10, 10),
    rank=st.integers(0, 99),
    cited=st.none() | st.booleans(),
)
TRACES = st.builds(
    Trace,
    trace_id=st.text(min_size=1, max_size=64),
    ts=MOMENTS,
    question=TEXTS,
    answer=st.none() | TEXTS,
    passages=st.none() | st.lists(PASSAGES, max_size=4).map(tuple),
    intent=TEXTS,
    tier=st.sampled_from(RiskTier),
    versions=st.builds(Versions, model=TEXTS, corpus=TEXTS),
    token_logprobs=st.lists(st.floats(-50, 0), max_size=4).map(tuple),
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


@given(TRACES)
def test_trace_survives_the_codec(original: Trace) -> None:
    """What a producer sent is what a worker reads; None and empty stay apart."""
    assert original == decode(Trace, encode(original))


@given(TRACES)
def test_moments_are_utc_after_decoding(original: Trace) -> None:
    """Whatever zone the producer lives in."""
    assert UTC == decode(Trace, encode(original)).ts.tzinfo


@given(st.dictionaries(TEXTS.filter(lambda name: name not in Trace.model_fields), JSON, max_size=4))
def test_unknown_fields_are_ignored(extra: dict[str, object]) -> None:
    """A newer writer may add fields."""
    fields = {**extra, **trace().model_dump(mode="json")}
    assert trace() == decode(Trace, json.dumps(fields).encode())


@given(st.binary(max_size=200) | JSON.map(lambda value: json.dumps(value).encode()))
def test_any_other_bytes_are_an_invalid_message(value: bytes) -> None:
    """Never another exception: it would end an agent."""
    with pytest.raises(InvalidMessage) as caught:
        decode(Trace, value)
    assert caught.value.reason in {"not_json", "wrong_type", "missing_field"}


@given(st.text(min_size=1, max_size=20))
def test_message_of_a_fault_never_repeats_the_input(secret: str) -> None:
    """What a user wrote stays out of logs and metric labels."""
    marked = f"«{secret}»"
    fields = {**trace().model_dump(mode="json"), "passages": marked, "ts": marked}
    with pytest.raises(InvalidMessage) as caught:
        decode(Trace, json.dumps(fields).encode())
    assert "«" not in str(caught.value)


@given(MOMENTS)
def test_bucket_holds_its_moment(moment: datetime) -> None:
    """A bucket starts at or before it, less than five minutes earlier, on a five-minute mark."""
    utc = moment.astimezone(UTC)
    start = bucket_start(utc)
    assert start <= utc < start + BUCKET
    assert (0, 0, 0) == (start.minute % 5, start.second, start.microsecond)


@given(st.floats(0, 1, exclude_max=True), st.floats(0, 1, exclude_min=True))
def test_nested_subsample_lies_within_the_drawn_ones(u: float, smallest: float) -> None:
    """Nothing undrawn is ever counted in the tests."""
    draw = Draw(stratum="rest", u=u, inclusion_probability=1.0, min_probability=smallest, policy_id="p", drawn=True)
    assert draw.is_nested == (u < smallest)


@pytest.mark.parametrize("probability", [0.0, -0.1, 1.1, float("nan"), float("inf")])
def test_probability_outside_its_range_is_refused(probability: float) -> None:
    """π = 0 would make a design weight infinite."""
    fields = drawn_trace().draw.model_dump() | {"inclusion_probability": probability}
    with pytest.raises(ValidationError):
        Draw(**fields)


@given(st.text(st.characters(), max_size=40))
def test_passage_hash_is_defined_for_any_text(text: str) -> None:
    """Lone surrogates included."""
    assert 32 == len(passage_hash(text))
