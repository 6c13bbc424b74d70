"""The judge for commands: whether it says what the layer below would have said."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from aiohttp import web

from detectors.judge.agreement import agreements
from streams.api.answers import dump, json_answer, limit, moment
from streams.store import Store

SHOWN = timedelta(days=7)
MOST_CLAIMS = 100_000


@dataclass(frozen=True, slots=True)
class JudgeRoutes:
    """``GET /api/v1/judge/agreement``."""

    store: Store
    now: Callable[[], datetime]

    def add(self, app: web.Application) -> None:
        """Add the route."""
        app.router.add_get("/api/v1/judge/agreement", self.agreement)

    async def agreement(self, request: web.Request) -> web.Response:
        """``since``, ``until``, ``limit`` (newest claims looked at): claims by intent, tier and both labels."""
        until = moment(request, "until") or self.now()
        since = moment(request, "since") or until - SHOWN
        most = limit(request, MOST_CLAIMS, MOST_CLAIMS)
        claims = await asyncio.to_thread(self.store.judgements.decided, since, until, limit=most)
        return json_answer([dump(row) for row in agreements(claims)])
