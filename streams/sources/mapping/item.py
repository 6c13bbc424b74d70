"""One item of a mapped document while it is read: its fields by expression, and what had to be flagged on the way."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import Any

from schemas.errors import InvalidMessage
from schemas.span import Feedback
from schemas.trace import MAX_ITEMS, MAX_NAME_CHARS
from streams.sources.conventions import flat_values
from streams.sources.conventions.values import as_text, name, parsed, texts
from streams.sources.lookup import Lookup
from streams.sources.mapping.expressions import Expression
from streams.sources.mapping.moments import Zone, moment_of
from streams.sources.own_calls import is_own_document
from streams.sources.raw import Json, RawSpan

_MAX_FLAGS = 16
_MAX_FLAG_CHARS = 64


@dataclass(slots=True)
class Item:
    """``False`` counts as nothing said, so that ``condition && value`` works as an expression of any field."""

    content: dict[str, Any]
    fields: Mapping[str, Expression]
    fixes: Mapping[str, str]
    zone: Zone
    recorded_at: datetime
    flags: set[str] = field(default_factory=set)

    def value(self, key: str) -> Json:
        """What the field's expression gives; None where there is none, and, flagged, where it could not be applied."""
        expression = self.fields.get(key)
        if expression is None:
            return None
        try:
            found = expression.of(self.content)
        except ValueError:
            self.flags.add("wrong_shape")
            return None
        return None if found is False else found

    def required_id(self, key: str) -> str:
        """An id that the item must have. Raises InvalidMessage (missing_field, wrong_type, too_large)."""
        expression = self.fields[key]
        try:
            found = expression.of(self.content)
        except ValueError as error:
            raise InvalidMessage("wrong_type", f"{key}: {error} in {expression.source!r}") from error
        if found is None or found is False or found == "":
            fix = self.fixes.get(key) or f"the mapping looks for {expression.source!r}"
            raise InvalidMessage("missing_field", f"{key}: {fix}")
        wrong: set[str] = set()
        text = name(found, wrong)
        if wrong or not text:
            raise InvalidMessage("wrong_type", f"{key}: {type(found).__name__} where an id is text or a number")
        if len(text) > MAX_NAME_CHARS:
            raise InvalidMessage("too_large", f"{key}: {len(text)} characters; an id has at most {MAX_NAME_CHARS}")
        return text

    def name(self, key: str) -> str:
        """A name or id, empty where there is none; one of more than 256 characters is dropped, flagged."""
        text = name(self.value(key), self.flags)
        if len(text) <= MAX_NAME_CHARS:
            return text
        self.flags.add("name_dropped")
        return ""

    def parent_id(self) -> str:
        """The parent's id, empty for a root; one that is no id stays in some form, so as not to look like a root."""
        found = self.value("parent_id")
        if found is None or found == "":
            return ""
        return (name(found, self.flags) or type(found).__name__)[:MAX_NAME_CHARS]

    def names(self, *keys: str) -> dict[str, str]:
        """Those of the names that are stated."""
        return {key: text for key in keys if (text := self.name(key))}

    def moment(self, key: str) -> datetime | None:
        """A time in UTC."""
        return moment_of(self.value(key), self.zone, self.recorded_at, self.flags)

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of names."""
        return texts(self.value(key), self.flags)

    def feedback(self) -> tuple[Feedback, ...]:
        """What was said of the answer: a map or list of maps with name, value, comment and is_from_user."""
        found = parsed(self.value("feedback"), self.flags)
        items = found if isinstance(found, list) else [found]
        return tuple(said for item in islice(items, MAX_ITEMS) if (said := _feedback(item)) is not None)

    def is_judge(self) -> bool:
        """Whether this is somebody's evaluator, by the mapping's word, or a call of ours."""
        return bool(self.value("is_judge")) or is_own_document(self.content)

    def own_flags(self) -> tuple[str, ...]:
        """Flags that the mapping sets by an expression."""
        return tuple(text for text in self.texts("flags")[:_MAX_FLAGS] if len(text) <= _MAX_FLAG_CHARS)

    def lookup(self, attributes: Mapping[str, Json]) -> Lookup:
        """Where field rules look: attributes, metadata and tags, then the item itself by dotted path."""
        flat = flat_values(RawSpan("", "", attributes=attributes)) if attributes else {}
        return Lookup(self.content, parsed(self.value("metadata"), set()), texts(self.value("tags"), set()), flat)


def _feedback(item: Json) -> Feedback | None:
    if not isinstance(item, dict) or item.get("value") is None:
        return Feedback(name="", value=as_text(item)) if isinstance(item, (str, int, float)) else None
    comment = item.get("comment")
    return Feedback(
        name=name(item.get("name"), set()),
        value=as_text(item["value"]),
        comment=comment if isinstance(comment, str) else "",
        is_from_user=item.get("is_from_user") is not False,
    )
