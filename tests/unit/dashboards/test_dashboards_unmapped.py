"""Pages about traces without an intent, and the leads for review."""

from datetime import timedelta
from typing import Any

import pytest

from dashboards.views.unmapped import unmapped_view
from schemas.alert import RateEstimate
from schemas.labels import FailureLabel, Outcome, RiskTier
from schemas.slice import Slice
from streams.store import Lead, TraceSummary, UnmappedShare
from tests.builders import NOW, alert, traffic_tally
from tests.unit.dashboards.fake_store import FakeStore
from tests.unit.dashboards.page_reader import get

HOUR = timedelta(hours=1)
HARM = '<script>alert(1)</script>" onclick="x {{ 7*7 }} \u202e\x00'
EPISODE = alert(
    "unmapped-1",
    rule="unmapped",
    slice=Slice(intent="unmapped", tier=RiskTier.MEDIUM),
    rate=RateEstimate(rate=0.34, low=0.34, high=0.34, n=1234),
    reference=RateEstimate(rate=0.2, low=0.2, high=0.2, n=0),
    fingerprint="",
)


def share(topic: str = "chat", hours: int = 1, traffic: int = 100, unmapped: int = 50) -> UnmappedShare:
    """One topic in the hour that began so many hours ago."""
    at = NOW - hours * HOUR
    return UnmappedShare(topic=topic, hour=at, traffic=traffic, unmapped=unmapped, share=unmapped / traffic)


def lead(trace_id: str = "t-1", feedback: str = "thumb=down", **fields: Any) -> Lead:
    """A negative lead on a flagged answer."""
    plain = {"ts": NOW - HOUR, "intent": "refunds", "tier": RiskTier.HIGH, "tenant": "acme", "is_drawn": True}
    summary = TraceSummary(
        **{**plain, "outcome": Outcome.HALLUCINATED, "question": "How long?", **fields}, trace_id=trace_id
    )
    return Lead(trace=summary, feedback=feedback, is_negative=True)


def traffic_of(intent: str) -> FakeStore:
    """A store with an hour of traffic of one intent."""
    return FakeStore(rows=[traffic_tally(100, intent=intent, bucket=NOW - HOUR)])


def test_hours_are_summed_by_topic_with_the_worst_first() -> None:
    """A topic without any unmapped trace is there, too, as the rest of the traffic."""
    view = unmapped_view(
        [share("mail", 1, 10, 0), share("chat", 2), share("chat", 1, 100, 10), share("app", 1, 90, 80)]
    )
    assert [("app", 80, 90), ("chat", 60, 200), ("mail", 0, 10)] == [
        (topic.topic, topic.unmapped, topic.traffic) for topic in view.topics
    ]
    assert (300, 140, 140 / 300) == (view.traffic, view.unmapped, view.share)
    assert unmapped_view([]).share is None


async def test_overview_says_what_share_has_no_intent_and_what_to_do() -> None:
    """From the tallies that it reads anyway; without such traffic it says nothing."""
    store = traffic_of("unmapped")
    store.rows.append(traffic_tally(300, intent="refunds", bucket=NOW - HOUR))
    assert "25.0 % of the last 24 h's traces have no intent" in (await get(store, "/")).text
    assert "have no intent" not in (await get(traffic_of("refunds"), "/")).text


async def test_an_unmapped_alert_is_a_banner_and_not_the_state_of_a_slice() -> None:
    """Its slice is a name only: whether answers without an intent got worse is the jump test's to say."""
    store = traffic_of("unmapped")
    store.alert_rows = [EPISODE]
    page = await get(store, "/")
    assert "Traces without an intent" in page.text
    assert "34.0 % of 1\u202f234 traces in an hour, limit 20.0 %" in " ".join(page.text.split("  "))
    assert "hallucination rate" not in page.text
    assert not [
        attributes for tag, attributes in page.tags if tag == "tr" and "row-firing" in attributes.get("class", "")
    ]


async def test_the_page_of_an_unmapped_alert_says_where_and_what_to_do() -> None:
    """Topics from the onset on, at most a day."""
    store = FakeStore(alert_rows=[EPISODE], unmapped_rows=[share("early", 40), share("chat"), share(HARM, 1, 100, 1)])
    page = await get(store, "/alerts/unmapped-1")
    parts = ("34.0 % of the traces have no intent", "alerts.unmapped_share", "Give intent a rule", "chat", "50.0 %")
    assert [part for part in parts if part not in page.text] == []
    assert "early" not in page.text
    assert not [name for _, attributes in page.tags for name in attributes if name.startswith("on")]
    assert "hallucinated" not in page.text
    listed = await get(store, "/alerts")
    assert "traces without an intent" in listed.text
    assert "/alerts/unmapped-1" in listed.links()


async def test_leads_show_what_was_said_beside_what_was_found() -> None:
    """Negative, with outcome and failures, and a link to the answer; it says that they are no labels."""
    store = FakeStore(
        lead_rows=[
            lead(failures=(FailureLabel.UNSUPPORTED_CLAIM,)),
            lead("t-2", "thanks", is_drawn=False, outcome=None).model_copy(update={"is_negative": False}),
        ]
    )
    page = await get(store, "/review-leads")
    parts = ("negative", "hallucinated", "unsupported claim", "thumb=down", "thanks", "not drawn", "no label")
    assert [part for part in parts if part not in page.text] == []
    assert 2 == sum(link.startswith("/traces/") for link in page.links())


async def test_hostile_leads_are_inert() -> None:
    """Feedback comes from anybody."""
    page = await get(FakeStore(lead_rows=[lead(HARM, HARM, question=HARM, intent=HARM)]), "/review-leads")
    assert 1 == sum(tag == "script" for tag, _ in page.tags)
    assert not [name for _, attributes in page.tags for name in attributes if name.startswith("on")]
    assert "{{ 7*7 }}" in page.text
    assert "\x00" not in page.body


@pytest.mark.parametrize("count", [0, 50, 51])
async def test_leads_say_when_there_are_more_or_none(count: int) -> None:
    """A page holds fifty."""
    page = await get(FakeStore(lead_rows=[lead(f"t-{n}") for n in range(count)]), "/review-leads")
    assert (count == 0, count > 50) == ("No feedback" in page.text, "Only the first 50" in page.text)


async def test_leads_of_other_tenants_are_not_shown() -> None:
    """As everywhere."""
    page = await get(FakeStore(lead_rows=[lead()]), "/review-leads", tenants=frozenset({"globex"}))
    assert "No feedback" in page.text
