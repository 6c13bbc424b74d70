"""Traces for commands: a list with filters, and one by its id or the beginning of it."""

import asyncio
from dataclasses import dataclass

from aiohttp import web

from schemas.labels import FailureLabel, Outcome, RiskTier
from streams.api.answers import dump, json_answer, limit, moment, tenants, word
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
        """``intent``, ``tier``, ``outcome``, ``failure``, ``since``, ``until``, ``limit``: summaries, newest first."""
        query = request.query
        wanted = ListFilter(
            intent=query.get("intent"),
            tier=word(query, "tier", RiskTier),
            outcome=word(query, "outcome", Outcome),
            failure=word(query, "failure", FailureLabel),
            since=moment(query, "since"),
            until=moment(query, "until"),
            limit=limit(query, 20),
        )
        rows = await asyncio.to_thread(self.store.list_traces, wanted, tenants=tenants(query))
        return json_answer([dump(row) for row in rows])

    async def found(self, request: web.Request) -> web.Response:
        """``id``: the trace with its verdicts, or the ids that begin so."""
        query = request.query
        found = await asyncio.to_thread(self.store.find_trace, query.get("id", ""), tenants=tenants(query))
        return json_answer(dump(found))
