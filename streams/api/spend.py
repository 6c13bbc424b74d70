"""Money for commands: what judges cost, and what is left of each budget."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from aiohttp import web

from schemas.errors import ConfigError
from streams.agents.policies import KnownPolicies
from streams.api.answers import dump, json_answer, moment
from streams.spend import policy_now
from streams.spend.report import STEPS, read_report
from streams.store import Store


@dataclass(frozen=True, slots=True)
class SpendRoutes:
    """``GET /api/v1/spend``."""

    store: Store
    policies: KnownPolicies
    now: Callable[[], datetime]

    def add(self, app: web.Application) -> None:
        """Add the route."""
        app.router.add_get("/api/v1/spend", self.report)

    async def report(self, request: web.Request) -> web.Response:
        """``since``, ``step`` (hour, day): budgets of this hour, and spend by intent, tier, layer and route."""
        now, step = self.now(), request.query.get("step", "hour")
        if step not in STEPS:
            raise ConfigError(f"step = {step[:40]!r}: use one of {', '.join(STEPS)}")
        read = partial(
            read_report,
            self.store,
            policy_now(self.policies, now),
            list(self.policies.log.records.values()),
            now,
            since=moment(request, "since"),
            step=step,
        )
        return json_answer(dump(await asyncio.to_thread(read)))
