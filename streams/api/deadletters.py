"""Replaying dead letters for commands, in the process that owns the store; a command asks for some hundreds a time."""

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from aiohttp import web

from schemas.errors import ConfigError
from streams.api.answers import dump, json_answer
from streams.deadletters.letters import Position
from streams.deadletters.replaying import Outcome

MOST = 500
PATH = "/api/v1/deadletters/replay"
Replay = Callable[[Sequence[Position]], Awaitable[list[Outcome]]]


@dataclass(frozen=True, slots=True)
class DeadletterRoutes:
    """``POST /api/v1/deadletters/replay``."""

    replay: Replay

    def add(self, app: web.Application) -> None:
        """Add the route."""
        app.router.add_post(PATH, self.replayed)

    async def replayed(self, request: web.Request) -> web.Response:
        """``{"letters": ["0:12", …]}``, at most 500: what became of each; ids that are not there are left out."""
        return json_answer([dump(outcome) for outcome in await self.replay(_positions(await request.read()))])


def _positions(body: bytes) -> list[Position]:
    try:
        given = json.loads(body)
        letters = given["letters"]
    except (ValueError, RecursionError, TypeError, KeyError) as error:
        raise ConfigError('the body must be JSON such as {"letters": ["0:12"]}') from error
    if not isinstance(letters, list) or not 1 <= len(letters) <= MOST:
        raise ConfigError(f"letters: give 1 to {MOST} of them")
    return [Position.parse(str(text)) for text in letters]
