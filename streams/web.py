"""The local web server: the pages of ``dashboards`` and a small JSON API for commands, both on 127.0.0.1 by default."""

import asyncio
import hmac
import secrets
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from aiohttp import web

from dashboards.routes import add_routes
from sampling.policy_file import parse_policy
from schemas.base import Record
from schemas.errors import ConfigError, GroundwatchError, Retryable
from schemas.labels import AlertState
from streams.agents.policies import KnownPolicies, PolicyPublisher
from streams.store import ALL_TENANTS, Store

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
LOOPBACK = {"127.0.0.1", "localhost", "[::1]"}
MAX_BODY_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class Api:
    """What the server offers; ``token`` lets commands in, pages are open to whoever reaches the port."""

    store: Store
    policies: KnownPolicies
    publisher: PolicyPublisher
    now: Callable[[], datetime]
    waiting_for: Callable[[], Sequence[str]]
    """Roles that are not at work yet."""
    host: str = "127.0.0.1"
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)

    def application(self) -> web.Application:
        """The aiohttp application with pages and API."""
        app = web.Application(
            client_max_size=MAX_BODY_BYTES, middlewares=[self._only_our_host, self._errors_as_json, self._need_token]
        )
        app.router.add_get("/healthz", self._health)
        app.router.add_get("/readyz", self._ready)
        app.router.add_get("/api/v1/alerts", self._alerts)
        app.router.add_get("/api/v1/alerts/{alert_id}", self._alert)
        app.router.add_get("/api/v1/counts", self._counts)
        app.router.add_get("/api/v1/policy", self._policy)
        app.router.add_post("/api/v1/policy", self._apply_policy)
        add_routes(app, self.store, now=self.now, tenants=ALL_TENANTS)
        return app

    @web.middleware
    async def _only_our_host(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """A page on another site must not reach us through a name that it makes point to 127.0.0.1."""
        name = request.host.rsplit(":", 1)[0] if not request.host.endswith("]") else request.host
        if self.host in LOOPBACK and name not in LOOPBACK:
            raise web.HTTPMisdirectedRequest(text="unknown host; use http://127.0.0.1\n")
        return await handler(request)

    @web.middleware
    async def _need_token(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        if request.path.startswith("/api/"):
            given = request.headers.get("Authorization", "").removeprefix("Bearer ")
            if not hmac.compare_digest(given.encode("utf-8", "replace"), self.token.encode()):
                return _problem(401, "send the token of run.json as 'Authorization: Bearer …'")
        return await handler(request)

    @web.middleware
    async def _errors_as_json(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        if not request.path.startswith("/api/"):
            return await handler(request)
        try:
            return await handler(request)
        except ConfigError as error:
            return _problem(400, str(error))
        except Retryable as error:
            return _problem(503, str(error))
        except GroundwatchError as error:
            return _problem(500, str(error))

    async def _health(self, _request: web.Request) -> web.Response:
        return web.json_response({"status": "ok"})

    async def _ready(self, _request: web.Request) -> web.Response:
        waiting = list(self.waiting_for())
        body = {"status": "waiting" if waiting else "ready", "waiting_for": waiting}
        return web.json_response(body, status=503 if waiting else 200)

    async def _alerts(self, request: web.Request) -> web.Response:
        try:
            states = [AlertState(state) for state in request.query.getall("state", [])] or None
            limit = min(int(request.query.get("limit", "100")), 1000)
        except ValueError as error:
            raise ConfigError(f"query: {error}") from error
        alerts = await asyncio.to_thread(self.store.alerts, states=states, limit=limit)
        return _json([_dump(alert) for alert in alerts])

    async def _alert(self, request: web.Request) -> web.Response:
        alert = await asyncio.to_thread(self.store.alert, request.match_info["alert_id"])
        return _json(_dump(alert)) if alert else _problem(404, "no such alert; see /api/v1/alerts")

    async def _counts(self, _request: web.Request) -> web.Response:
        return _json(_dump(await asyncio.to_thread(self.store.counts)))

    async def _policy(self, _request: web.Request) -> web.Response:
        records = self.policies.log.records.values()
        return _json([_dump(record) for record in sorted(records, key=lambda record: record.published_at)])

    async def _apply_policy(self, request: web.Request) -> web.Response:
        document = parse_policy(await request.text())
        author = request.query.get("author", "")[:80]
        return _json(_dump(await self.publisher.apply(document, author, self.now())), status=201)


def _dump(record: Record) -> Any:
    return record.model_dump(mode="json")


def _json(body: Any, status: int = 200) -> web.Response:
    return web.json_response(body, status=status)


def _problem(status: int, detail: str) -> web.Response:
    return web.json_response({"error": detail}, status=status)
