"""Where rules for intent, tier and such look in a JSON document: metadata and tags under common names, else by path."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from streams.sources.conventions.values import parsed, texts
from streams.sources.raw import Json

_METADATA = "metadata."
_TAGS = "tags."


@dataclass(frozen=True, slots=True)
class Lookup:
    """A dotted path to a value, at the cost of the path whatever the size of the document.

    ``attributes`` (by full key) come first, then ``metadata.…``, ``tags`` and ``tags.NAME``, then the document.
    """

    content: Any
    metadata: Json = None
    tags: Sequence[str] = ()
    attributes: Mapping[str, Json] = field(default_factory=dict)

    @classmethod
    def of(cls, document: Json) -> "Lookup":
        """For a document that no mapping describes."""
        fields = document if isinstance(document, dict) else {}
        return cls(document, parsed(fields.get("metadata"), set()), texts(fields.get("tags"), set()))

    def __call__(self, path: str) -> Json:
        """The value, None where there is none."""
        found = self.attributes.get(path)
        if found is None and path.startswith(_METADATA):
            found = walk(self.metadata, path[len(_METADATA) :])
        if found is None and self.tags and path.startswith(_TAGS):
            found = _tagged(self.tags, path[len(_TAGS) :])
        if found is None and self.tags and path == "tags":
            return list(self.tags)
        return walk(self.content, path) if found is None else found


def walk(document: Any, path: str) -> Json:
    """What stands at a dotted path in a document: keys of maps, also such that hold dots, and numbers in lists."""
    here = document
    rest = path
    while rest:
        if isinstance(here, dict) and rest in here:
            return here[rest]
        part, _, rest = rest.partition(".")
        if isinstance(here, dict):
            here = here.get(part)
            if here is None:
                return None
        elif isinstance(here, list) and part.isdecimal() and len(part) <= 6:  # noqa: PLR2004 - no list is longer
            here = here[int(part)] if int(part) < len(here) else None
        else:
            return None
    return here


def _tagged(tags: Sequence[str], name: str) -> str | None:
    """The value of the first tag ``name:value`` or ``name=value``."""
    for tag in tags:
        for mark in (":", "="):
            own, found, value = tag.partition(mark)
            if found and own.strip() == name:
                return value.strip()
    return None
