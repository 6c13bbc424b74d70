"""Traces for commands: a list with filters, and one by its id or the beginning of it."""

import asyncio
from dataclasses import dataclass

from aiohttp import web

from schemas.labels import FailureLabel, Outcome, RiskTier
from streams.api.answers import dump, flag, json_answer, limit, moment, tenants, word
from streams.store import ListFilter, Store


@dataclass(frozen=True, slots=True)
class TraceRoutes:
    """``GET /api/v1/traces`` and ``GET /api/v1/traces/find``; both name the tenants that the reader may see."""

    store: Store

    def add(self, app: web.Application) -> None:
        """Add the routes."""
        app.router.add_get("/api/v1/traces", self.listed)
        app.router.add_get("/api/v1/traces/find", self.found)

    async def listed(self, request: web.Request) -> web.Response:
        """``intent``, ``tier``, ``outcome``, ``failure``, ``since``, ``until``, ``limit``, ``has_feedback``.

        Summaries, newest first.
        """
        wanted = ListFilter(
            intent=request.query.get("intent"),
            tier=word(request, "tier", RiskTier),
            outcome=word(request, "outcome", Outcome),
            failure=word(request, "failure", FailureLabel),
            since=moment(request, "since"),
            until=moment(request, "until"),
            limit=limit(request, 20),
            has_feedback=flag(request, "has_feedback"),
        )
        rows = await asyncio.to_thread(self.store.list_traces, wanted, tenants=tenants(request))
        return json_answer([dump(row) for row in rows])

    async def found(self, request: web.Request) -> web.Response:
        """``id``: the trace with its verdicts, or the ids that begin so."""
        found = await asyncio.to_thread(self.store.find_trace, request.query.get("id", ""), tenants=tenants(request))
        return json_answer(dump(found))
