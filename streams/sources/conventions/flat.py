"""All that a span says beside its content, by dotted key: where mapping rules look for intent, tier and tenant."""

from collections.abc import Iterator, Mapping
from itertools import islice

from schemas.trace import MAX_ITEMS
from streams.sources.conventions.openllmetry import ASSOCIATION
from streams.sources.conventions.values import parsed, texts
from streams.sources.raw import Json, RawSpan

_METADATA = ("langfuse.trace.metadata", "langfuse.observation.metadata", "metadata")
"""Later ones win: what a span says of itself comes before what it says of its trace."""
_TAGS = ("tag.tags", "langfuse.trace.tags", "langfuse.tags", "tags")
_MAX_LEVELS = 4


def flat_values(raw: RawSpan) -> Mapping[str, Json]:
    """Attributes under their own keys, and beside them what is behind them under keys that do not depend on a format.

    ``resource.*``, ``metadata.*`` (JSON or Python's print, nested maps dotted, four levels), ``association.*``,
    ``tags`` (a list), ``tags.NAME`` for tags such as ``name:value``, ``name``, ``scope``. MLflow's values are decoded.
    An attribute of the same key wins. Never raises; linear.
    """
    found: dict[str, Json] = {"name": raw.name, "scope": raw.scope}
    found |= {f"resource.{key}": value for key, value in raw.resource.items()}
    found |= dict(islice(_tags(raw.attributes), MAX_ITEMS))
    for prefix in _METADATA:
        found |= dict(islice(_metadata(raw.attributes, prefix), MAX_ITEMS))
    for key, value in raw.attributes.items():
        if key.startswith(ASSOCIATION):
            found[f"association.{key.removeprefix(ASSOCIATION)}"] = value
        found[key] = parsed(value, set(), is_json=True) if key.startswith("mlflow.") else value
    return found


def _metadata(attributes: Mapping[str, Json], prefix: str) -> Iterator[tuple[str, Json]]:
    whole = parsed(attributes.get(prefix), set())
    if isinstance(whole, dict):
        yield from _dotted("metadata", whole, _MAX_LEVELS)
    start = f"{prefix}."
    for key, value in attributes.items():
        if key.startswith(start):
            content = parsed(value, set())
            own = f"metadata.{key.removeprefix(start)}"
            yield own, content
            if isinstance(content, dict):
                yield from _dotted(own, content, _MAX_LEVELS - 1)


def _dotted(prefix: str, content: Mapping[str, Json], levels: int) -> Iterator[tuple[str, Json]]:
    for key, value in content.items():
        yield f"{prefix}.{key}", value
        if isinstance(value, dict) and levels > 1:
            yield from _dotted(f"{prefix}.{key}", value, levels - 1)


def _tags(attributes: Mapping[str, Json]) -> Iterator[tuple[str, Json]]:
    tags = [tag for key in _TAGS for tag in texts(attributes.get(key), set())]
    if not tags:
        return
    yield "tags", tags
    for tag in tags:
        for mark in (":", "="):
            own, found, value = tag.partition(mark)
            if found and own.strip():
                yield f"tags.{own.strip()}", value.strip()
                break
