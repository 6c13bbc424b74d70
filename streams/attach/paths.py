"""Every place of a message where mapping rules can look, with its value: attributes of spans, items of mapped JSON.

The decoder keeps what it understands; a proposal needs what it does not.
"""

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from functools import cache
from itertools import islice
from typing import Any

from schemas.errors import InvalidMessage
from schemas.trace import MAX_NAME_CHARS
from streams.attach.reading import Seen
from streams.sources.conventions import flat_values
from streams.sources.conventions.values import parsed, texts
from streams.sources.envelopes import jaeger, otlp_json
from streams.sources.envelopes.jaeger_proto import decode_jaeger_proto
from streams.sources.envelopes.otlp_proto import decode_otlp_proto
from streams.sources.json_text import clean, load
from streams.sources.mapping import PRESETS, Mapper, preset
from streams.sources.mapping.item import Item
from streams.sources.raw import RawSpan
from streams.sources.sniffing import Encoding
from streams.sources.wire import Framed, unwrap

MAX_ITEMS = 2_000
"""Spans or items of a message that are looked at."""
MAX_DEPTH = 6
MAX_PATHS = 400
"""Paths of an item."""
_ANY_TIME = datetime(1970, 1, 1, tzinfo=UTC)

Places = Mapping[str, str]
"""Path to value, as text."""


def places_in(seen: Seen, max_bytes: int) -> Iterator[tuple[str, Places]]:
    """By trace id, empty where the item does not say, the places of each span or item. Never raises."""
    try:
        value = unwrap(seen.message.value or b"", max_bytes)
        if isinstance(value, Framed):
            return
        yield from _spans(seen.encoding, value) if _holds_spans(seen.encoding) else _items(seen.encoding, value)
    except InvalidMessage:
        return


def _holds_spans(encoding: str) -> bool:
    return encoding.startswith(("otlp", "jaeger"))


def _spans(encoding: str, value: bytes) -> Iterator[tuple[str, Places]]:
    for raw in islice(_raw_spans(encoding, value), MAX_ITEMS):
        flat = flat_values(raw)
        yield raw.trace_id, {path: text for path, item in flat.items() if (text := _text(item))}


def _raw_spans(encoding: str, value: bytes) -> Iterator[RawSpan]:
    if encoding == Encoding.OTLP_PROTO:
        yield from decode_otlp_proto(value).spans
    elif encoding == Encoding.JAEGER_PROTO:
        yield from decode_jaeger_proto(value).spans
    else:
        document, is_dirty = load(value)
        module = jaeger if encoding == Encoding.JAEGER_JSON else otlp_json
        yield from module.envelope_of(document, is_dirty=is_dirty).spans


def _items(encoding: str, value: bytes) -> Iterator[tuple[str, Places]]:
    document, is_dirty = load(value)
    documents = document if isinstance(document, list) else [document]
    mapper = _mapper(encoding)
    for one in documents:
        found_items: Iterator[Item | dict[str, Any]] = _mapped(mapper, one) if mapper else _itself(one)
        for item in islice(found_items, MAX_ITEMS):
            content: dict[str, Any] = item.content if isinstance(item, Item) else item
            named: Callable[[str], Any] = item.value if isinstance(item, Item) else item.get
            common = dict(_common(named("metadata"), named("tags")))
            places = dict(islice(_walk("", content, MAX_DEPTH), MAX_PATHS)) | common
            yield _trace_id(item), clean(places)[0] if is_dirty else places


def _common(metadata: Any, tags: Any) -> Iterator[tuple[str, str]]:
    """What rules find under the same names in every format."""
    fields = parsed(metadata, set())
    if isinstance(fields, dict):
        yield from islice(_walk("metadata.", fields, MAX_DEPTH), MAX_PATHS)
    names = texts(tags, set())
    if joined := _text(list(names)):
        yield "tags", joined
    for tag in names[:MAX_PATHS]:
        name, mark, value = tag.partition(":" if ":" in tag else "=")
        if mark and name.strip() and _text(value.strip()):
            yield f"tags.{name.strip()}", value.strip()


@cache
def _mapper(encoding: str) -> Mapper | None:
    return preset(encoding) if encoding in PRESETS else None


def _mapped(mapper: Mapper, document: Any) -> Iterator[Item]:
    """The items as rules for fields see them."""
    for member in mapper.members:
        try:
            found = member.items.of(document)
        except ValueError:
            continue
        group = next((group for group in member.groups if not group.is_ignored), None)
        for content in found if isinstance(found, list) else [found]:
            if isinstance(content, dict) and group is not None:
                yield Item(content, group.fields, mapper.fixes, mapper.zone, _ANY_TIME)


def _itself(document: Any) -> Iterator[dict[str, Any]]:
    if isinstance(document, dict):
        yield document


def _trace_id(item: Item | Mapping[str, Any]) -> str:
    if isinstance(item, Item):
        try:
            return item.required_id("trace_id")
        except (InvalidMessage, KeyError):
            return ""
    found = item.get("trace_id")
    return found if isinstance(found, str) else ""


def _walk(prefix: str, content: Mapping[str, Any], depth: int) -> Iterator[tuple[str, str]]:
    for key, value in content.items():
        path = f"{prefix}{key}"
        if isinstance(value, dict) and depth > 1:
            yield from _walk(f"{path}.", value, depth - 1)
        elif text := _text(value):
            yield path, text


def _text(value: Any) -> str:
    """A short text, a number, or a list of such joined; anything else is no name."""
    if isinstance(value, list):
        parts = [_text(item) for item in value[:5]]
        value = ",".join(parts) if all(parts) else ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    return value if isinstance(value, str) and 0 < len(value) <= MAX_NAME_CHARS else ""
