"""Coverage for commands."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from aiohttp import web

from streams.api.answers import dump, json_answer, moment
from streams.health.counting import CoverageCounter

SHOWN = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class CoverageRoutes:
    """``GET /api/v1/coverage``."""

    counter: CoverageCounter
    now: Callable[[], datetime]

    def add(self, app: web.Application) -> None:
        """Add the route."""
        app.router.add_get("/api/v1/coverage", self.coverage)

    async def coverage(self, request: web.Request) -> web.Response:
        """``since`` (24 hours ago when left out) and ``topic`` (may be repeated): one object a source topic."""
        now = self.now()
        since = moment(request, "since") or now - SHOWN
        found = await self.counter.count(since, now, frozenset(request.query.getall("topic", [])))
        return json_answer([dump(one) for one in found])
