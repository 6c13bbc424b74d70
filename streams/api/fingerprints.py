"""What the fingerprints of stored verdicts are made of, for commands."""

import asyncio
from dataclasses import dataclass

from aiohttp import web

from streams.api.answers import dump, json_answer
from streams.store import Store


@dataclass(frozen=True, slots=True)
class FingerprintRoutes:
    """``GET /api/v1/fingerprints``."""

    store: Store

    def add(self, app: web.Application) -> None:
        """Add the route."""
        app.router.add_get("/api/v1/fingerprints", self.listed)

    async def listed(self, request: web.Request) -> web.Response:
        """``fingerprint``: that one alone; else all with verdicts, last used first."""
        rows = await asyncio.to_thread(self.store.fingerprints, request.query.get("fingerprint", ""))
        return json_answer([dump(row) for row in rows])
