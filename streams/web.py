"""The local web server: the pages of ``dashboards`` and the JSON API for commands, both on 127.0.0.1 by default."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from aiohttp import web

from dashboards.routes import add_routes
from streams.agents.policies import KnownPolicies, PolicyPublisher
from streams.api.alerts import AlertRoutes
from streams.api.check import CHECK_ROUTES, PUBLIC_ROUTES, CheckRoutes
from streams.api.deadletters import DeadletterRoutes, Replay
from streams.api.deploys import MARK_ROUTES, DeployRoutes
from streams.api.fingerprints import FingerprintRoutes
from streams.api.guard import Guard, Key
from streams.api.health import CoverageRoutes
from streams.api.intents import IntentRoutes
from streams.api.judge import JudgeRoutes
from streams.api.policy import PolicyRoutes
from streams.api.reviews import ReviewRoutes
from streams.api.spend import SpendRoutes
from streams.api.store import StoreRoutes
from streams.api.traces import TraceRoutes
from streams.health.counting import CoverageCounter
from streams.health.server import ProbeRoutes
from streams.store import ALL_TENANTS, Store

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
    check: CheckRoutes | None = None
    """Checks answers before they are sent; None without the role check."""
    check_token: str = field(default="", repr=False)
    """Lets a product have answers checked and nothing else; empty lets nobody in."""

    def application(self) -> web.Application:
        """The aiohttp application with pages and API."""
        keys = (Key(self.deploys_token, MARK_ROUTES), Key(self.check_token, CHECK_ROUTES))
        guard = Guard(self.host, self.token, keys, PUBLIC_ROUTES)
        app = web.Application(client_max_size=MAX_BODY_BYTES, middlewares=guard.middlewares())
        if self.probes is not None:
            self.probes.add(app)
        if self.coverage is not None:
            CoverageRoutes(self.coverage, self.now).add(app)
        reports = self.reports or self.store
        AlertRoutes(self.store).add(app)
        DeployRoutes(self.store, self.now).add(app)
        if self.replay is not None:
            DeadletterRoutes(self.replay).add(app)
        if self.check is not None:
            self.check.add(app)
        TraceRoutes(reports).add(app)
        IntentRoutes(reports, self.now).add(app)
        JudgeRoutes(reports, self.now).add(app)
        FingerprintRoutes(reports).add(app)
        ReviewRoutes(reports, self.now, self.salt).add(app)
        PolicyRoutes(self.store, self.policies, self.publisher, self.now).add(app)
        SpendRoutes(reports, self.policies, self.now).add(app)
        StoreRoutes(self.store, reports, self.now, self.salt, self.retention_days).add(app)
        add_routes(app, self.store, now=self.now, tenants=ALL_TENANTS, negative_feedback=self.negative_feedback)
        return app
