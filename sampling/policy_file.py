"""A policy as people write it: one YAML file, checked whole before it is published, unknown keys refused.

Messages on topics ignore unknown fields; a file does not, because a misspelt key would silently change who is drawn.
"""

import json
from collections.abc import Iterator
from datetime import datetime
from difflib import get_close_matches
from hashlib import blake2b
from importlib.resources import files
from types import UnionType
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from sampling.policy_checks import problems
from sampling.policy_yaml import Located, Path, dotted, load
from schemas.errors import ConfigError
from schemas.policy import Overlay, PolicyDocument

MAX_COMPLAINTS = 5


def parse_policy(text: str) -> PolicyDocument:
    """The policy in a YAML text. Raises ConfigError: one line per fault, naming line, key, value and fix."""
    located = load(text)
    if not isinstance(located.data, dict):
        message = "line 1: a policy file is a mapping; begin with 'name:', as in the default policy"
        raise ConfigError(message)
    try:
        document = PolicyDocument.model_validate_json(json.dumps(located.data), strict=True, extra="forbid")
    except ValidationError as error:
        faults = [_fault(located, detail) for detail in error.errors(include_url=False)]
        raise _refused(faults) from error
    faults = [f"line {located.line(path)}: {dotted(path)}{fault}" for path, fault in problems(document)]
    if faults:
        raise _refused(faults)
    return document


def default_policy() -> PolicyDocument:
    """The policy that holds until another one is applied."""
    return parse_policy(default_policy_text())


def default_policy_text() -> str:
    """The annotated file behind ``default_policy``, a starting point for one's own."""
    return (files("sampling") / "default_policy.yaml").read_text("utf-8")


def policy_id_of(document: PolicyDocument, published_at: datetime | None) -> str:
    """``p`` and 10 hex digits over content and time of publication.

    Give None for the first policy, the one without a beginning: processes that start at once then agree on its id.
    """
    return "p" + _digest(document, published_at)


def overlay_id_of(overlay: Overlay, published_at: datetime) -> str:
    """First letter of the reason and 10 hex digits over content and time of publication."""
    return overlay.reason.value[0] + _digest(overlay, published_at)


def _digest(record: PolicyDocument | Overlay, published_at: datetime | None) -> str:
    content = json.dumps(record.model_dump(mode="json", exclude_defaults=True), sort_keys=True)
    moment = "" if published_at is None else str(published_at.timestamp())
    return blake2b(f"{content}\n{moment}".encode(), digest_size=5).hexdigest()


def _refused(faults: list[str]) -> ConfigError:
    shown = faults[:MAX_COMPLAINTS]
    if len(faults) > len(shown):
        shown.append(f"and {len(faults) - len(shown)} more")
    return ConfigError("\n".join(shown))


def _fault(located: Located, detail: ErrorDetails) -> str:
    path: Path = tuple(part for part in detail["loc"] if part != "[key]")
    start = f"line {located.line(path)}: {dotted(path)}"
    if detail["type"] == "extra_forbidden":
        return f"{start} is not a key; {_known_keys(path)}"
    if detail["type"] == "missing":
        return f"{start} is missing; add it"
    if detail["type"] == "value_error":
        return f"{start}: {detail['ctx']['error']}"
    return f"{start} = {json.dumps(detail['input'])[:60]}: {_lower_first(detail['msg'])}"


def _lower_first(text: str) -> str:
    return text[:1].lower() + text[1:]


def _known_keys(path: Path) -> str:
    """What could have been meant: the nearest known key beside the wrong one, where the key belongs, or all of them."""
    *parents, wrong = path
    known = sorted(next(_models_at(PolicyDocument, parents), PolicyDocument).model_fields)
    near = get_close_matches(str(wrong), known, n=1)
    if near:
        return f"did you mean {near[0]}?"
    elsewhere = [place for place, model in _parts(PolicyDocument, ()) if wrong in model.model_fields]
    belongs = f"it belongs under {' or '.join(elsewhere)}; " if elsewhere else ""
    return f"{belongs}known keys: {', '.join(known)}"


def _parts(model: type[BaseModel], at: Path) -> Iterator[tuple[str, type[BaseModel]]]:
    """Every model below ``model`` that has a key of its own, with the path that leads there (``*`` for any key)."""
    for name, field in model.model_fields.items():
        for inner in _models_in(field.annotation):
            is_map = get_origin(field.annotation) is dict
            below = (*at, name, "*") if is_map else (*at, name)
            yield dotted(below), inner
            yield from _parts(inner, below)


def _models_in(kind: Any) -> Iterator[type[BaseModel]]:
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        yield kind
    for argument in get_args(kind):
        yield from _models_in(argument)


def _models_at(kind: Any, parents: list[str | int]) -> Iterator[type[BaseModel]]:
    """The models that the type at ``parents`` may be, following fields, items of tuples and values of dicts."""
    if get_origin(kind) in {Union, UnionType}:
        for option in get_args(kind):
            yield from _models_at(option, parents)
    elif isinstance(kind, type) and issubclass(kind, BaseModel):
        if not parents:
            yield kind
        elif parents[0] in kind.model_fields:
            yield from _models_at(kind.model_fields[str(parents[0])].annotation, parents[1:])
    elif parents and get_args(kind):
        inner = get_args(kind)[1] if get_origin(kind) is dict else get_args(kind)[0]
        yield from _models_at(inner, parents[1:])
