"""The local web server: the pages of ``dashboards`` and the JSON API for commands, both on 127.0.0.1 by default."""

import hmac
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime

from aiohttp import web

from dashboards.routes import add_routes
from schemas.errors import ConfigError, GroundwatchError, Retryable
from streams.agents.policies import KnownPolicies, PolicyPublisher
from streams.api.alerts import AlertRoutes
from streams.api.answers import problem
from streams.api.deadletters import DeadletterRoutes, Replay
from streams.api.deploys import MARK_PATHS, DeployRoutes
from streams.api.fingerprints import FingerprintRoutes
from streams.api.health import CoverageRoutes
from streams.api.intents import IntentRoutes
from streams.api.policy import PolicyRoutes
from streams.api.reviews import ReviewRoutes
from streams.api.store import StoreRoutes
from streams.api.traces import TraceRoutes
from streams.health.counting import CoverageCounter
from streams.health.server import ProbeRoutes
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
    probes: ProbeRoutes | None = None
    """``/healthz``, ``/readyz`` and ``/metrics``."""
    coverage: CoverageCounter | None = None
    """Counts what became of source messages."""
    host: str = "127.0.0.1"
    reports: Store | None = None
    """A client for what takes long; ``store`` when None, and then pages wait for it."""
    salt: Callable[[], bytes | None] = lambda: None
    """Asked when it is needed: ingest makes an embedded one after the server has started."""
    retention_days: int | None = None
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    negative_feedback: str = ""
    """Pattern (RE2) of feedback that comes first among the leads."""
    deploys_token: str = field(default="", repr=False)
    """Lets a pipeline mark deploys and nothing else; empty lets nobody in."""
    replay: Replay | None = None
    """Takes dead letters in again; None where nobody can."""

    def application(self) -> web.Application:
        """The aiohttp application with pages and API."""
        app = web.Application(
            client_max_size=MAX_BODY_BYTES, middlewares=[self._only_our_host, self._errors_as_json, self._need_token]
        )
        if self.probes is not None:
            self.probes.add(app)
        if self.coverage is not None:
            CoverageRoutes(self.coverage, self.now).add(app)
        reports = self.reports or self.store
        AlertRoutes(self.store).add(app)
        DeployRoutes(self.store, self.now).add(app)
        if self.replay is not None:
            DeadletterRoutes(self.replay).add(app)
        TraceRoutes(reports).add(app)
        IntentRoutes(reports, self.now).add(app)
        FingerprintRoutes(reports).add(app)
        ReviewRoutes(reports, self.now, self.salt).add(app)
        PolicyRoutes(self.store, self.policies, self.publisher, self.now).add(app)
        StoreRoutes(self.store, reports, self.now, self.salt, self.retention_days).add(app)
        add_routes(app, self.store, now=self.now, tenants=ALL_TENANTS, negative_feedback=self.negative_feedback)
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
        if _is_api(request):
            given = request.headers.get("Authorization", "").removeprefix("Bearer ")
            is_mark = request.method == "POST" and request.path in MARK_PATHS
            if not _same(given, self.token) and not (is_mark and _same(given, self.deploys_token)):
                return problem(401, "send the token of run.json as 'Authorization: Bearer …'")
        return await handler(request)

    @web.middleware
    async def _errors_as_json(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        if not _is_api(request):
            return await handler(request)
        try:
            return await handler(request)
        except ConfigError as error:
            return problem(400, str(error))
        except Retryable as error:
            return problem(503, str(error))
        except GroundwatchError as error:
            return problem(500, str(error))


def _is_api(request: web.Request) -> bool:
    return request.path.startswith(("/api/", "/v1/"))


def _same(given: str, token: str) -> bool:
    """In a time that does not tell how much of it is right; no token is like the empty one."""
    return bool(token) and hmac.compare_digest(given.encode("utf-8", "replace"), token.encode())
