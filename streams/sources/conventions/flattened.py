"""Lists that a convention flattens into keys, as in ``retrieval.documents.0.document.id``.

Limits on attributes leave holes in the indexes, and exporters do not keep the order, so indexes are sorted as numbers.
"""

import re
from collections.abc import Mapping
from itertools import islice

from schemas.trace import MAX_ITEMS
from streams.sources.raw import Json

_INDEX = re.compile(r"([0-9]{1,9})(?:\.(.+))?", re.DOTALL)


def items(attributes: Mapping[str, Json], prefix: str, flags: set[str]) -> list[dict[str, Json]]:
    """The items below ``prefix`` in the order of their indexes, each with what follows the index as its keys.

    An item that has no keys of its own holds its value under the empty key. At most 10,000; more is ``cut_values``.
    """
    start = f"{prefix}."
    found: dict[int, dict[str, Json]] = {}
    for key, value in attributes.items():
        if not key.startswith(start):
            continue
        match = _INDEX.fullmatch(key, len(start))
        if match:
            found.setdefault(int(match[1]), {})[match[2] or ""] = value
    if len(found) > MAX_ITEMS:
        flags.add("cut_values")
    return [found[index] for index in islice(sorted(found), MAX_ITEMS)]


def without_prefix(item: Mapping[str, Json], prefix: str) -> dict[str, Json]:
    """The item with ``prefix`` taken off the keys that have it."""
    return {key.removeprefix(prefix): value for key, value in item.items()}
