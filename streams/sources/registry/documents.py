"""Framed values to JSON documents; one reader is made for each schema id and kept."""

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

from schemas.errors import ConfigError, InvalidMessage
from streams.sources.json_text import clean, load
from streams.sources.registry.client import RegistryClient, Schema
from streams.sources.wire import Framed

_NEEDED = ("fastavro", "grpc_tools")


def check_installed() -> None:
    """Raise ConfigError when the packages that read Avro and Protobuf are not there; called when a registry is set."""
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        fix = "install them with: pip install 'groundwatch[registry]'"
        raise ConfigError(f"a schema registry is set, but {' and '.join(missing)} cannot be imported; {fix}")


@dataclass(slots=True)
class RegistryDocuments:
    """Decodes values behind a schema id. Everything in it may be shared by all topics of one registry."""

    client: RegistryClient
    _readers: dict[int, Callable[[bytes], Any]] = field(default_factory=dict)

    async def document(self, framed: Framed) -> Any:
        """The value as plain JSON.

        Raises InvalidMessage (``unknown_schema_id``, ``bad_schema``, ``not_avro``, ``not_protobuf``, ``not_json``,
        ``too_deep``), or RegistryUnavailable: then the message waits.
        """
        read = self._readers.get(framed.schema_id)
        if read is None:
            schema = await self.client.schema(framed.schema_id)
            try:
                read = await _reader(schema)
            except InvalidMessage as error:
                read = _refusing(error)
            self._readers[framed.schema_id] = read
        return read(framed.payload)


async def _reader(schema: Schema) -> Callable[[bytes], Any]:
    if schema.kind == "AVRO":
        from streams.sources.registry.avro import avro_reader  # noqa: PLC0415  an optional dependency

        return avro_reader(schema)
    if schema.kind == "PROTOBUF":
        from streams.sources.registry.protobuf import protobuf_reader  # noqa: PLC0415  an optional dependency

        return await protobuf_reader(schema)
    if schema.kind == "JSON":
        return _json
    raise InvalidMessage("bad_schema", f"schema id {schema.schema_id}: its kind {schema.kind[:40]!r} is not read")


def _refusing(error: InvalidMessage) -> Callable[[bytes], Any]:
    """A reader for a schema that cannot be read: it is not tried again with every message."""

    def refuse(_: bytes) -> Any:
        raise InvalidMessage(error.reason, error.detail)

    return refuse


def _json(payload: bytes) -> Any:
    document, is_dirty = load(payload)
    return clean(document)[0] if is_dirty else document
