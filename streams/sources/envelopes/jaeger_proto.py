"""Jaeger spans as protobuf, one a message. No package publishes Jaeger's schema, so its fields are named here.

The span is read into the JSON form of protobuf, which is the one that `jaeger` reads: both give the same raw span.
"""

from functools import cache

from google.protobuf import descriptor_pb2, duration_pb2, timestamp_pb2
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass

from schemas.errors import InvalidMessage
from streams.sources.envelopes.jaeger import envelope_of
from streams.sources.raw import Envelope

_Type = descriptor_pb2.FieldDescriptorProto
_SCALARS = {
    "string": _Type.TYPE_STRING,
    "bytes": _Type.TYPE_BYTES,
    "bool": _Type.TYPE_BOOL,
    "int64": _Type.TYPE_INT64,
    "int32": _Type.TYPE_INT32,
    "double": _Type.TYPE_DOUBLE,
}
_SCHEMA = {
    "KeyValue": "key=string v_type=int32 v_str=string v_bool=bool v_int64=int64 v_float64=double v_binary=bytes",
    "Log": "timestamp=.google.protobuf.Timestamp fields=*.gw.jaeger.KeyValue",
    "SpanRef": "trace_id=bytes span_id=bytes ref_type=int32",
    "Process": "service_name=string tags=*.gw.jaeger.KeyValue",
    "Span": (
        "trace_id=bytes span_id=bytes operation_name=string references=*.gw.jaeger.SpanRef flags=int32"
        " start_time=.google.protobuf.Timestamp duration=.google.protobuf.Duration tags=*.gw.jaeger.KeyValue"
        " logs=*.gw.jaeger.Log process=.gw.jaeger.Process"
    ),
}
"""Fields in the order of their numbers, which start at 1; ``*`` marks a list. Enumerations are read as numbers."""


def decode_jaeger_proto(value: bytes) -> Envelope:
    """One span. Raises InvalidMessage (``not_protobuf``) for what is none; without ids it is a problem."""
    try:
        span = _span_class().FromString(value)
        return envelope_of({"operationName": "", **MessageToDict(span)})
    except (DecodeError, ValueError) as error:
        raise InvalidMessage("not_protobuf", "the value is no Jaeger span; set the topic's decoder") from error


@cache
def _span_class() -> type[Message]:
    file = descriptor_pb2.FileDescriptorProto(name="gw/jaeger.proto", package="gw.jaeger", syntax="proto3")
    pool = DescriptorPool()
    for known in (timestamp_pb2, duration_pb2):
        file.dependency.append(known.DESCRIPTOR.name)
        pool.AddSerializedFile(known.DESCRIPTOR.serialized_pb)
    for name, fields in _SCHEMA.items():
        message = file.message_type.add(name=name)
        for number, (field, kind) in enumerate((text.split("=") for text in fields.split()), 1):
            added = message.field.add(name=field, number=number)
            added.label = _Type.LABEL_REPEATED if kind.startswith("*") else _Type.LABEL_OPTIONAL
            added.type = _SCALARS.get(kind, _Type.TYPE_MESSAGE)
            if kind not in _SCALARS:
                added.type_name = kind.removeprefix("*")
    pool.Add(file)
    return GetMessageClass(pool.FindMessageTypeByName("gw.jaeger.Span"))
