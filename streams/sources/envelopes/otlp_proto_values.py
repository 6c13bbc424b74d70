"""Values of OTLP protobuf as plain JSON."""

from base64 import b64encode
from collections.abc import Callable, Sequence
from itertools import islice
from math import isfinite

from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue

from streams.sources.envelopes.otlp_values import MAX_ITEMS, MAX_VALUE_DEPTH
from streams.sources.raw import Json


def attributes_of(pairs: Sequence[KeyValue], flags: set[str]) -> dict[str, Json]:
    """Attributes as a map; the last of equal keys wins, as it does in JSON."""
    return _map(pairs, flags, MAX_VALUE_DEPTH)


def value_of(value: AnyValue, flags: set[str], depth_left: int = MAX_VALUE_DEPTH) -> Json:
    """An AnyValue as plain JSON: bytes as base64 text; NaN and infinity as None.

    Flags ``cut_values`` where a limit cut something off.
    """
    kind = value.WhichOneof("value")
    if kind == "string_value":
        return value.string_value
    read = _READERS.get(kind or "")
    return None if read is None else read(value, flags, depth_left)


def _double(value: AnyValue, _flags: set[str], _depth: int) -> float | None:
    return value.double_value if isfinite(value.double_value) else None


def _array(value: AnyValue, flags: set[str], depth_left: int) -> list[Json] | None:
    items = value.array_value.values
    if depth_left == 0 or len(items) > MAX_ITEMS:
        flags.add("cut_values")
    if depth_left == 0:
        return None
    return [value_of(item, flags, depth_left - 1) for item in islice(items, MAX_ITEMS)]


def _kvlist(value: AnyValue, flags: set[str], depth_left: int) -> dict[str, Json] | None:
    if depth_left == 0:
        flags.add("cut_values")
        return None
    return _map(value.kvlist_value.values, flags, depth_left - 1)


def _map(pairs: Sequence[KeyValue], flags: set[str], depth_left: int) -> dict[str, Json]:
    if len(pairs) > MAX_ITEMS:
        flags.add("cut_values")
        pairs = pairs[:MAX_ITEMS]
    return {pair.key: value_of(pair.value, flags, depth_left) for pair in pairs}


_READERS: dict[str, Callable[[AnyValue, set[str], int], Json]] = {
    "int_value": lambda value, _flags, _depth: value.int_value,
    "bool_value": lambda value, _flags, _depth: value.bool_value,
    "double_value": _double,
    "bytes_value": lambda value, _flags, _depth: b64encode(value.bytes_value).decode("ascii"),
    "array_value": _array,
    "kvlist_value": _kvlist,
}
