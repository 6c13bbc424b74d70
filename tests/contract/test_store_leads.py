"""Feedback and intents, as stores give them out: memory, embedded engine and a server over HTTP alike."""

from datetime import datetime, timedelta
from typing import Any

from schemas.draw import DrawnTrace
from schemas.labels import FailureLabel, Outcome, RiskTier
from schemas.trace import Source
from streams.settings import Settings
from streams.store import ALL_TENANTS, IntentTraffic, ListFilter, Store, UnmappedShare, WantedLeads
from tests.builders import NOW, draw, drawn_trace, trace, verdict
from tests.fakes_store import MemoryStore

Subject = MemoryStore | Store
HOUR = timedelta(hours=1)
NEGATIVE = Settings().web.negative_feedback


def said(trace_id: str, feedback: str, ts: datetime = NOW, **fields: Any) -> DrawnTrace:
    """A trace with feedback."""
    return drawn_trace(trace_id, trace=trace(trace_id, ts=ts, feedback=feedback, **fields))


def test_leads_are_negative_first_then_newest_drawn_or_not(store: Subject) -> None:
    """With the newest outcome where there is a verdict; traces that nobody spoke of are none."""
    undrawn = draw(drawn=False, u=0.9)
    store.insert_traces(
        [
            said("old-bad", "thumb=down", NOW - 2 * HOUR),
            said("new-good", "thumbs up, thanks"),
            said("bad", "user_score=0.0 (Wrong sum)", NOW - HOUR).model_copy(update={"draw": undrawn}),
            said("silent", "", NOW),
            said("early", "thumb=down", NOW - 9 * HOUR),
        ]
    )
    store.insert_verdicts(
        [
            verdict("old-bad", ts=NOW - 2 * HOUR, verified_at=NOW),
            verdict(
                "old-bad",
                Outcome.HALLUCINATED,
                ts=NOW - 2 * HOUR,
                verified_at=NOW + HOUR,
                failures=(FailureLabel.UNSUPPORTED_CLAIM,),
                fingerprint="newer",
            ),
        ]
    )
    found = store.leads(WantedLeads(NOW - 8 * HOUR, NEGATIVE), tenants=ALL_TENANTS)
    rows = [(lead.trace.trace_id, lead.is_negative, lead.trace.is_drawn, lead.trace.outcome) for lead in found]
    assert rows == [
        ("bad", True, False, None),
        ("old-bad", True, True, Outcome.HALLUCINATED),
        ("new-good", False, True, None),
    ]
    assert (FailureLabel.UNSUPPORTED_CLAIM,) == found[1].trace.failures
    assert ["bad", "old-bad"] == [
        lead.trace.trace_id for lead in store.leads(WantedLeads(NOW - 8 * HOUR, NEGATIVE, limit=2), tenants=ALL_TENANTS)
    ]


def test_without_a_pattern_no_lead_is_negative(store: Subject) -> None:
    """Then they come by time alone."""
    store.insert_traces([said("a", "thumb=down", NOW - HOUR), said("b", "fine")])
    found = store.leads(WantedLeads(NOW - 8 * HOUR), tenants=ALL_TENANTS)
    assert [("b", False), ("a", False)] == [(lead.trace.trace_id, lead.is_negative) for lead in found]


def test_leads_of_other_tenants_are_not_seen(store: Subject) -> None:
    """Nor with no tenant at all."""
    store.insert_traces([said("a", "wrong", tenant="acme"), said("b", "wrong", tenant="globex")])
    wanted = WantedLeads(NOW - HOUR)
    assert ["b"] == [lead.trace.trace_id for lead in store.leads(wanted, tenants=frozenset({"globex"}))]
    assert [] == store.leads(wanted, tenants=frozenset())


def test_a_revision_that_brings_feedback_makes_a_lead(store: Subject) -> None:
    """It comes late; the newest revision counts, also where an evaluator takes its word back."""
    first, second = said("a", ""), said("a", "wrong", revision=2)
    store.insert_traces([first])
    assert [] == store.leads(WantedLeads(NOW - HOUR), tenants=ALL_TENANTS)
    store.insert_traces([second])
    assert ["wrong"] == [lead.feedback for lead in store.leads(WantedLeads(NOW - HOUR), tenants=ALL_TENANTS)]
    store.insert_traces([said("a", "", revision=3)])
    assert [] == store.leads(WantedLeads(NOW - HOUR), tenants=ALL_TENANTS)


def test_hostile_feedback_is_cut_and_kept(store: Subject) -> None:
    """Half characters and NUL crash nobody; a long text is shown in part."""
    store.insert_traces([said("a", "\x00' OR 1=1 --" + "x" * 5000)])
    (lead,) = store.leads(WantedLeads(NOW - HOUR, "wrong|(?:x{3})"), tenants=ALL_TENANTS)
    assert (1000, 200, True) == (len(lead.feedback), len(lead.trace.feedback), lead.is_negative)


def test_traces_are_listed_by_whether_somebody_spoke_of_them(store: Subject) -> None:
    """With what was said."""
    store.insert_traces([said("a", "fine"), said("b", "")])
    rows = store.list_traces(ListFilter(has_feedback=True), tenants=ALL_TENANTS)
    assert [("a", "fine")] == [(row.trace_id, row.feedback) for row in rows]
    assert 2 == len(store.list_traces(ListFilter(), tenants=ALL_TENANTS))


def test_intents_have_traffic_share_and_the_times_they_were_seen(store: Subject) -> None:
    """A copy counts once; what had no traffic in the time asked for is listed with none."""
    rows = [drawn_trace(f"t-{n}", ts=NOW - n * HOUR) for n in range(3)]
    rows.append(drawn_trace("u", trace=trace("u", intent="unmapped", tier=RiskTier.HIGH)))
    rows.append(drawn_trace("o", trace=trace("o", ts=NOW - 30 * HOUR, intent="old")))
    store.insert_traces([*rows, rows[0]])
    found = store.intents(NOW - 2 * HOUR, NOW + HOUR)
    assert found == [
        IntentTraffic(
            intent="refunds", tier=RiskTier.MEDIUM, traffic=3, share=0.75, first_seen=NOW - 2 * HOUR, last_seen=NOW
        ),
        IntentTraffic(intent="unmapped", tier=RiskTier.HIGH, traffic=1, share=0.25, first_seen=NOW, last_seen=NOW),
        IntentTraffic(
            intent="old",
            tier=RiskTier.MEDIUM,
            traffic=0,
            share=0.0,
            first_seen=NOW - 30 * HOUR,
            last_seen=NOW - 30 * HOUR,
        ),
    ]


def test_the_unmapped_share_is_by_topic_and_hour(store: Subject) -> None:
    """So that one sees which producer changed, and when."""

    def read(trace_id: str, topic: str, minutes: int, intent: str) -> DrawnTrace:
        ts = NOW + timedelta(minutes=minutes)
        source = Source(topic=topic, partition=0, offset=1, recorded_at=ts)
        return drawn_trace(trace_id, trace=trace(trace_id, ts=ts, intent=intent, source=source))

    store.insert_traces(
        [
            read("a", "chat", 1, "unmapped"),
            read("b", "chat", 59, "refunds"),
            read("c", "mail", 30, "refunds"),
            read("d", "chat", 60, "unmapped"),
            read("e", "chat", 120, "unmapped"),
        ]
    )
    assert store.unmapped(NOW, NOW + 2 * HOUR) == [
        UnmappedShare(topic="chat", hour=NOW, traffic=2, unmapped=1, share=0.5),
        UnmappedShare(topic="mail", hour=NOW, traffic=1, unmapped=0, share=0.0),
        UnmappedShare(topic="chat", hour=NOW + HOUR, traffic=1, unmapped=1, share=1.0),
    ]


def test_an_empty_store_has_neither_leads_nor_intents(store: Subject) -> None:
    """And no division by zero."""
    assert [] == store.leads(WantedLeads(NOW - HOUR), tenants=ALL_TENANTS)
    assert ([], []) == (store.intents(NOW - HOUR, NOW), store.unmapped(NOW - HOUR, NOW))
