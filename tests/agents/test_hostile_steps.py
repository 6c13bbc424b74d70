"""What strangers' messages do to the steps: each is accounted for, and none comes back for ever."""

from datetime import UTC, datetime, timedelta

import pytest

from schemas.codec import decode
from schemas.draw import DrawnTrace
from schemas.errors import RowRejected
from schemas.labels import Outcome
from streams.agents.deadletter import PREFIX_BYTES
from streams.broker.topics import DEADLETTER, DRAWN, VERDICTS
from streams.store import ALL_TENANTS
from tests.agents.flow import Flow, native
from tests.builders import NOW


def reasons(flow: Flow) -> list[str]:
    """Why each dead letter is one, in order."""
    return [dict(letter.headers)["gw-reason"].decode() for letter in flow.publisher.sent[DEADLETTER]]


async def test_a_message_over_the_limit_is_not_even_parsed() -> None:
    """It keeps prefix, length, hash and position; the good one beside it is stored."""
    flow = Flow()
    value = native("large", answer="x" * 16_000_001)
    await flow.ingest.handle([flow.message(value), flow.message(native("t-1"))])
    (letter,) = flow.publisher.sent[DEADLETTER]
    headers = dict(letter.headers)
    assert (["too_large"], 1) == (reasons(flow), flow.store.counts().traces)
    assert (value[:PREFIX_BYTES], str(len(value)).encode()) == (letter.value, headers["gw-length"])
    assert (b"traces", b"0", b"1") == (headers["gw-topic"], headers["gw-partition"], headers["gw-offset"])


@pytest.mark.parametrize("limit", [20_000, 9_000, 1_500])
async def test_what_the_broker_refuses_is_sent_in_a_shorter_form(limit: int) -> None:
    """Drawn equals judged, errors and unresolved, also where a limit of the broker is too low."""
    flow = Flow()
    flow.publisher.max_value_bytes = limit
    words = " ".join(f"word{n} is within 30 days of delivery." for n in range(150))
    await flow.ingest.handle([flow.message(native("t-1", answer=words)), flow.message(native("t-2"))])
    sent = [decode(DrawnTrace, message.value).trace.trace_id for message in flow.publisher.sent[DRAWN]]
    await flow.verify_and_sink()
    counts = flow.store.counts()
    assert (["t-1", "t-2"], 2, 2) == (sent, counts.drawn, counts.verdicts)
    stored = flow.store.trace("t-1", tenants=ALL_TENANTS)
    assert stored is not None
    assert words == stored.drawn.trace.answer
    assert (limit < 9_000) == (stored.verdicts[0].outcome is Outcome.UNRESOLVED_TRUNCATED)


async def test_a_letter_that_the_broker_refuses_is_cut() -> None:
    """Original bytes are kept where they can be, and a part of them in any case."""
    flow = Flow()
    flow.publisher.max_value_bytes = 2_000
    await flow.ingest.handle([flow.message(b"x" * 100_000), flow.message(b"junk")])
    assert [1_024, 4] == [len(letter.value or b"") for letter in flow.publisher.sent[DEADLETTER]]


async def test_a_broker_that_takes_nothing_is_an_error() -> None:
    """Then the limit is a mistake that only a person can mend, and the offset does not move."""
    flow = Flow()
    flow.publisher.max_value_bytes = 10
    with pytest.raises(RowRejected):
        await flow.ingest.handle([flow.message(native("t-1"))])


async def test_two_wrong_clocks_do_not_hold_up_the_stream() -> None:
    """No policy covers the year 2099, and waiting for it would stop everything behind the message."""
    flow = Flow()
    later = NOW + timedelta(days=25_000)
    ahead = flow.message(native("ahead", ts=later.isoformat()), recorded_at=later)
    await flow.ingest.handle([ahead, flow.message(native("t-1"))])
    assert (["clock_ahead"], 1) == (reasons(flow), flow.store.counts().traces)


@pytest.mark.parametrize("year", [1, 1899, 1970, 1999, 2015])
async def test_a_time_before_retention_is_counted_and_never_reaches_the_traces(year: int) -> None:
    """The store refuses a whole batch for one such row."""
    flow = Flow()
    await flow.ingest.handle([flow.message(native("old", ts=f"{year:04}-01-01T00:00:00Z"))])
    assert (0, 1, []) == (flow.store.counts().traces, sum(flow.store.expired().values()), reasons(flow))


@pytest.mark.parametrize("year", [2100, 2299, 9999])
async def test_a_time_far_ahead_is_the_record_time(year: int) -> None:
    """So it never reaches the store's upper bound either."""
    flow = Flow()
    await flow.ingest.handle([flow.message(native("ahead", ts=f"{year}-12-31T00:00:00Z"))])
    found = flow.store.trace("ahead", tenants=ALL_TENANTS)
    assert found is not None
    assert (NOW, ("clock_ahead",)) == (found.drawn.trace.ts, found.drawn.trace.flags)


async def test_a_message_without_a_record_time_is_a_trace_like_any_other() -> None:
    """Producers may leave it out."""
    flow = Flow()
    await flow.ingest.handle([flow.message(native("t-1"), recorded_at=datetime(1970, 1, 1, tzinfo=UTC))])
    assert 1 == flow.store.counts().traces


async def test_the_same_id_with_other_content_is_a_dead_letter_in_one_batch_and_later() -> None:
    """The first stays."""
    flow = Flow()
    first, second = native("t-1"), native("t-1", answer="Something else.")
    await flow.ingest.handle([flow.message(first), flow.message(second), flow.message(first)])
    await flow.ingest.handle([flow.message(second)])
    assert (["duplicate_id"] * 2, 1) == (reasons(flow), flow.store.counts().traces)
    assert [second] * 2 == [letter.value for letter in flow.publisher.sent[DEADLETTER]]


async def test_a_verdict_too_large_for_the_broker_keeps_its_outcome() -> None:
    """What it concluded counts in the rates; which words it rests on can be worked out again."""
    flow = Flow()
    words = " ".join(f"word{n} is within 30 days of delivery." for n in range(150))
    await flow.ingest.handle([flow.message(native("t-1", answer=words))])
    flow.publisher.max_value_bytes = 3_000
    await flow.verify_and_sink()
    (verdict,) = flow.store.trace("t-1", tenants=ALL_TENANTS).verdicts  # type: ignore[union-attr]
    assert (Outcome.HALLUCINATED, ()) == (verdict.outcome, verdict.claims)
    assert 1 == len(flow.publisher.sent[VERDICTS])
