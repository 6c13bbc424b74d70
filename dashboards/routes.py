"""The pages' routes: each reads the store in a thread, renders, and answers with headers that forbid all else."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime
from functools import partial
from http import HTTPStatus

from aiohttp import web

from dashboards import pages, params, reads
from dashboards.live_counts import LiveCounts
from dashboards.views.unmapped import UnmappedPage
from schemas.errors import StoreUnavailable
from schemas.labels import RiskTier
from streams.store import Store, Tenants

SECURITY_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_ASSET_SECONDS = 86_400

Handler = Callable[[web.Request], Awaitable[web.Response]]


def add_routes(
    app: web.Application,
    store: Store,
    *,
    now: Callable[[], datetime],
    tenants: Tenants,
    negative_feedback: str = "",
) -> None:
    """Add the read-only pages over ``store``; every trace shown belongs to ``tenants``.

    ``negative_feedback`` is the pattern (RE2) of feedback that comes first among the leads.
    """
    site = Site(store, now, tenants, negative_feedback)
    # [^/]+ because a plain placeholder refuses braces, and ids are the producers' own.
    for path, handler in (
        ("/", site.overview),
        ("/alerts", site.alerts),
        ("/alerts/{alert_id:[^/]+}", site.alert),
        ("/flagged", site.flagged),
        ("/review-leads", site.leads),
        ("/traces/{ts:[^/]+}", site.trace),
        ("/traces/{ts}/{trace_id:[^/]+}", site.trace),
        ("/live", site.live),
    ):
        app.router.add_get(path, partial(site.answer, handler))
    app.router.add_get("/static/{name}", site.static)


class Site:
    """The handlers with what they share: the store, the clock, the reader's tenants and the templates."""

    def __init__(
        self, store: Store, now: Callable[[], datetime], tenants: Tenants, negative_feedback: str = ""
    ) -> None:
        self._store = store
        self._negative = negative_feedback
        self._now = now
        self._tenants = tenants
        self._counts = LiveCounts(store, now)
        self._templates = pages.environment()
        self._static = pages.static_files()

    async def answer(self, handler: Handler, request: web.Request) -> web.Response:
        """The handler's response, or a page that says what is wrong and what to do."""
        try:
            return await handler(request)
        except params.BadQuery as error:
            return self._error(HTTPStatus.BAD_REQUEST, str(error))
        except StoreUnavailable:
            response = self._error(HTTPStatus.SERVICE_UNAVAILABLE, "")
            response.headers["Retry-After"] = "5"
            return response

    async def overview(self, request: web.Request) -> web.Response:
        """Rates by intent and tier under the open alerts."""
        period, now = params.period(request.query), self._now()
        view, counts = await asyncio.gather(
            asyncio.to_thread(reads.read_overview, self._store, period, now, self._tenants), self._counts.get()
        )
        return self._page("overview.html", view=view, counts=counts)

    async def alerts(self, request: web.Request) -> web.Response:
        """All alerts, or the one whose id is in the query."""
        if "id" in request.query:
            return await self.alert(request)
        found = await asyncio.to_thread(reads.read_alerts, self._store)
        return self._page("alerts.html", alerts=found)

    async def alert(self, request: web.Request) -> web.Response:
        """One alert."""
        alert_id = request.match_info.get("alert_id") or request.query.get("id", "")
        view = await asyncio.to_thread(reads.read_incident, self._store, alert_id, self._now(), self._tenants)
        if view is None:
            return self._error(HTTPStatus.NOT_FOUND, "No alert has this id.")
        if isinstance(view, UnmappedPage):
            return self._page("unmapped.html", view=view)
        return self._page("alert.html", view=view, filters=params.Filters)

    async def flagged(self, request: web.Request) -> web.Response:
        """The latest flagged answers."""
        chosen = params.filters(request.query)
        found = await asyncio.to_thread(reads.read_flagged, self._store, chosen, self._tenants)
        shown = found[: reads.FLAGGED_PER_PAGE]
        older = chosen.link(until=shown[-1].trace.ts) if len(found) > len(shown) else ""
        return self._page("flagged.html", answers=shown, filters=chosen, older=older, tiers=list(RiskTier))

    async def leads(self, _request: web.Request) -> web.Response:
        """What users and foreign evaluators said, negative first."""
        found = await asyncio.to_thread(reads.read_leads, self._store, self._negative, self._now(), self._tenants)
        shown = found[: reads.LEADS_PER_PAGE]
        return self._page("leads.html", leads=shown, days=reads.LEAD_DAYS, has_more=len(found) > len(shown))

    async def trace(self, request: web.Request) -> web.Response:
        """One trace, by its time and id; by its id alone the way to there."""
        trace_id = request.match_info.get("trace_id") or request.query.get("id", "")
        if not trace_id:
            return await self._trace_found(request.match_info["ts"])
        moment = params.moment(request.match_info, "ts")
        if moment is None:
            raise params.BadQuery("the address must hold the trace's time, such as 2026-03-10T12:00:00Z")
        view = await asyncio.to_thread(reads.read_trace, self._store, trace_id, moment, self._tenants)
        if view is None:
            return self._error(HTTPStatus.NOT_FOUND, "No trace has this id at this time.")
        return self._page("trace.html", view=view)

    async def _trace_found(self, trace_id: str) -> web.Response:
        link = await asyncio.to_thread(reads.read_trace_link, self._store, trace_id, self._tenants)
        if link is None:
            return self._error(HTTPStatus.NOT_FOUND, "No trace has this id.")
        return web.Response(status=HTTPStatus.FOUND, headers={**SECURITY_HEADERS, "Location": link})

    async def live(self, _request: web.Request) -> web.Response:
        """The counts that the overview's script keeps current."""
        counts = await self._counts.get()
        body = {
            "traces": counts.traces,
            "drawn": counts.drawn,
            "verdicts": counts.verdicts,
            "firing": counts.alerts_firing,
            "last": counts.last_ts.isoformat() if counts.last_ts else None,
            "generation": counts.generation,
        }
        return web.json_response(body, headers={**SECURITY_HEADERS, "Cache-Control": "no-store"})

    async def static(self, request: web.Request) -> web.Response:
        """A file that pages link to; the address carries its version, so it may be kept."""
        found = self._static.get(request.match_info["name"])
        if found is None:
            return self._error(HTTPStatus.NOT_FOUND, "There is no such file.")
        content, kind = found
        headers = {**SECURITY_HEADERS, "Cache-Control": f"public, max-age={_ASSET_SECONDS}"}
        return web.Response(body=content, content_type=kind, charset="utf-8", headers=headers)

    def _error(self, status: HTTPStatus, detail: str) -> web.Response:
        return self._page("error.html", status=status, detail=detail, http_status=status)

    def _page(self, name: str, *, http_status: HTTPStatus = HTTPStatus.OK, **values: object) -> web.Response:
        """A page; it may hold users' questions, so no cache keeps it."""
        body = pages.render(self._templates, name, self._now(), **values)
        headers = {**SECURITY_HEADERS, "Cache-Control": "no-store"}
        return web.Response(body=body, status=http_status, content_type="text/html", charset="utf-8", headers=headers)
