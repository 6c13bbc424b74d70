"""The check of single answers before they are sent, and the description of it for machines."""

from dataclasses import dataclass

from aiohttp import web

from schemas.errors import InvalidMessage
from streams.api.answers import json_answer, problem
from streams.inline.checker import Checker
from streams.inline.openapi import CHECK_PATH, OPENAPI_PATH, openapi_document
from streams.inline.reply import Unchecked, to_json
from streams.inline.request import read_request

CHECK_ROUTES = frozenset({("POST", CHECK_PATH)})
"""All that the token of `web.check_token` opens."""
PUBLIC_ROUTES = frozenset({("GET", OPENAPI_PATH)})
"""What needs no token: it says nothing of this deployment."""
_NOT_JSON = {"not_json", "too_deep"}
_RETRY_SECONDS = "1"


@dataclass(frozen=True, slots=True)
class CheckRoutes:
    """``POST /v1/check`` and ``GET /v1/openapi.json``."""

    checker: Checker
    max_body_bytes: int

    def add(self, app: web.Application) -> None:
        """Add the routes."""
        app.router.add_post(CHECK_PATH, self.check)
        app.router.add_get(OPENAPI_PATH, self.described)

    async def check(self, request: web.Request) -> web.Response:
        """The reply of docs/inline.md. Time counts from when the request has been read whole."""
        try:
            body = await request.clone(client_max_size=self.max_body_bytes).read()
        except web.HTTPRequestEntityTooLarge:
            text = f"the body is larger than {self.max_body_bytes} bytes (inline.max_body_bytes); send fewer passages"
            return problem(413, text)
        try:
            asked = read_request(body)
        except InvalidMessage as error:
            return problem(400 if error.reason in _NOT_JSON else 422, error.detail)
        reply = await self.checker.check(asked)
        is_busy = reply.reason is Unchecked.OVERLOADED
        return web.Response(
            body=to_json(reply, include_scores=asked.include_scores),
            status=503 if is_busy else 200,
            headers={"Retry-After": _RETRY_SECONDS} if is_busy else {},
            content_type="application/json",
        )

    async def described(self, _request: web.Request) -> web.Response:
        """The OpenAPI document."""
        return json_answer(openapi_document())
