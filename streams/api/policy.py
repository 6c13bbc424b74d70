"""The policy log for commands: what was published, publishing, and the traffic that a change is reckoned with."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from aiohttp import web

from sampling.policy_file import parse_policy
from streams.agents.policies import KnownPolicies, PolicyPublisher
from streams.api.answers import dump, json_answer
from streams.spend.forecast import read_basis
from streams.store import Store
from streams.traffic import read_traffic

MAX_AUTHOR_CHARACTERS = 80


@dataclass(frozen=True, slots=True)
class PolicyRoutes:
    """``GET`` and ``POST /api/v1/policy``, ``GET /api/v1/traffic`` and ``/api/v1/spend/basis``."""

    store: Store
    policies: KnownPolicies
    publisher: PolicyPublisher
    now: Callable[[], datetime]

    def add(self, app: web.Application) -> None:
        """Add the routes."""
        app.router.add_get("/api/v1/policy", self.log)
        app.router.add_post("/api/v1/policy", self.apply)
        app.router.add_get("/api/v1/traffic", self.traffic)
        app.router.add_get("/api/v1/spend/basis", self.basis)

    async def log(self, _request: web.Request) -> web.Response:
        """Every document and overlay, oldest first."""
        records = self.policies.log.records.values()
        return json_answer([dump(record) for record in sorted(records, key=lambda record: record.published_at)])

    async def apply(self, request: web.Request) -> web.Response:
        """Publish the YAML of the body under the query's ``author``: 201 with the record, or 400 with every fault."""
        document = parse_policy(await request.text())
        author = request.query.get("author", "")[:MAX_AUTHOR_CHARACTERS]
        return json_answer(dump(await self.publisher.apply(document, author, self.now())), status=201)

    async def traffic(self, _request: web.Request) -> web.Response:
        """Traces a day by intent, tier and stratum over the last week."""
        rows = await asyncio.to_thread(read_traffic, self.store, self.now())
        return json_answer([dump(row) for row in rows])

    async def basis(self, _request: web.Request) -> web.Response:
        """What a forecast of spend is made from: the last day's traffic, scores and costs."""
        return json_answer(dump(await asyncio.to_thread(read_basis, self.store, self.now())))
