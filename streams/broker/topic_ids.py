"""The id that a topic gets when it is made: the one sign that tells a topic from another of the same name.

aiokafka speaks an older version of the metadata request, which has no ids; this is the tenth (Kafka 2.8 and newer).
"""

from io import BytesIO
from typing import Any

from aiokafka.protocol.abstract import AbstractType
from aiokafka.protocol.api import Request, RequestStruct, Response
from aiokafka.protocol.types import Boolean, CompactArray, CompactString, Int16, Int32, Schema, TaggedFields

_ID_BYTES = 16


class _Id(AbstractType[bytes]):  # type: ignore[misc]
    """Sixteen bytes."""

    @classmethod
    def encode(cls, value: bytes) -> bytes:
        """As they are."""
        return value

    @classmethod
    def decode(cls, data: BytesIO) -> bytes:
        """The next sixteen."""
        return data.read(_ID_BYTES)


_TEXT = CompactString("utf-8")
_BROKER = (("node_id", Int32), ("host", _TEXT), ("port", Int32), ("rack", _TEXT), ("tags", TaggedFields))
_PARTITION = (
    ("error_code", Int16),
    ("partition", Int32),
    ("leader", Int32),
    ("leader_epoch", Int32),
    ("replicas", CompactArray(Int32)),
    ("isr", CompactArray(Int32)),
    ("offline_replicas", CompactArray(Int32)),
    ("tags", TaggedFields),
)
_TOPIC = (
    ("error_code", Int16),
    ("topic", _TEXT),
    ("topic_id", _Id),
    ("is_internal", Boolean),
    ("partitions", CompactArray(*_PARTITION)),
    ("authorized_operations", Int32),
    ("tags", TaggedFields),
)


class _Answer(Response):  # type: ignore[misc]
    API_KEY = 3
    API_VERSION = 10
    SCHEMA = Schema(
        ("throttle_time_ms", Int32),
        ("brokers", CompactArray(*_BROKER)),
        ("cluster_id", _TEXT),
        ("controller_id", Int32),
        ("topics", CompactArray(*_TOPIC)),
        ("authorized_operations", Int32),
        ("tags", TaggedFields),
    )


class _Question(RequestStruct):  # type: ignore[misc]
    API_KEY = 3
    API_VERSION = 10
    FLEXIBLE_VERSION = True
    RESPONSE_TYPE = _Answer
    SCHEMA = Schema(
        ("topics", CompactArray(("topic_id", _Id), ("topic", _TEXT), ("tags", TaggedFields))),
        ("allow_auto_topic_creation", Boolean),
        ("include_cluster_authorized_operations", Boolean),
        ("include_topic_authorized_operations", Boolean),
        ("tags", TaggedFields),
    )


class TopicIdsRequest(Request[_Question]):  # type: ignore[misc]
    """Asks for all topics; names none, so none is made by asking."""

    API_KEY = 3

    def build(self, request_struct_class: type[_Question]) -> _Question:
        """The one version that this knows; where a broker has no such, sending raises."""
        return request_struct_class(None, False, False, False, {})  # noqa: FBT003  fields of the protocol, in its order


def ids_of(answer: Any) -> dict[str, bytes]:
    """Topic ids by name."""
    return {str(name): topic_id for code, name, topic_id, *_ in answer.topics if not code and name}
