"""Deploys for commands and for pipelines, which mark what traces do not carry."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from aiohttp import web

from streams.api.answers import dump, json_answer, limit, moment
from streams.deploys import is_same, read_deploy
from streams.store import Store

MARK_PATHS = ("/api/v1/deploys", "/v1/deploys")
"""The second is the short one, for pipelines."""
MARK_ROUTES = frozenset(("POST", path) for path in MARK_PATHS)
"""All that the token of `web.deploys_token` opens."""
SHOWN = timedelta(days=21)
MOST = 1000


@dataclass(frozen=True, slots=True)
class DeployRoutes:
    """``POST /v1/deploys``, also as ``POST /api/v1/deploys``, and ``GET /api/v1/deploys``."""

    store: Store
    now: Callable[[], datetime]

    def add(self, app: web.Application) -> None:
        """Add the routes."""
        for path in MARK_PATHS:
            app.router.add_post(path, self.mark)
        app.router.add_get("/api/v1/deploys", self.listed)

    async def mark(self, request: web.Request) -> web.Response:
        """Mark the deploy of the JSON body: 201, or 200 for one that was marked before."""
        deploy = read_deploy(await request.read(), self.now())
        known = await asyncio.to_thread(self.store.deploys, deploy.at)
        is_known = any(is_same(one, deploy) and one.source == deploy.source for one in known)
        await asyncio.to_thread(self.store.insert_deploys, [deploy])
        return json_answer(dump(deploy), status=200 if is_known else 201)

    async def listed(self, request: web.Request) -> web.Response:
        """``since`` and ``limit``: deploys marked or detected, newest first; 21 days when no time is given."""
        since = moment(request, "since") or self.now() - SHOWN
        found = await asyncio.to_thread(self.store.deploys, since)
        return json_answer([dump(deploy) for deploy in found[::-1][: limit(request, MOST)]])
