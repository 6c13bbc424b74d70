"""Intents for commands: what the traffic is about, and where what has no intent comes from."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from aiohttp import web

from streams.api.answers import dump, json_answer, moment
from streams.store import Store

SHOWN = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class IntentRoutes:
    """``GET /api/v1/intents`` and ``GET /api/v1/intents/unmapped``."""

    store: Store
    now: Callable[[], datetime]

    def add(self, app: web.Application) -> None:
        """Add the routes."""
        app.router.add_get("/api/v1/intents", self.listed)
        app.router.add_get("/api/v1/intents/unmapped", self.unmapped)

    async def listed(self, request: web.Request) -> web.Response:
        """``since``, ``until``: every intent and tier with its traffic, most first."""
        rows = await asyncio.to_thread(self.store.intents, *self._times(request))
        return json_answer([dump(row) for row in rows])

    async def unmapped(self, request: web.Request) -> web.Response:
        """``since``, ``until``: traces and those without an intent by topic and hour, oldest first."""
        rows = await asyncio.to_thread(self.store.unmapped, *self._times(request))
        return json_answer([dump(row) for row in rows])

    def _times(self, request: web.Request) -> tuple[datetime, datetime]:
        until = moment(request, "until") or self.now()
        return moment(request, "since") or until - SHOWN, until
