"""Alerts for commands."""

import asyncio
from dataclasses import dataclass

from aiohttp import web

from schemas.labels import AlertState
from streams.api.answers import dump, json_answer, limit, one_of, problem
from streams.store import Store


@dataclass(frozen=True, slots=True)
class AlertRoutes:
    """``GET /api/v1/alerts`` and ``GET /api/v1/alerts/{alert_id}``."""

    store: Store

    def add(self, app: web.Application) -> None:
        """Add the routes."""
        app.router.add_get("/api/v1/alerts", self.listed)
        app.router.add_get("/api/v1/alerts/{alert_id}", self.one)

    async def listed(self, request: web.Request) -> web.Response:
        """``state`` (may be repeated) and ``limit``: present states, last changed first."""
        states = [one_of(text, "state", AlertState) for text in request.query.getall("state", [])] or None
        alerts = await asyncio.to_thread(self.store.alerts, states=states, limit=limit(request, 100))
        return json_answer([dump(alert) for alert in alerts])

    async def one(self, request: web.Request) -> web.Response:
        """The present state of one alert."""
        alert_id = request.match_info["alert_id"]
        alert = await asyncio.to_thread(self.store.alert, alert_id)
        if alert is None:
            return problem(404, f"no alert {alert_id!r}; `groundwatch alerts list` shows the ids")
        return json_answer(dump(alert))
