"""Queries in and JSON out, the same for every route; what is wrong in a query is named with what would be right."""

from datetime import datetime
from enum import StrEnum
from typing import Any, TypeVar

from aiohttp import web
from pydantic import TypeAdapter, ValidationError

from schemas.base import Record, UtcDatetime
from schemas.errors import ConfigError
from streams.store import ALL_TENANTS, Tenants

W = TypeVar("W", bound=StrEnum)
_MOMENT: TypeAdapter[datetime] = TypeAdapter(UtcDatetime)
_MOST = 1000


def dump(record: Record) -> Any:
    """The JSON of a record."""
    return record.model_dump(mode="json")


def json_answer(body: Any, status: int = 200) -> web.Response:
    """A body of JSON."""
    return web.json_response(body, status=status)


def problem(status: int, text: str) -> web.Response:
    """A refusal: ``{"error": text}``."""
    return web.json_response({"error": text}, status=status)


def moment(request: web.Request, name: str) -> datetime | None:
    """A time of the query, None when it is not given. Raises ConfigError unless it has a time zone."""
    text = request.query.get(name)
    if text is None:
        return None
    try:
        return _MOMENT.validate_python(text)
    except ValidationError as error:
        raise ConfigError(f"{name}: give a time with its zone, such as 2026-03-10T12:00:00Z") from error


def limit(request: web.Request, default: int, most: int = _MOST) -> int:
    """How many rows are asked for, at most ``most``. Raises ConfigError for what is no positive number."""
    text = request.query.get("limit", str(default))
    if not text.isascii() or not text.isdecimal() or not int(text):
        raise ConfigError(f"limit: give a number from 1 to {most}")
    return min(int(text), most)


def word(request: web.Request, name: str, known: type[W]) -> W | None:
    """A word of a vocabulary, None when it is not given. Raises ConfigError naming the words there are."""
    text = request.query.get(name)
    if text is None:
        return None
    return one_of(text, name, known)


def one_of(text: str, name: str, known: type[W]) -> W:
    """``text`` as a word of ``known``. Raises ConfigError naming the words there are."""
    try:
        return known(text)
    except ValueError as error:
        raise ConfigError(f"{name} = {text[:40]!r}: use one of {', '.join(known)}") from error


def flag(request: web.Request, name: str) -> bool:
    """A yes or no of the query, no when it is not given. Raises ConfigError for any other word."""
    text = request.query.get(name, "false")
    if text not in {"true", "false"}:
        raise ConfigError(f"{name} = {text[:40]!r}: use true or false")
    return text == "true"


def tenants(request: web.Request) -> Tenants:
    """Whose traces may be read; never implied: ``tenants=all``, or ``tenant`` once for each. Raises ConfigError."""
    named = frozenset(request.query.getall("tenant", [])) - {""}
    if named:
        return named
    if request.query.get("tenants") == "all":
        return ALL_TENANTS
    raise ConfigError("say whose traces: tenant=NAME (may be repeated), or tenants=all")
