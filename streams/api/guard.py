"""Who gets in, and what a refusal looks like, the same for every server of ours."""

import hmac
from collections.abc import Sequence
from dataclasses import dataclass, field

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from schemas.errors import ConfigError, GroundwatchError, Retryable
from streams.api.answers import problem

Route = tuple[str, str]
"""Method and path."""
LOOPBACK = {"127.0.0.1", "localhost", "[::1]"}


@dataclass(frozen=True, slots=True)
class Key:
    """A token that opens these routes and nothing else; empty, it opens none."""

    token: str = field(repr=False)
    routes: frozenset[Route]


@dataclass(frozen=True, slots=True)
class Guard:
    """The middlewares of a server at ``host``; ``token`` opens every API route, each of ``keys`` its own.

    Pages and the routes of ``public`` are open to whoever reaches the port.
    """

    host: str
    token: str = field(repr=False)
    keys: Sequence[Key] = ()
    public: frozenset[Route] = frozenset()

    def middlewares(self) -> list[Middleware]:
        """In the order in which a request meets them."""
        return [self._only_our_host, self._errors_as_json, self._need_token]

    @web.middleware
    async def _only_our_host(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """A page on another site must not reach us through a name that it makes point to 127.0.0.1."""
        name = request.host.rsplit(":", 1)[0] if not request.host.endswith("]") else request.host
        if self.host in LOOPBACK and name not in LOOPBACK:
            raise web.HTTPMisdirectedRequest(text="unknown host; use http://127.0.0.1\n")
        return await handler(request)

    @web.middleware
    async def _need_token(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        if _is_api(request) and not self._may(request):
            return problem(401, "send the token of run.json as 'Authorization: Bearer …'")
        return await handler(request)

    def _may(self, request: web.Request) -> bool:
        route = (request.method, request.path)
        given = request.headers.get("Authorization", "").removeprefix("Bearer ")
        opening = [self.token, *(key.token for key in self.keys if route in key.routes)]
        return route in self.public or any(_same(given, token) for token in opening)

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
