"""Reviews for commands: answers out to be labelled, labels in, and what they say."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from aiohttp import web
from pydantic import ValidationError

from sampling.review_draw import FLAGGED_SHARE
from schemas.base import Record
from schemas.codec import invalid_message
from schemas.errors import ConfigError, NotReached
from schemas.labels import RiskTier
from streams.api.answers import dump, flag, json_answer, limit, moment, problem, tenants, word
from streams.reviews.cases import golden_cases
from streams.reviews.exporting import PER_WEEK, Kind, Wanted, export
from streams.reviews.given import GivenLabel
from streams.reviews.importing import Defaults, import_labels
from streams.reviews.summary import StatsWanted, review_stats, rolling
from streams.store import ReviewFilter, Store

MOST = 5000


class GivenLabels(Record):
    """The body of ``POST /api/v1/reviews``."""

    rows: tuple[GivenLabel, ...]
    reviewer: str = ""
    is_adjudication: bool = False
    check_only: bool = False


@dataclass(frozen=True, slots=True)
class ReviewRoutes:
    """``GET /api/v1/reviews/draw``, ``…/stats``, ``…/cases`` and ``POST /api/v1/reviews``; all name the tenants.

    Answers are those with ``ts`` from ``since`` to ``until``, the last four weeks when not given, of every ``intent``
    named and of ``tier``.
    """

    store: Store
    now: Callable[[], datetime]
    salt: Callable[[], bytes | None]

    def add(self, app: web.Application) -> None:
        """Add the routes."""
        app.router.add_get("/api/v1/reviews/draw", self.draw)
        app.router.add_get("/api/v1/reviews/stats", self.stats)
        app.router.add_get("/api/v1/reviews/cases", self.cases)
        app.router.add_post("/api/v1/reviews", self.take)

    async def draw(self, request: web.Request) -> web.Response:
        """Rows to label: ``kind`` of them, ``limit``, ``flagged_share``, ``fingerprint``, ``reviewer``, ``unblinded``.

        The kind ``named`` takes ``trace``, once for each.
        """
        wanted = Wanted(
            answers=self._answers(request),
            count=limit(request, PER_WEEK, MOST),
            flagged_share=_share(request),
            fingerprint=request.query.get("fingerprint", ""),
            kind=word(request, "kind", Kind) or Kind.DRAWN,
            reviewer=request.query.get("reviewer", ""),
            is_blind=not flag(request, "unblinded"),
            trace_ids=tuple(request.query.getall("trace", [])),
        )
        try:
            rows = await asyncio.to_thread(export, self.store, wanted, self._salt(), tenants(request))
        except NotReached as error:
            return problem(404, str(error))
        return json_answer([dump(row) for row in rows])

    async def take(self, request: web.Request) -> web.Response:
        """Labels of reviewers; what became of them, with the faults for which none was taken."""
        try:
            body = GivenLabels.model_validate_json(await request.read())
        except ValidationError as error:
            raise ConfigError(f"labels: {invalid_message(error).detail}") from error
        defaults = Defaults(self.now(), body.reviewer, body.is_adjudication)
        done = await asyncio.to_thread(
            import_labels,
            self.store,
            body.rows,
            self._salt(),
            defaults,
            tenants(request),
            check_only=body.check_only,
        )
        return json_answer(dump(done))

    async def stats(self, request: web.Request) -> web.Response:
        """``fingerprint``, ``seed``: corrected rates, agreement, disagreements."""
        seed = request.query.get("seed", "0")
        if not seed.isascii() or not seed.isdecimal():
            raise ConfigError("seed: give a whole number from 0")
        wanted = StatsWanted(self._answers(request), request.query.get("fingerprint", ""), int(seed))
        found = await asyncio.to_thread(review_stats, self.store, wanted, tenants(request))
        return json_answer(dump(found))

    async def cases(self, request: web.Request) -> web.Response:
        """Labelled answers as golden cases, and why others are none."""
        found, refused = await asyncio.to_thread(golden_cases, self.store, self._answers(request), tenants(request))
        return json_answer({"cases": [json.loads(case.model_dump_json()) for case in found], "refused": refused})

    def _answers(self, request: web.Request) -> ReviewFilter:
        default = rolling(self.now())
        since, until = moment(request, "since") or default.since, moment(request, "until") or default.until
        if since >= until:
            raise ConfigError("since must be before until")
        intents = tuple(request.query.getall("intent", []))
        return ReviewFilter(since, until, intents, word(request, "tier", RiskTier))

    def _salt(self) -> bytes:
        salt = self.salt()
        if salt is None:
            raise ConfigError("the salt of the draw is not known yet; wait until ingest has started")
        return salt


def _share(request: web.Request) -> float:
    text = request.query.get("flagged_share", str(FLAGGED_SHARE))
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise ConfigError(f"flagged_share = {text[:20]!r}: give a share from 0 to 1")
    return share
