"""What each page reads from the store; synchronous, so that a route runs it in a thread."""

from dataclasses import replace
from datetime import datetime, timedelta

from dashboards.formats import trace_link
from dashboards.params import Filters
from dashboards.periods import DAY, REVIEWED, USUAL, USUAL_SUMS, Period
from dashboards.views.answers import AnswerView, TracePage, flagged_answer, trace_page
from dashboards.views.budgets import budgets_view
from dashboards.views.corrected import CorrectedView, corrected_view
from dashboards.views.incident import EXAMPLES, IncidentPage, examples, incident, window
from dashboards.views.overview import Overview, TallyReads, open_alerts, overview
from dashboards.views.unmapped import UnmappedPage, unmapped_view
from schemas.alert import Alert
from schemas.tally import Tally
from streams.store import ALL_TENANTS, Lead, ReviewFilter, Store, Tenants, WantedLeads

FLAGGED_PER_PAGE = 20
LEADS_PER_PAGE = 50
LEAD_DAYS = 7
VERSIONS_BEFORE = timedelta(days=7)
OLDER, OLDER_STEP = timedelta(days=63), timedelta(days=21)
"""How far before the last three weeks a slice's reference may reach; only sums are wanted of it."""


def read_overview(store: Store, period: Period, now: datetime, tenants: Tenants) -> Overview:
    """The overview; raises StoreUnavailable.

    Its rates are of all tenants, so only a reader of all tenants sees them corrected by labels.
    """
    longest = USUAL if period is USUAL else USUAL_SUMS
    reads = {shown.key: _tallies(store, shown, now) for shown in {DAY, longest, period}}
    before = longest.start(now)
    found = overview(
        period,
        TallyReads(
            day=reads[DAY.key],
            trend=reads[period.key],
            usual=reads[longest.key],
            usual_step=longest.step,
            older=store.tallies(before - OLDER, before, step=OLDER_STEP, by_version=False),
        ),
        store.alerts(),
        store.deploys(before),
        now,
    )
    if tenants is not ALL_TENANTS:
        return found
    hour = now.replace(minute=0, second=0, microsecond=0)
    spent = store.spending.sums(hour, now + timedelta(minutes=1), step=timedelta(hours=1))
    found = replace(found, budgets=budgets_view(store.policy_records(), spent, now))
    return replace(found, corrected=_corrected(store, found.fingerprint, now)) if found.fingerprint else found


def read_incident(store: Store, alert_id: str, now: datetime, tenants: Tenants) -> IncidentPage | UnmappedPage | None:
    """An alert's page, None when there is no such alert; raises StoreUnavailable.

    An alert's own examples may come from any tenant, so only a reader of all tenants sees them.
    """
    alert = store.alert(alert_id)
    if alert is None:
        return None
    if not alert.is_of_slice:
        until = alert.resolved_at or now
        since = max(alert.since, until - DAY.span)
        return UnmappedPage(alert, unmapped_view(store.unmapped(since, until)), since, until)
    span = window(alert, now)
    page = incident(
        alert,
        span,
        store.tallies(span.start, span.end, step=span.step, by_version=False),
        store.tallies(alert.since - VERSIONS_BEFORE, span.end, step=timedelta(days=1)) if alert.changes else [],
        store.deploys(span.start),
    )
    recorded = alert.examples if tenants is ALL_TENANTS else ()
    flagged = (
        store.flagged(
            tenants=tenants,
            intent=alert.slice.intent,
            tier=alert.slice.tier,
            since=alert.since,
            until=alert.resolved_at,
            limit=2 * EXAMPLES,
        )
        if len(recorded) < EXAMPLES
        else []
    )
    return replace(page, examples=examples(recorded, flagged))


def read_alerts(store: Store) -> list[Alert]:
    """The newest alerts, those that hold now first; raises StoreUnavailable."""
    found = store.alerts()
    held = open_alerts(found)
    return [*held, *(alert for alert in found if alert not in held)]


def read_flagged(store: Store, chosen: Filters, tenants: Tenants) -> list[AnswerView]:
    """One answer more than a page shows, so that the page knows whether there are older ones."""
    found = store.flagged(
        tenants=tenants,
        intent=chosen.intent,
        tier=chosen.tier,
        since=chosen.since,
        until=chosen.until,
        limit=FLAGGED_PER_PAGE + 1,
    )
    return [flagged_answer(answer) for answer in found]


def read_leads(store: Store, negative: str, now: datetime, tenants: Tenants) -> list[Lead]:
    """Traces with feedback, one more than a page shows; raises StoreUnavailable."""
    wanted = WantedLeads(now - timedelta(days=LEAD_DAYS), negative, LEADS_PER_PAGE + 1)
    return store.leads(wanted, tenants=tenants)


def read_trace_link(store: Store, trace_id: str, tenants: Tenants) -> str | None:
    """The path of the page of the trace with this id, None when these tenants have none; raises StoreUnavailable."""
    stored = store.trace(trace_id, tenants=tenants)
    return None if stored is None else trace_link(stored.drawn.trace.trace_id, stored.drawn.trace.ts)


def read_trace(store: Store, trace_id: str, moment: datetime, tenants: Tenants) -> TracePage | None:
    """A trace's page, None when there is no such trace for these tenants; raises StoreUnavailable."""
    stored = store.trace(trace_id, tenants=tenants, ts=moment)
    return None if stored is None else trace_page(stored, store.policy_records())


def _corrected(store: Store, fingerprint: str, now: datetime) -> CorrectedView:
    start = REVIEWED.start(now)
    labels = store.reviews.labels(ReviewFilter(start, now), tenants=ALL_TENANTS)
    return corrected_view(_tallies(store, REVIEWED, now) if labels else [], labels, fingerprint)


def _tallies(store: Store, period: Period, now: datetime) -> list[Tally]:
    return store.tallies(period.start(now), now, step=period.step, by_version=False)
