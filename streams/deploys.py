"""A deploy as people and pipelines mark it: what must be said, and what is refused with the fix.

Only versions that alerts can name are taken: a mistyped field would be a mark that nobody ever sees.
"""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from pydantic import TypeAdapter, ValidationError

from schemas.base import UtcDatetime
from schemas.errors import ConfigError
from schemas.trace import MAX_NAME_CHARS, Versions
from streams.store import Deploy

AHEAD = timedelta(minutes=5)
"""How far clocks may differ; a deploy that is still to come is marked when it happens."""
EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)
EVERY_INTENT = "*"
FIELDS = tuple(Versions.model_fields)
MAX_NOTE_CHARACTERS = 1000
MAX_AUTHOR_CHARACTERS = 80
_KEYS = ("at", "intent", "field", "value", "note", "author")
_EXAMPLE = '{"field": "model", "value": "m-2026-03"}'
_MOMENT: TypeAdapter[datetime] = TypeAdapter(UtcDatetime)


def read_deploy(body: bytes, now: datetime) -> Deploy:
    """The deploy that a JSON body marks. Raises ConfigError naming field and fix."""
    try:
        given = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"the body is not JSON; send for instance {_EXAMPLE}") from error
    if not isinstance(given, dict):
        raise ConfigError(f"the body is not a JSON object; send for instance {_EXAMPLE}")
    return deploy_of(given, now)


def deploy_of(given: Mapping[str, object], now: datetime) -> Deploy:
    """The deploy that is marked by ``field`` and ``value``, and perhaps ``at`` (else now), ``intent`` (else all),
    ``note`` and ``author``. Raises ConfigError naming field and fix.
    """  # noqa: D205  the keys do not fit into one line
    unknown = sorted(key for key in given if key not in _KEYS)
    if unknown:
        raise ConfigError(f"{unknown[0][:40]!r}: no such field; there are {', '.join(_KEYS)}")
    field = _text(given, "field", MAX_NAME_CHARS)
    if field not in FIELDS:
        raise ConfigError(
            f"field = {field[:40]!r}: use one of {', '.join(FIELDS)}; for any other change use app, and say in value "
            "what it is"
        )
    value = _text(given, "value", MAX_NAME_CHARS)
    if not value:
        raise ConfigError("value: say what is running from then on, such as m-2026-03")
    return Deploy(
        at=_moment(given.get("at"), now),
        intent=_text(given, "intent", MAX_NAME_CHARS) or EVERY_INTENT,
        field=field,
        value=value,
        note=_text(given, "note", MAX_NOTE_CHARACTERS),
        author=_text(given, "author", MAX_AUTHOR_CHARACTERS),
    )


def is_same(one: Deploy, other: Deploy) -> bool:
    """Whether both are the same deploy, told twice."""
    key = (one.at, one.intent, one.field, one.value)
    return key == (other.at, other.intent, other.field, other.value)


def _text(given: Mapping[str, object], name: str, longest: int) -> str:
    found = given.get(name)
    if found is None:
        return ""
    if not isinstance(found, str):
        raise ConfigError(f"{name}: give a text in quotes, not {type(found).__name__}")
    if len(found) > longest:
        raise ConfigError(f"{name}: {len(found)} characters; at most {longest}")
    return found.strip()


def _moment(found: object, now: datetime) -> datetime:
    if found is None:
        return now
    try:
        at = _MOMENT.validate_python(found if isinstance(found, str | datetime) else "")
    except ValidationError as error:
        raise ConfigError("at: give a time with its zone, such as 2026-03-10T12:00:00Z, or leave it out") from error
    if at > now + AHEAD:
        raise ConfigError(f"at: {at.isoformat()} is still to come; mark a deploy when it happens")
    if at < EARLIEST:
        raise ConfigError(f"at: {at.isoformat()} is before {EARLIEST.year}; the store keeps no such times")
    return at
