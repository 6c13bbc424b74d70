"""The store's own state for commands; a verification is a stream of JSON lines, because it takes minutes."""

import asyncio
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime

from aiohttp import web

from schemas.errors import ConfigError, GroundwatchError
from streams.api.answers import dump, json_answer, limit, moment
from streams.store import CheckProgress, CheckResult, Store, Verification

EXAMPLES = 5


@dataclass(frozen=True, slots=True)
class StoreRoutes:
    """``GET /api/v1/counts``, ``/api/v1/store/stats`` and ``/api/v1/store/verify``.

    ``reports`` is a client of its own for what takes long, so that no page waits for it.
    """

    store: Store
    reports: Store
    now: Callable[[], datetime]
    salt: Callable[[], bytes | None]
    retention_days: int | None = None
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    def add(self, app: web.Application) -> None:
        """Add the routes."""
        app.router.add_get("/api/v1/counts", self.counts)
        app.router.add_get("/api/v1/store/stats", self.stats)
        app.router.add_get("/api/v1/store/verify", self.verify)
        app.router.add_post("/api/v1/store/rebuild", self.rebuild)

    async def counts(self, _request: web.Request) -> web.Response:
        """How many traces, draws and verdicts."""
        return json_answer(dump(await asyncio.to_thread(self.store.counts)))

    async def stats(self, _request: web.Request) -> web.Response:
        """Size, age and growth."""
        async with self.turn:
            return json_answer(dump(await asyncio.to_thread(self.reports.stats)))

    async def verify(self, request: web.Request) -> web.StreamResponse:
        """``since``, ``until``, ``limit`` of examples: a line a step, with ``done`` for progress or with a result.

        A failure in the middle is a last line with ``error``; a client that goes away ends the work at the next step.
        """
        wanted = Verification(
            now=self.now(),
            since=moment(request, "since"),
            until=moment(request, "until"),
            limit=limit(request, EXAMPLES, 100),
            salt=self.salt(),
            retention_days=self.retention_days,
        )
        async with self.turn:
            return await _streamed(request, self.reports.verify(wanted))

    async def rebuild(self, request: web.Request) -> web.Response:
        """``since``, ``until``: have these hours counted again by the next tick of the role alert; 202."""
        since, until = moment(request, "since"), moment(request, "until")
        if since is None or until is None:
            raise ConfigError("give since and until, such as 2026-03-10T12:00:00Z")
        buckets = await asyncio.to_thread(self.reports.mark_for_rebuild, since, until)
        return json_answer({"buckets": buckets}, status=202)


async def _streamed(request: web.Request, steps: Iterator[CheckProgress | CheckResult]) -> web.StreamResponse:
    step = await asyncio.to_thread(next, steps, None)  # before the headers: a store that is away is an error of its own
    response = web.StreamResponse(headers={"Content-Type": "application/x-ndjson"})
    await response.prepare(request)
    try:
        while step is not None:
            await response.write(step.model_dump_json().encode() + b"\n")
            step = await asyncio.to_thread(next, steps, None)
        await response.write_eof()
    except GroundwatchError as error:
        await response.write(json.dumps({"error": str(error)}).encode() + b"\n")
        await response.write_eof()
    except ConnectionError:  # the client went away; nobody waits for the rest
        return response
    return response
