"""The forms in which models send a JSON object although they were told one: any sane one is read, prose never is.

Nothing is fished out of a text: a reply is JSON from its first sign to its last, or JSON in one code fence.
"""

import json
import re
from collections.abc import Iterable
from typing import Any

from detectors.replies import ReplyRefused, without_fence

_THOUGHT = re.compile(r"\s*<think>.*?</think>", re.DOTALL)
"""Models that reason aloud put it in front, where the server does not take it off."""
_KEYS = frozenset({"label", "verdict"})
_SAME = {"verdict": "label", "explanation": "reason", "reasons": "reason", "rationale": "reason"}
_MOST_LEVELS = 4


def objects_in(reply: str) -> list[dict[str, Any]]:
    """The objects with a verdict, their keys as the prompt names them. Raises ReplyRefused (``parse``).

    Read are an object, a list of objects, and either inside of one more (``{"result": {…}}``, ``{"claims": […]}``);
    what stands beside the inner one belongs to it.
    """
    found = [_named(item) for item in _unwrapped(_loaded(reply), {}, _MOST_LEVELS)]
    if not found:
        raise _not_one()
    return found


def _loaded(reply: str) -> Any:
    text = without_fence(_THOUGHT.sub("", reply, count=1)).lstrip("\ufeff")
    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise ReplyRefused("parse", "the reply is not one JSON object and nothing else") from error


def _object(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Two values under one name are two verdicts. Raises ValueError."""
    found: dict[str, Any] = {}
    for name, value in pairs:
        key = name.strip().lower()
        if key in found:
            raise ValueError(key)
        found[key] = value
    return found


def _no_number(name: str) -> None:
    raise ValueError(name)


def _unwrapped(value: Any, beside: dict[str, Any], levels: int) -> list[dict[str, Any]]:
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value) and levels:
        return [found for item in value for found in _unwrapped(item, beside, levels - 1)]
    if not isinstance(value, dict):
        raise _not_one()
    if any(isinstance(value.get(key), str) for key in _KEYS):
        return [{**beside, **value}]
    inner = [key for key, held in value.items() if _is_holder(held)]
    if len(inner) != 1 or not levels:
        raise _not_one()
    return _unwrapped(value[inner[0]], {**beside, **{k: v for k, v in value.items() if k != inner[0]}}, levels - 1)


def _is_holder(value: Any) -> bool:
    return isinstance(value, dict) or (
        isinstance(value, list) and bool(value) and all(isinstance(item, dict) and "id" not in item for item in value)
    )


def _named(item: dict[str, Any]) -> dict[str, Any]:
    """Raises ReplyRefused where two names of one thing stand side by side and differ."""
    found: dict[str, Any] = {}
    for key, value in item.items():
        name = _SAME.get(key, key)
        if name in found and found[name] != value:
            raise ReplyRefused("parse", f'"{name}" is given twice')
        found[name] = value
    return found


def _not_one() -> ReplyRefused:
    return ReplyRefused("parse", 'the reply is not one JSON object with a "label"')
