"""One contract for the store in memory, the embedded engine and a server over HTTP."""

from datetime import UTC, datetime, timedelta

import pytest

from schemas.labels import AlertState, ClaimLabel, FailureLabel, Layer, Outcome, RiskTier
from schemas.layers import Consistency, LayerReason, LayerRun
from schemas.tally import BUCKET
from schemas.verdict import HopVerdict
from streams.store import (
    ALL_TENANTS,
    AlertAction,
    Deploy,
    ExpiredCount,
    FlaggedAnswer,
    Store,
    StoredSpan,
    Suspect,
    TraceHead,
    Watermark,
)
from tests.builders import (
    NOW,
    alert,
    claim_verdict,
    draw,
    drawn_trace,
    passage,
    policy_record,
    screening,
    trace,
    verdict,
    versions,
)
from tests.fakes_store import MemoryStore
from tests.spans import TRACE_ID, call, request
from tests.true_tallies import summed, true_tallies

Subject = MemoryStore | Store
NOBODY: frozenset[str] = frozenset()


def test_a_trace_reads_back_equal(store: Subject) -> None:
    """What was stored is what comes back, draw and screening included."""
    drawn = drawn_trace(screening=screening(failures=(FailureLabel.CITATION_MISSING,), took_ms=0.25))
    store.insert_traces([drawn])
    store.insert_verdicts([verdict()])
    found = store.trace("t-1", tenants=ALL_TENANTS)
    assert found is not None
    assert drawn == found.drawn
    assert [verdict()] == found.verdicts


def test_a_verdict_reads_back_with_its_routing_table(store: Subject) -> None:
    """What ran and why not, what it cost, whose word a label is; in the newest version of a redone verdict alone."""
    old = verdict(routing=(LayerRun(layer=Layer.L2, ran=True, why=LayerReason.ROUTED),))
    judged = claim_verdict(ClaimLabel.SUPPORTED, decided_by=Layer.L3, confidence=0.9, layers=(Layer.L1, Layer.L3))
    compared = Consistency(source="resampled", samples=5, votes=2, unstable_claims=(0,), is_flagged=True)
    routing = (
        LayerRun(layer=Layer.L0, ran=True, why=LayerReason.ALWAYS, claims=1, took_ms=0.25),
        LayerRun(layer=Layer.L2, ran=False, why=LayerReason.NOT_ROUTED),
        LayerRun(layer=Layer.L3, ran=True, why=LayerReason.SUSPECT, claims=1, calls=2, tokens_in=900, cost_usd=0.001),
        LayerRun(layer=Layer.L4, ran=True, why=LayerReason.ALWAYS, calls=4, cached=1, tokens_out=80),
    )
    new = verdict(
        claims=(judged,),
        routing=routing,
        consistency=compared,
        cost_usd=0.001,
        verified_at=old.verified_at + timedelta(seconds=5),
    )
    store.insert_traces([drawn_trace()])
    store.insert_verdicts([old])
    store.insert_verdicts([new])
    found = store.trace("t-1", tenants=ALL_TENANTS)
    assert found is not None
    assert [new] == found.verdicts


def test_a_verdict_reads_back_with_its_hops(store: Subject) -> None:
    """Those that were checked, how many were not, and which one brought a claim."""
    fine = HopVerdict(hop=0, name="lookup", outcome=Outcome.GROUNDED, claims=2, supported=2, derived=1)
    worse = HopVerdict(
        hop=2,
        outcome=Outcome.HALLUCINATED,
        claims=1,
        contradicted=1,
        left_out=3,
        worst_label=ClaimLabel.CONTRADICTED,
        worst="It costs 5 euros.",
        evidence_doc="tool:price",
        evidence="4 euros",
    )
    made = verdict(claims=(claim_verdict(hop=2),), hops=(fine, worse), hops_left_out=4)
    store.insert_traces([drawn_trace()])
    store.insert_verdicts([made])
    found = store.trace("t-1", tenants=ALL_TENANTS)
    assert found is not None
    assert [made] == found.verdicts


@pytest.mark.parametrize("passages", [None, (), (passage(cited=True), passage("Other text.", cited=None, rank=7))])
def test_missing_empty_and_present_passages_stay_apart(store: Subject, passages: object) -> None:
    """``None`` (retrieval not shown) and ``()`` (it gave nothing) are different facts."""
    drawn = drawn_trace(trace=trace(passages=passages, answer=None, packed_prompt=""), screening=screening(claims=()))
    store.insert_traces([drawn])
    found = store.trace("t-1", tenants=ALL_TENANTS, ts=NOW)
    assert found is not None
    assert drawn == found.drawn


def test_deliveries_may_be_repeated(store: Subject) -> None:
    """The same rows twice change no count."""
    for _ in range(2):
        store.insert_traces([drawn_trace("a"), drawn_trace("b")])
        store.insert_verdicts([verdict("a"), verdict("b", Outcome.HALLUCINATED)])
    counts = store.counts()
    assert (2, 2, 2) == (counts.traces, counts.drawn, counts.verdicts)
    assert {Outcome.GROUNDED: 1, Outcome.HALLUCINATED: 1} == counts.outcomes
    assert (NOW, NOW) == (counts.first_ts, counts.last_ts)


def test_an_empty_store_answers_every_read(store: Subject) -> None:
    """No read depends on there being a row."""
    day = timedelta(days=1)
    assert store.ping()
    assert store.trace("t-1", tenants=ALL_TENANTS) is None
    assert [] == store.flagged(tenants=ALL_TENANTS)
    assert [] == store.tallies(NOW - day, NOW + day)
    assert [] == store.draws_without_verdict(10)
    assert {} == store.heads(["t-1"])
    assert ([], 0) == store.changed_buckets(0)
    assert store.alert("a") is None
    assert store.counts().first_ts is None
    assert 0 == store.rebuild_tallies(NOW).cells


def test_empty_batches_are_nothing(store: Subject) -> None:
    """An empty batch is accepted by every write."""
    store.insert_traces([])
    store.insert_verdicts([])
    store.insert_heads([])
    store.insert_alerts([])
    store.insert_policy([])
    assert 0 == store.counts().traces


def test_a_newer_revision_replaces_an_older_one_in_any_order(store: Subject) -> None:
    """The largest revision wins, whatever arrives last."""
    newer = drawn_trace(trace=trace(revision=2, answer="Revised."))
    store.insert_traces([newer])
    store.insert_traces([drawn_trace()])
    found = store.trace("t-1", tenants=ALL_TENANTS)
    assert found is not None
    assert newer == found.drawn
    assert 1 == store.counts().traces


def test_a_verdict_on_an_older_revision_never_replaces_a_newer(store: Subject) -> None:
    """Revision counts before the time of verification."""
    newer = verdict(revision=2)
    older = verdict(outcome=Outcome.HALLUCINATED, verified_at=NOW + timedelta(hours=1))
    store.insert_traces([drawn_trace(trace=trace(revision=2))])
    store.insert_verdicts([newer])
    store.insert_verdicts([older])
    found = store.trace("t-1", tenants=ALL_TENANTS)
    assert found is not None
    assert [newer] == found.verdicts


def test_each_detector_keeps_its_own_verdict(store: Subject) -> None:
    """Verdicts of two fingerprints stand side by side, the newest first."""
    later = verdict(fingerprint="other", verified_at=NOW + timedelta(minutes=1))
    store.insert_traces([drawn_trace()])
    store.insert_verdicts([verdict(), later])
    found = store.trace("t-1", tenants=ALL_TENANTS)
    assert found is not None
    assert [later, verdict()] == found.verdicts


def test_a_reader_sees_only_the_own_tenants(store: Subject) -> None:
    """Neither by id nor in lists does a trace of another tenant appear."""
    store.insert_traces([drawn_trace("a"), drawn_trace("b", trace=trace("b", tenant="globex"))])
    store.insert_verdicts([verdict("a", Outcome.HALLUCINATED), verdict("b", Outcome.HALLUCINATED)])
    globex = frozenset({"globex"})
    assert store.trace("a", tenants=globex) is None
    assert store.trace("a", tenants=globex, ts=NOW) is None
    assert store.trace("a", tenants=NOBODY) is None
    assert ["b"] == [answer.trace.trace_id for answer in store.flagged(tenants=globex)]
    assert [] == store.flagged(tenants=NOBODY)
    assert ["a", "b"] == [answer.trace.trace_id for answer in store.flagged(tenants=ALL_TENANTS)]


def test_flagged_answers_come_newest_first_once_each(store: Subject) -> None:
    """Filters by intent, tier and time; a trace flagged by two detectors is one answer with the newest verdict."""
    rows = [drawn_trace(f"t-{n}", ts=NOW - timedelta(days=n)) for n in range(10)]
    other = drawn_trace("o", trace=trace("o", intent="billing", tier=RiskTier.HIGH))
    store.insert_traces([*rows, other])
    store.insert_verdicts([verdict(f"t-{n}", Outcome.HALLUCINATED, ts=NOW - timedelta(days=n)) for n in range(9)])
    shadow = verdict("t-2", Outcome.HALLUCINATED, ts=rows[2].trace.ts, fingerprint="z", verified_at=NOW + timedelta(1))
    store.insert_verdicts([shadow, verdict("t-9", ts=rows[9].trace.ts), verdict("o", Outcome.HALLUCINATED)])
    by_intent = store.flagged(tenants=ALL_TENANTS, intent="refunds")
    assert [f"t-{n}" for n in range(9)] == [answer.trace.trace_id for answer in by_intent]
    assert FlaggedAnswer(trace=rows[2].trace, draw=rows[2].draw, verdict=shadow) == by_intent[2]
    assert ["o"] == [answer.trace.trace_id for answer in store.flagged(tenants=ALL_TENANTS, tier=RiskTier.HIGH)]
    recent = store.flagged(
        tenants=ALL_TENANTS, intent="refunds", since=NOW - timedelta(days=3), until=NOW - timedelta(days=1)
    )
    assert ["t-2", "t-3"] == [answer.trace.trace_id for answer in recent]
    assert ["o", "t-0", "t-1"] == [answer.trace.trace_id for answer in store.flagged(tenants=ALL_TENANTS, limit=3)]


def test_draws_without_a_verdict_are_found_oldest_first(store: Subject) -> None:
    """Undrawn traces and judged ones are left out; a verdict on an older revision does not count."""
    rows = [drawn_trace(f"t-{n}", ts=NOW - timedelta(minutes=n)) for n in range(4)]
    revised = drawn_trace("r", trace=trace("r", revision=2))
    store.insert_traces([*rows, revised, drawn_trace("u", draw=draw(drawn=False, u=0.9))])
    store.insert_verdicts([verdict("t-1", ts=rows[1].trace.ts), verdict("r")])
    assert [rows[3], rows[2], revised, rows[0]] == store.draws_without_verdict(10)
    assert [rows[3]] == store.draws_without_verdict(1)


def test_tallies_equal_the_truth(store: Subject) -> None:
    """Traffic, drawn, judged, weights, nested counts, outcomes, claims, scores and pending of two detectors."""
    traces = [
        drawn_trace("a"),
        drawn_trace("b", draw=draw(u=0.15, min_probability=0.1)),
        drawn_trace("c", trace=trace("c", passages=()), screening=screening(is_empty_retrieval=True)),
        drawn_trace("d", screening=screening(failures=(FailureLabel.CITATION_UNKNOWN,))),
        drawn_trace("e", draw=draw(drawn=False, u=0.9)),
        drawn_trace("f", ts=NOW + timedelta(minutes=7)),
    ]
    verdicts = [
        verdict("a"),
        verdict("b", Outcome.HALLUCINATED, score=1.0),
        verdict("c", Outcome.ERROR_TIMEOUT),
        verdict("a", Outcome.ABSTAINED, fingerprint="shadow", failures=(FailureLabel.OVER_REFUSAL,)),
        verdict("e", Outcome.HALLUCINATED),
        verdict("nowhere", Outcome.HALLUCINATED),
    ]
    store.insert_verdicts(verdicts)
    store.insert_traces(traces)
    store.rebuild_tallies(NOW)
    assert true_tallies(traces, verdicts) == store.tallies(NOW, NOW + timedelta(hours=1))


def test_tallies_follow_what_changes_later(store: Subject) -> None:
    """A trace that moves to another intent and a redone verdict leave nothing behind."""
    store.insert_traces([drawn_trace()])
    store.insert_verdicts([verdict()])
    store.rebuild_tallies(NOW)
    moved = drawn_trace(trace=trace(intent="billing", revision=2))
    redone = verdict(outcome=Outcome.HALLUCINATED, revision=2, intent="billing")
    store.insert_traces([moved])
    store.insert_verdicts([redone])
    store.rebuild_tallies(NOW)
    assert true_tallies([moved], [redone]) == store.tallies(NOW, NOW + BUCKET)
    hour = timedelta(hours=1)
    assert summed(true_tallies([moved], [redone]), step=hour, by_policy=False) == store.tallies(
        NOW, NOW + hour, step=hour
    )


def test_tallies_sum_over_steps_and_versions(store: Subject) -> None:
    """A step below an hour keeps the policy, an hourly one drops it; versions merge when not asked for."""
    traces = [
        drawn_trace(
            f"t-{n}",
            trace=trace(f"t-{n}", ts=NOW + timedelta(minutes=7 * n), versions=versions(model=f"m-{n % 3}")),
            draw=draw(policy_id=f"p-{n % 2}"),
        )
        for n in range(12)
    ]
    verdicts = [verdict(f"t-{n}", ts=NOW + timedelta(minutes=7 * n)) for n in range(0, 12, 2)]
    store.insert_traces(traces)
    store.insert_verdicts(verdicts)
    store.rebuild_tallies(NOW)
    truth, until = true_tallies(traces, verdicts), NOW + timedelta(hours=3)
    quarter = timedelta(minutes=15)
    assert summed(truth, step=quarter) == store.tallies(NOW, until, step=quarter)
    assert summed(truth, step=quarter, by_version=False) == store.tallies(NOW, until, step=quarter, by_version=False)
    for step in (timedelta(hours=1), timedelta(days=1)):
        start = NOW - timedelta(hours=12)
        assert summed(truth, step=step, by_policy=False) == store.tallies(start, until, step=step)
        assert summed(truth, step=step, by_version=False) == store.tallies(start, until, step=step, by_version=False)


@pytest.mark.parametrize("step", [timedelta(0), timedelta(minutes=7), timedelta(seconds=30)])
def test_a_step_must_be_whole_buckets(store: Subject, step: timedelta) -> None:
    """A step that cuts buckets is refused."""
    with pytest.raises(ValueError, match="multiple"):
        store.tallies(NOW, NOW + timedelta(hours=1), step=step)


def test_only_buckets_whose_numbers_changed_are_reported(store: Subject) -> None:
    """A rebuild without news, or with a copy of what is there, changes no bucket."""
    later = NOW + timedelta(minutes=10)
    store.insert_traces([drawn_trace("a"), drawn_trace("b", ts=later)])
    store.rebuild_tallies(NOW)
    buckets, first = store.changed_buckets(0)
    assert [NOW, later] == buckets
    store.insert_traces([drawn_trace("a")])
    assert 0 == store.rebuild_tallies(NOW).cells
    buckets, second = store.changed_buckets(first)
    assert [] == buckets
    store.insert_verdicts([verdict("b", ts=later)])
    store.rebuild_tallies(NOW)
    buckets, third = store.changed_buckets(second)
    assert [later] == buckets
    assert first < third
    assert ([], third) == store.changed_buckets(third)


def test_heads_keep_the_largest_revision(store: Subject) -> None:
    """Late spans raise the revision; an older head arriving late changes nothing."""
    head = TraceHead(
        trace_id="t", ts=NOW, content_hash="h", stratum="rest", inclusion_probability=0.2, policy_id="p", revision=2
    )
    store.insert_heads([head])
    store.insert_heads([head.model_copy(update={"revision": 1, "content_hash": "old"})])
    assert {"t": head} == store.heads(["t", "missing"])


def test_watermarks_keep_the_newest_per_partition(store: Subject) -> None:
    """``at`` decides, also when it moves a watermark back."""
    first = Watermark(topic="rag", partition=0, event_time=NOW, at=NOW)
    back = Watermark(topic="rag", partition=0, event_time=NOW - BUCKET, is_idle=True, at=NOW + BUCKET)
    other = Watermark(topic="rag", partition=1, event_time=NOW, at=NOW)
    store.insert_watermarks([back, other])
    store.insert_watermarks([first])
    assert [back, other] == store.watermarks()


def test_the_policy_log_keeps_entries_and_the_newest_heartbeat(store: Subject) -> None:
    """Entries stay for ever in order; a redelivered one is one; of heartbeats only the furthest stays."""
    first, second = policy_record("p-1"), policy_record("p-2", published_at=NOW, effective_from=NOW + BUCKET * 2)
    beats = [policy_record("hb", published_at=NOW + BUCKET * n, complete_until=NOW + BUCKET * n) for n in (2, 3, 1)]
    store.insert_policy([second, first, first, beats[0]])
    store.insert_policy(beats[1:])
    assert [first, second, beats[1]] == store.policy_records()


def test_of_an_alert_the_last_state_counts(store: Subject) -> None:
    """Also when a corrected past moves it to an earlier bucket."""
    store.insert_alerts([alert(), alert("b", updated_at=NOW + BUCKET)])
    assert ["b", alert().alert_id] == [row.alert_id for row in store.alerts()]
    assert 2 == store.counts().alerts_firing
    resolved = alert(state=AlertState.RESOLVED, updated_at=NOW - BUCKET)
    store.insert_alerts([resolved])
    assert resolved == store.alert(alert().alert_id)
    assert ["b"] == [row.alert_id for row in store.alerts(states=[AlertState.FIRING])]
    assert [] == store.alerts(states=[])
    assert 1 == len(store.alerts(limit=1))


def test_deaths_on_a_message_are_kept_once_each(store: Subject) -> None:
    """Whoever finds one out writes it, perhaps twice."""
    one = Suspect(topic="traces", partition=2, offset=7, recorded_ms=-1, death="a")
    other = Suspect(topic="traces", partition=2, offset=7, recorded_ms=-1, death="b")
    now = datetime.now(UTC)  # rows live for eight days
    store.insert_suspects([other, one], now)
    store.insert_suspects([one], now)
    store.insert_suspects([], now)
    assert [one, other] == store.suspects()


def test_actions_and_deploys_since_a_moment(store: Subject) -> None:
    """Oldest first, repeated ones once."""
    actions = [AlertAction(at=NOW + BUCKET * n, kind="ack", alert_id="a", author="kim") for n in range(3)]
    deploys = [Deploy(at=NOW + BUCKET * n, field="prompt", value=f"p-{n}", note="n", author="ci") for n in range(3)]
    store.insert_alert_actions([*reversed(actions), actions[0]])
    store.insert_deploys([*reversed(deploys), deploys[0]])
    assert actions[1:] == store.alert_actions(NOW + BUCKET)
    assert deploys[1:] == store.deploys(NOW + BUCKET)


def test_expired_traces_are_counted_once_by_day(store: Subject) -> None:
    """However old they are, and however often they are read again."""
    old = NOW - timedelta(days=20_000)
    rows = [ExpiredCount(trace_id=f"t-{n}", ts=old + timedelta(hours=n)) for n in range(14)]
    store.insert_expired(rows)
    store.insert_expired(rows[:3])
    assert {old.date(): 12, (old + timedelta(days=1)).date(): 2} == store.expired()


def test_spans_come_back_by_trace_each_copy_once(store: Subject) -> None:
    """A late span is merged with these; a copy that was stored before keeps saying whether it was late."""
    now = datetime.now(UTC)  # the engine drops spans by its own clock
    first = [StoredSpan(span=one, content_hash=one.content_hash) for one in request()]
    store.insert_spans(first, now)
    late = StoredSpan(span=request()[0], content_hash=first[0].content_hash, is_late=True)
    other = call(trace_id="other")
    store.insert_spans([late, StoredSpan(span=other, content_hash="x")], now + timedelta(hours=1))
    found = store.spans([TRACE_ID, "nowhere"])
    assert [TRACE_ID] == list(found)
    assert sorted(first, key=lambda row: row.span.span_id) == sorted(found[TRACE_ID], key=lambda row: row.span.span_id)


def test_a_long_insert_of_wide_rows_arrives_whole(store: Subject) -> None:
    """It travels in several blocks; one that got lost would tear traces without a word."""
    wide = [
        StoredSpan(span=call().model_copy(update={"trace_id": f"{number:032x}", "name": "x" * 7_000}), content_hash="c")
        for number in range(1_100)
    ]
    store.insert_spans(wide, datetime.now(UTC))
    assert 1_100 == len(store.spans([row.span.trace_id for row in wide]))


def test_a_watermark_remembers_where_reading_goes_on(store: Subject) -> None:
    """A restarted worker knows by that whether its partition was read to the end."""
    store.insert_watermarks([Watermark(topic="traces", partition=0, event_time=NOW, next_offset=7, at=NOW)])
    assert [7] == [mark.next_offset for mark in store.watermarks()]
