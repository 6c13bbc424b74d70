"""Values behind a schema id, against a small registry on this machine and with really encoded bytes."""

import json
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from io import BytesIO
from typing import Any
from uuid import UUID

import pytest
from fastavro import parse_schema, schemaless_writer
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.json_format import ParseDict
from google.protobuf.message_factory import GetMessageClass

from schemas.errors import ConfigError, InvalidMessage, RegistryUnavailable
from streams.sources.registry import documents, protobuf
from streams.sources.registry.client import Access, RegistryClient, Schema
from streams.sources.registry.documents import RegistryDocuments, check_installed
from streams.sources.wire import Framed
from tests.unit.sources.registry_server import FakeRegistry, running_registry


@pytest.fixture
def registry() -> Iterator[FakeRegistry]:
    """A running registry without schemas."""
    with running_registry() as fake:
        yield fake


@pytest.fixture
async def reader(registry: FakeRegistry) -> AsyncIterator[RegistryDocuments]:
    """What reads values with the schemas of that registry."""
    async with Access(registry.url).open() as http:
        yield RegistryDocuments(RegistryClient(http))


TRACE = {
    "type": "record",
    "name": "Answered",
    "namespace": "shop",
    "fields": [
        {"name": "id", "type": {"type": "string", "logicalType": "uuid"}},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "day", "type": {"type": "int", "logicalType": "date"}},
        {"name": "question", "type": "string"},
        {"name": "answer", "type": ["null", "string"]},
        {"name": "score", "type": "double"},
        {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 6, "scale": 2}},
        {"name": "raw", "type": "bytes"},
        {"name": "passages", "type": {"type": "array", "items": "shop.Passage"}},
    ],
}
PASSAGE = {
    "type": "record",
    "name": "Passage",
    "namespace": "shop",
    "fields": [{"name": "text", "type": "string"}, {"name": "next", "type": ["null", "Passage"], "default": None}],
}
VALUE = {
    "id": UUID(int=7),
    "at": datetime(2026, 5, 14, 8, tzinfo=UTC),
    "day": date(2026, 5, 14),
    "question": "Is a bicycle a parcel?",
    "answer": None,
    "score": float("nan"),
    "price": Decimal("12.50"),
    "raw": b"\xff\x00",
    "passages": [{"text": "Bicycles are bulky goods.", "next": {"text": "See rule 4.", "next": None}}],
}


def avro(schema: Any, value: Any) -> bytes:
    """Really encoded Avro."""
    out = BytesIO()
    schemaless_writer(out, schema, value)
    return out.getvalue()


def avro_trace() -> bytes:
    """The value above in Avro."""
    named: dict[str, Any] = {}
    parse_schema(PASSAGE, named_schemas=named)
    return avro(parse_schema(TRACE, named_schemas=named), VALUE)


async def test_avro_is_read_with_its_writers_schema_and_references(
    registry: FakeRegistry, reader: RegistryDocuments
) -> None:
    """Logical types come as plain JSON, whatever the schema refers to is fetched."""
    registry.register_subject("passage", json.dumps(PASSAGE))
    registry.register(42, json.dumps(TRACE), references=(("shop.Passage", "passage"),))
    expected = {
        "id": "00000000-0000-0000-0000-000000000007",
        "at": "2026-05-14T08:00:00+00:00",
        "day": "2026-05-14",
        "question": "Is a bicycle a parcel?",
        "answer": None,
        "score": None,
        "price": 12.5,
        "raw": "/wA=",
        "passages": [{"text": "Bicycles are bulky goods.", "next": {"text": "See rule 4.", "next": None}}],
    }
    assert expected == await reader.document(Framed(42, avro_trace()))


PROTO = """
syntax = "proto3";
package shop;
import "google/protobuf/timestamp.proto";
import "common/passage.proto";
message Other { int32 x = 1; }
message Answered {
  message Inner { string note = 1; }
  string question_text = 1;
  google.protobuf.Timestamp at = 2;
  repeated common.Passage passages = 3;
  int64 tokens = 4;
  double score = 5;
}
"""
PASSAGE_PROTO = 'syntax = "proto3"; package common; message Passage { string text = 1; bytes raw = 2; }'


def register_proto(registry: FakeRegistry) -> None:
    """The schema above with what it refers to."""
    registry.register_subject("passage.proto", PASSAGE_PROTO)
    registry.register(7, PROTO, "PROTOBUF", (("common/passage.proto", "passage.proto"),))


def proto_bytes(name: str, value: dict[str, Any]) -> bytes:
    """Really encoded Protobuf, with the schema above."""
    schema = Schema(7, "PROTOBUF", PROTO, (("common/passage.proto", PASSAGE_PROTO),))
    pool = DescriptorPool()
    for file in FileDescriptorSet.FromString(protobuf._compiled(schema)).file:
        pool.Add(file)
    message = GetMessageClass(pool.FindMessageTypeByName(name))()
    return ParseDict(value, message, descriptor_pool=pool).SerializeToString()


async def test_protobuf_is_read_by_its_message_index(registry: FakeRegistry, reader: RegistryDocuments) -> None:
    """The index names the message type within the file; times are RFC 3339, 64-bit integers text, bytes base64."""
    register_proto(registry)
    value = {
        "question_text": "Is a bicycle a parcel?",
        "at": "2026-05-14T08:00:00Z",
        "passages": [{"text": "Bulky.", "raw": "/w=="}],
        "tokens": "9007199254740993",
    }
    assert value == await reader.document(Framed(7, b"\x02\x02" + proto_bytes("shop.Answered", value)))
    assert {"note": "n"} == await reader.document(
        Framed(7, b"\x04\x02\x00" + proto_bytes("shop.Answered.Inner", {"note": "n"}))
    )
    assert {"x": 5} == await reader.document(Framed(7, b"\x00" + proto_bytes("shop.Other", {"x": 5})))


@pytest.mark.parametrize(
    "payload", [b"", b"\x02\x10\x00", b"\x02\x02\xff", b"\xff" * 12, b"\x01", b"\x02\x02\x0a\x01\xff"]
)
async def test_protobuf_that_does_not_fit_is_a_dead_letter(
    registry: FakeRegistry, reader: RegistryDocuments, payload: bytes
) -> None:
    """No index, an index beyond the file, broken bytes."""
    register_proto(registry)
    with pytest.raises(InvalidMessage, match="not_protobuf"):
        await reader.document(Framed(7, payload))


@pytest.mark.parametrize("payload", [b"", b"\x02", avro_trace()[:-3], avro_trace() + b"!", b"\xff" * 40])
async def test_avro_that_does_not_fit_is_a_dead_letter(
    registry: FakeRegistry, reader: RegistryDocuments, payload: bytes
) -> None:
    """Cut bytes, bytes that are left over, bytes of something else."""
    registry.register_subject("passage", json.dumps(PASSAGE))
    registry.register(42, json.dumps(TRACE), references=(("shop.Passage", "passage"),))
    with pytest.raises(InvalidMessage, match="not_avro"):
        await reader.document(Framed(42, payload))


async def test_json_schema_frames_hold_json(registry: FakeRegistry, reader: RegistryDocuments) -> None:
    """The schema is not applied: mapping rules say what is needed."""
    registry.register(3, "{}", "JSON")
    assert {"q": "x"} == await reader.document(Framed(3, b'{"q": "x"}'))
    assert {"q": "�"} == await reader.document(Framed(3, b'{"q": "\\ud83d"}'))
    with pytest.raises(InvalidMessage, match="not_json"):
        await reader.document(Framed(3, b"{"))


async def test_each_id_is_asked_for_once(registry: FakeRegistry, reader: RegistryDocuments) -> None:
    """A known id for ever, an unknown one for a minute: a broken producer must not become the registry's problem."""
    registry.register(1, '"string"')
    for _ in range(3):
        assert "hi" == await reader.document(Framed(1, avro("string", "hi")))
        with pytest.raises(InvalidMessage, match="unknown_schema_id: schema id 2"):
            await reader.document(Framed(2, b""))
    assert ["/schemas/ids/1", "/schemas/ids/2"] == registry.asked


async def test_missing_reference_is_named(registry: FakeRegistry, reader: RegistryDocuments) -> None:
    """The reader of the dead letter learns what to register."""
    registry.register(5, json.dumps(TRACE), references=(("shop.Passage", "passage/v"),))
    with pytest.raises(InvalidMessage, match=r"unknown_schema_id.*shop\.Passage"):
        await reader.document(Framed(5, b""))
    assert "/subjects/passage%2Fv/versions/1" == registry.asked[-1]


async def test_references_in_a_circle_end(registry: FakeRegistry, reader: RegistryDocuments) -> None:
    """They can be registered; they cannot be compiled."""
    registry.register_subject("a", 'syntax = "proto3"; import "b.proto";', (("b.proto", "b"),))
    registry.register_subject("b", 'syntax = "proto3"; import "a.proto";', (("a.proto", "a"),))
    registry.register(6, 'syntax = "proto3"; import "a.proto";', "PROTOBUF", (("a.proto", "a"),))
    with pytest.raises(InvalidMessage, match="bad_schema"):
        await reader.document(Framed(6, b"\x00"))


@pytest.mark.parametrize("status", [500, 503, 429, 401, 403, 302])
async def test_registry_that_fails_is_worth_waiting_for(
    registry: FakeRegistry, reader: RegistryDocuments, status: int
) -> None:
    """Nothing is wrong with the message; when the registry is back it is read."""
    registry.register(1, '"string"')
    registry.status = status
    with pytest.raises(RegistryUnavailable, match=str(status)):
        await reader.document(Framed(1, avro("string", "hi")))
    registry.status = 200
    assert "hi" == await reader.document(Framed(1, avro("string", "hi")))


async def test_registry_that_is_away_is_worth_waiting_for() -> None:
    """No address in the error: it may hold a password."""
    async with Access("http://user:secret@127.0.0.1:9").open() as http:
        with pytest.raises(RegistryUnavailable) as caught:
            await RegistryClient(http).schema(1)
    assert "secret" not in str(caught.value)


async def test_page_that_is_no_registry_is_said_to_be_none(registry: FakeRegistry, reader: RegistryDocuments) -> None:
    """A wrong address answers with something else, too."""
    registry.answers["/schemas/ids/1"] = ["hello"]
    with pytest.raises(RegistryUnavailable, match="check its address"):
        await reader.document(Framed(1, b""))


@pytest.mark.parametrize(
    ("access", "expected"),
    [({"user": "ann", "password": "pw"}, "Basic YW5uOnB3"), ({"token": "t0k"}, "Bearer t0k"), ({}, "")],
)
async def test_credentials_are_sent(registry: FakeRegistry, access: dict[str, str], expected: str) -> None:
    """By name and password, by token, or none."""
    registry.register(1, '"string"')
    async with Access(registry.url, **access).open() as http:
        await RegistryClient(http).schema(1)
    assert [expected] == registry.credentials
    assert "pw" not in repr(Access(registry.url, **access))


@pytest.mark.parametrize(
    "access", [{"url": "registry:8081"}, {"url": "http://"}, {"url": "http://h", "ca_file": "/no"}]
)
def test_access_that_cannot_work_is_said_at_start(access: dict[str, str]) -> None:
    """Waiting would not help."""
    with pytest.raises(ConfigError, match="schema registry"):
        Access(**access).open()


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("{", "AVRO"),
        ('{"type": "record"}', "AVRO"),
        ('"shop.Unheard"', "AVRO"),
        ("message {", "PROTOBUF"),
        ('import "nowhere.proto";', "PROTOBUF"),
        ("x", "THRIFT"),
    ],
)
async def test_schema_that_cannot_be_read_is_a_dead_letter(
    registry: FakeRegistry, reader: RegistryDocuments, text: str, kind: str
) -> None:
    """Once and for all: it is not compiled again for the next message."""
    registry.register(1, text, kind)
    for _ in range(2):
        with pytest.raises(InvalidMessage, match="bad_schema"):
            await reader.document(Framed(1, b"\x00"))
    assert 1 == len(registry.asked)


async def test_reference_cannot_leave_its_folder(registry: FakeRegistry, reader: RegistryDocuments) -> None:
    """A registry that others write to must not write our files."""
    registry.register_subject("evil", "x")
    registry.register(1, 'syntax = "proto3";', "PROTOBUF", (("../evil.proto", "evil"),))
    with pytest.raises(InvalidMessage, match="no file name"):
        await reader.document(Framed(1, b"\x00"))


def test_missing_packages_are_said_at_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the command that installs them."""
    check_installed()
    monkeypatch.setattr(documents, "find_spec", lambda _: None)
    with pytest.raises(ConfigError, match=r"fastavro and grpc_tools .*pip install 'groundwatch\[registry\]'"):
        check_installed()


async def test_deeply_nested_avro_ends(registry: FakeRegistry, reader: RegistryDocuments) -> None:
    """A recursive type with a hundred thousand levels."""
    registry.register(1, json.dumps(PASSAGE))
    payload = b"\x00\x02" * 100_000 + b"\x00\x00"
    with pytest.raises(InvalidMessage, match="not_avro"):
        await reader.document(Framed(1, payload))


@pytest.mark.parametrize(
    "items", ['"null"', '{"type": "record", "name": "R", "fields": []}', '{"type": "fixed", "name": "F", "size": 0}']
)
async def test_lists_of_nothing_are_refused(registry: FakeRegistry, reader: RegistryDocuments, items: str) -> None:
    """Six bytes would make a list of a thousand million items."""
    registry.register(1, f'{{"type": "array", "items": {items}}}')
    with pytest.raises(InvalidMessage, match="bad_schema"):
        await reader.document(Framed(1, b"\x80\xa8\xd6\xb9\x07\x00"))
