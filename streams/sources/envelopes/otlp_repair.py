"""OTLP messages that the strict parser refuses: each span is taken by itself, and broken text in it is mended.

Collectors write text without checking it, so that a value cut within a character makes a whole batch unreadable for
a strict parser. The same schema with ``bytes`` in place of ``string`` reads it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Any, TypeVar

from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass
from opentelemetry.proto.common.v1 import common_pb2
from opentelemetry.proto.logs.v1 import logs_pb2
from opentelemetry.proto.resource.v1 import resource_pb2
from opentelemetry.proto.trace.v1 import trace_pb2

from streams.sources.envelopes.otlp_values import MAX_SPANS
from streams.sources.envelopes.protobuf_wire import LENGTH, fields

M = TypeVar("M", bound=Message)
_EMPTY = memoryview(b"")


@dataclass(frozen=True, slots=True)
class Piece:
    """The bytes of one span or log record with those of its resource and scope; ``is_cut`` when it has no end."""

    resource: memoryview
    scope: memoryview
    record: memoryview
    is_cut: bool


def pieces(value: bytes) -> Iterator[Piece]:
    """Every span or log record that can be found, whatever is wrong with the others.

    Where the message is broken between records, a last empty piece, which is cut, stands for what was lost.
    """
    is_cut = is_told = has_some = False
    for outer in islice(fields(memoryview(value)), MAX_SPANS):
        is_cut |= outer.is_cut
        if (outer.number, outer.wire_type) != (1, LENGTH):
            continue
        resource = _first(outer.data)
        for middle in islice(fields(outer.data), MAX_SPANS):
            is_cut |= middle.is_cut
            if (middle.number, middle.wire_type) != (2, LENGTH):
                continue
            scope = _first(middle.data)
            for inner in fields(middle.data):
                is_cut |= inner.is_cut
                if (inner.number, inner.wire_type) == (2, LENGTH):
                    has_some, is_told = True, is_told or inner.is_cut
                    yield Piece(resource, scope, inner.data, inner.is_cut)
    if has_some and is_cut and not is_told:
        yield Piece(_EMPTY, _EMPTY, _EMPTY, is_cut=True)


def _first(message: memoryview) -> memoryview:
    """Field 1: the resource of a group, or its scope, which writers put first; the search ends where spans begin."""
    for item in fields(message):
        if item.number == 1:
            return item.data
        if item.number == 2:  # noqa: PLR2004  the records
            break
    return _EMPTY


def parse_mending(kind: type[M], data: memoryview) -> tuple[M, bool]:
    """The message, and whether broken text in it was mended. Raises DecodeError."""
    value = bytes(data)
    try:
        return kind.FromString(value), False
    except DecodeError:
        lenient = _lenient(kind.DESCRIPTOR.full_name).FromString(value)
    _mend(lenient)
    return kind.FromString(lenient.SerializeToString()), True


def _mend(message: Message) -> None:
    """Make UTF-8 of every field that is text in the strict schema."""
    texts = _text_fields(message.DESCRIPTOR.full_name)
    for field, value in message.ListFields():
        if field.message_type is not None:
            for part in [value] if isinstance(value, Message) else value:
                _mend(part)
        elif field.name in texts:
            if isinstance(value, bytes):
                setattr(message, field.name, _utf8(value))
            else:
                value[:] = [_utf8(item) for item in value]


def _utf8(value: bytes) -> bytes:
    return value.decode("utf-8", "replace").encode()


@cache
def _pool() -> tuple[DescriptorPool, dict[str, frozenset[str]]]:
    """The schema with bytes for text, and the fields of each message that are text by right."""
    pool, texts = DescriptorPool(), {}
    for module in (common_pb2, resource_pb2, trace_pb2, logs_pb2):
        file = FileDescriptorProto()
        module.DESCRIPTOR.CopyToProto(file)
        for name, message in _messages(file.package, file.message_type):
            strings = [field for field in message.field if field.type == FieldDescriptorProto.TYPE_STRING]
            texts[name] = frozenset(field.name for field in strings)
            for field in strings:
                field.type = FieldDescriptorProto.TYPE_BYTES
        pool.Add(file)
    return pool, texts


def _messages(prefix: str, messages: Any) -> Iterator[tuple[str, DescriptorProto]]:
    for message in messages:
        name = f"{prefix}.{message.name}"
        yield name, message
        yield from _messages(name, message.nested_type)


def _text_fields(name: str) -> frozenset[str]:
    return _pool()[1][name]


@cache
def _lenient(name: str) -> type[Message]:
    return GetMessageClass(_pool()[0].FindMessageTypeByName(name))
