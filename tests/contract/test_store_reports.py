"""What stores say of themselves and of single traces: memory, embedded engine and a server over HTTP alike."""

from datetime import datetime, timedelta
from typing import Any

from sampling.draw import u_of
from sampling.policy_log import heartbeat
from schemas.labels import FailureLabel, Outcome, RiskTier
from schemas.policy import Sampling
from schemas.verdict import Verdict
from streams.store import ALL_TENANTS, CheckName, CheckResult, ListFilter, Store, TraceHead, Verification
from tests.builders import NOW, draw, drawn_trace, passage, policy, policy_record, trace, verdict
from tests.fakes_store import MemoryStore

Subject = MemoryStore | Store
SALT = b"a salt for tests that is long enough"
HOUR = timedelta(hours=1)


def results(store: Subject, **fields: Any) -> dict[CheckName, CheckResult]:
    """The results of a verification a day later."""
    wanted = Verification(**{"now": NOW + timedelta(days=1), "second_look_seconds": 0.0, **fields})
    return {step.name: step for step in store.verify(wanted) if isinstance(step, CheckResult)}


def faults(store: Subject, **fields: Any) -> dict[CheckName, tuple[str, ...]]:
    """The examples of every check that found faults."""
    found = results(store, **fields)
    assert list(CheckName) == list(found)
    return {name: result.examples for name, result in found.items() if result.faults}


def judged(trace_id: str, ts: datetime) -> Verdict:
    """A verdict given right after its answer."""
    return verdict(trace_id, ts=ts, verified_at=ts)


def sound(store: Subject) -> None:
    """Two hours of drawn, judged traces as a deployment leaves them, under one policy."""
    document = policy(sampling=Sampling(default_probability=0.4))
    store.insert_policy([policy_record("p-1", document=document), heartbeat(NOW + HOUR * 24)])
    rows = []
    for number in range(24):
        trace_id = f"t-{number}"
        u = u_of(trace_id, SALT)
        made = draw(u=u, inclusion_probability=0.4, min_probability=0.4, policy_id="p-1", drawn=u < 0.4)
        rows.append(drawn_trace(trace_id, ts=NOW + timedelta(minutes=5 * number), draw=made))
    store.insert_heads(
        [
            TraceHead(
                trace_id=row.trace.trace_id, ts=row.trace.ts, content_hash="h", stratum="rest",
                inclusion_probability=0.4, policy_id="p-1",
            )
            for row in rows
        ]
    )  # fmt: skip
    store.insert_traces(rows)
    verdicts = [judged(row.trace.trace_id, row.trace.ts) for row in rows if row.draw.drawn]
    verdicts[0] = verdicts[0].model_copy(update={"outcome": Outcome.ERROR_MODEL, "score": None, "claims": ()})
    store.insert_verdicts(verdicts)
    store.rebuild_tallies(NOW)


def test_a_sound_store_has_no_faults(store: Subject) -> None:
    """Every check looked at something, where there is something."""
    sound(store)
    found = results(store, salt=SALT)
    assert {} == faults(store, salt=SALT)
    drawn = sum(u_of(f"t-{number}", SALT) < 0.4 for number in range(24))
    assert (24, drawn, 24) == tuple(
        found[name].checked for name in (CheckName.DUPLICATES, CheckName.DRAWS_JUDGED, CheckName.DRAWS_AGREE)
    )


def test_an_empty_store_has_no_faults(store: Subject) -> None:
    """Nothing is wrong with nothing."""
    assert {} == faults(store, salt=SALT)


def test_every_kind_of_fault_is_found_and_named(store: Subject) -> None:
    """A verdict without its trace, one on an undrawn trace, a lost trace, an id at two times, a trace of tomorrow."""
    sound(store)
    undrawn = next(f"t-{number}" for number in range(24) if u_of(f"t-{number}", SALT) >= 0.4)
    at = NOW + timedelta(minutes=5 * int(undrawn[2:]))
    u = u_of("t-late", SALT)
    late = draw(u=u, inclusion_probability=0.4, min_probability=0.4, policy_id="p-1", drawn=u < 0.4)
    again = draw(u=u_of("t-1", SALT), policy_id="p-9", drawn=u_of("t-1", SALT) < 0.2)
    store.insert_traces(
        [
            drawn_trace("t-late", ts=NOW + timedelta(days=2), draw=late),
            drawn_trace("t-1", ts=NOW + 3 * HOUR, draw=again),
        ]
    )
    store.insert_verdicts([judged("nowhere", NOW), judged(undrawn, at)])
    store.insert_heads(
        [TraceHead(trace_id="lost", ts=NOW, content_hash="h", stratum="rest", inclusion_probability=1, policy_id="p")]
    )
    found = faults(store)
    found.pop(CheckName.DRAWS_AGREE, None)
    assert {
        CheckName.TIMES: ("t-late",),
        CheckName.DUPLICATES: ("t-1",),
        CheckName.VERDICTS_TRACED: ("nowhere",),
        CheckName.VERDICTS_DRAWN: (undrawn,),
        CheckName.HEADS_TRACED: ("lost",),
        CheckName.POLICIES_KNOWN: ("p-9 (1 traces)",),
    } == found


def test_a_draw_that_another_salt_or_hand_made_is_found(store: Subject) -> None:
    """What was drawn has u < π, and u must be that of the id."""
    sound(store)
    assert CheckName.DRAWS_AGREE not in faults(store)
    assert 24 == results(store, salt=b"another salt")[CheckName.DRAWS_AGREE].faults
    store.insert_traces([drawn_trace("t-x", draw=draw(u=0.9, inclusion_probability=0.4, policy_id="p-1"))])
    assert ["t-x"] == [text.split(":")[0] for text in faults(store)[CheckName.DRAWS_AGREE]]


def test_hours_can_be_counted_again(store: Subject) -> None:
    """Whole hours that touch the range; only buckets in which there is something."""
    store.insert_traces([drawn_trace(f"t-{n}", ts=NOW + timedelta(minutes=20 * n)) for n in range(9)])
    store.rebuild_tallies(NOW)
    assert 3 == store.mark_for_rebuild(NOW + timedelta(minutes=30), NOW + timedelta(minutes=31))
    assert 6 == store.mark_for_rebuild(NOW, NOW + 2 * HOUR)
    assert 0 == store.mark_for_rebuild(NOW - 2 * HOUR, NOW - HOUR)
    assert 0 == store.rebuild_tallies(NOW).cells


def test_traces_are_listed_newest_first_by_what_they_are(store: Subject) -> None:
    """Filters by intent, tier, outcome of the newest verdict, failure and time."""
    store.insert_traces([drawn_trace(f"t-{n}", ts=NOW - n * HOUR) for n in range(5)])
    store.insert_traces([drawn_trace("o", trace=trace("o", intent="billing", tier=RiskTier.HIGH, question="é" * 300))])
    store.insert_verdicts(
        [
            verdict("t-1", Outcome.HALLUCINATED, ts=NOW - HOUR, failures=(FailureLabel.STALE_SOURCE,)),
            verdict("t-1", ts=NOW - HOUR, fingerprint="newer", verified_at=NOW + HOUR),
            verdict("t-2", Outcome.HALLUCINATED, ts=NOW - 2 * HOUR, failures=(FailureLabel.STALE_SOURCE,)),
        ]
    )

    def ids(**wanted: Any) -> list[str]:
        return [row.trace_id for row in store.list_traces(ListFilter(**wanted), tenants=ALL_TENANTS)]

    assert ["o", "t-0", "t-1", "t-2", "t-3", "t-4"] == ids()
    assert ["o", "t-0"] == ids(limit=2)
    assert ["o"] == ids(intent="billing")
    assert ["o"] == ids(tier=RiskTier.HIGH)
    assert ["t-2"] == ids(outcome=Outcome.HALLUCINATED)
    assert ["t-2"] == ids(failure=FailureLabel.STALE_SOURCE)
    assert ["t-1", "t-2"] == ids(since=NOW - 2 * HOUR, until=NOW)
    first, *_ = store.list_traces(ListFilter(limit=1), tenants=ALL_TENANTS)
    assert ("é" * 200, None, True) == (first.question, first.outcome, first.is_drawn)


def test_a_trace_is_found_by_the_beginning_of_its_id(store: Subject) -> None:
    """An exact id wins over longer ones; several candidates are named; nothing matches nothing."""
    store.insert_traces([drawn_trace(f"t-{n}", ts=NOW - n * HOUR) for n in (1, 10, 2)])
    exact = store.find_trace("t-1", tenants=ALL_TENANTS)
    assert exact.trace is not None
    assert "t-1" == exact.trace.drawn.trace.trace_id
    only = store.find_trace("t-10", tenants=ALL_TENANTS).trace
    assert only == store.find_trace("t-1" + "0", tenants=ALL_TENANTS).trace
    open_ = store.find_trace("t", tenants=ALL_TENANTS)
    assert (None, ("t-1", "t-2", "t-10")) == (open_.trace, open_.candidates)
    for text in ("", "x", "t%", "t-1' OR '1"):
        assert () == store.find_trace(text, tenants=ALL_TENANTS).candidates


def test_other_tenants_traces_are_neither_listed_nor_found(store: Subject) -> None:
    """Not even as a candidate."""
    store.insert_traces([drawn_trace("t-1"), drawn_trace("t-2", trace=trace("t-2", tenant="globex"))])
    globex = frozenset({"globex"})
    assert ["t-2"] == [row.trace_id for row in store.list_traces(ListFilter(), tenants=globex)]
    assert ("t-2",) == store.find_trace("t", tenants=globex).candidates
    assert () == store.find_trace("t-1", tenants=globex).candidates
    assert [] == store.list_traces(ListFilter(), tenants=frozenset())


def test_stats_count_traces_and_shared_passages(store: Subject) -> None:
    """Distinct traces, time covered, and how many passages needed no text of their own."""
    assert store.stats().deduplicated_share is None
    passages = (passage("One text."), passage("Another text."))
    rows = [drawn_trace(f"t-{n}", trace=trace(f"t-{n}", ts=NOW + n * HOUR * 24, passages=passages)) for n in range(3)]
    for _ in range(2):
        store.insert_traces(rows)
    found = store.stats()
    assert (3, 0, 6, 2, 2.0, 1.5) == (
        found.traces, found.verdicts, found.passages, found.passage_texts, found.days, found.traces_per_day,
    )  # fmt: skip
    assert 1 - 2 / 6 == found.deduplicated_share
    table = next(table for table in found.tables if table.name == "traces")
    assert (NOW, NOW + HOUR * 48) == (table.oldest, table.newest)
