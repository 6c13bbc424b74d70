"""Protobuf values as JSON documents, read with the registered schema, which protoc compiles once an id.

The compiler is a process of its own: a schema that it cannot bear must not stop ours.
"""

import asyncio
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

import grpc_tools
from google.protobuf.descriptor import Descriptor
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import DecodeError
from google.protobuf.message_factory import GetMessageClass

from schemas.errors import InvalidMessage
from streams.sources.envelopes.protobuf_wire import varint
from streams.sources.registry.client import Schema

COMPILE_SECONDS = 60.0
_MAIN = "gw_main.proto"
_WELL_KNOWN = Path(grpc_tools.__file__).parent / "_proto"
_MAX_NESTING = 50


async def protobuf_reader(schema: Schema) -> Callable[[bytes], Any]:
    """A function from a message index with Protobuf's bytes to JSON, fields named as in the schema.

    64-bit integers are text, as in Protobuf's JSON; fields at their default are absent. Raises InvalidMessage
    (``bad_schema``); the function raises InvalidMessage (``not_protobuf``).
    """
    files = FileDescriptorSet.FromString(await asyncio.to_thread(_compiled, schema))
    pool = DescriptorPool()
    for file in files.file:
        pool.Add(file)
    main = next(file for file in files.file if file.name == _MAIN)

    def read(payload: bytes) -> Any:
        try:
            indexes, at = _message_indexes(payload)
            message = GetMessageClass(_descriptor(pool, main, indexes)).FromString(payload[at:])
            return MessageToDict(message, preserving_proto_field_name=True, descriptor_pool=pool)
        except (DecodeError, ValueError, IndexError, KeyError, TypeError, RecursionError) as error:
            detail = f"schema id {schema.schema_id} does not fit the value: {type(error).__name__}"
            raise InvalidMessage("not_protobuf", detail) from error

    return read


def _compiled(schema: Schema) -> bytes:
    """Serialised descriptors of the schema and all that it imports, what is imported first."""
    with TemporaryDirectory() as folder:
        for name, text in ((_MAIN, schema.text), *schema.references):
            path = PurePosixPath(name)
            if path.is_absolute() or ".." in path.parts or not path.parts:
                raise InvalidMessage("bad_schema", f"schema id {schema.schema_id}: {name!r} is no file name")
            target = Path(folder, path)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8", errors="replace")
        out = Path(folder, ".descriptors")
        options = (f"-I{folder}", f"-I{_WELL_KNOWN}", "--include_imports", f"--descriptor_set_out={out}")
        command = (sys.executable, "-m", "grpc_tools.protoc", *options, _MAIN)
        try:
            subprocess.run(command, capture_output=True, check=True, timeout=COMPILE_SECONDS)  # noqa: S603  no shell
        except subprocess.SubprocessError as error:
            complaints = (getattr(error, "stderr", None) or b"").decode("utf-8", "replace").replace(folder, "")
            detail = f"schema id {schema.schema_id}: {complaints.strip()[:500] or type(error).__name__}"
            raise InvalidMessage("bad_schema", detail) from error
        return out.read_bytes()


def _message_indexes(payload: bytes) -> tuple[list[int], int]:
    """The path to the message type in its file, and where the message begins; a single 0 stands for the first type."""
    view = memoryview(payload)
    count, at = _zigzag(view, 0)
    if count > _MAX_NESTING:
        raise ValueError("too many message indexes")
    indexes = []
    for _ in range(count):
        index, at = _zigzag(view, at)
        indexes.append(index)
    return indexes or [0], at


def _zigzag(view: memoryview, at: int) -> tuple[int, int]:
    value, after = varint(view, at)
    number = (value >> 1) ^ -(value & 1)
    if after < 0 or number < 0:
        raise ValueError("no message index")
    return number, after


def _descriptor(pool: DescriptorPool, main: FileDescriptorProto, indexes: list[int]) -> Descriptor:
    message = main.message_type[indexes[0]]
    name = f"{main.package}.{message.name}".lstrip(".")
    for index in indexes[1:]:
        message = message.nested_type[index]
        name = f"{name}.{message.name}"
    return pool.FindMessageTypeByName(name)
