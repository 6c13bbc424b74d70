"""Schemas of a Confluent-compatible registry, by id. An id never changes its schema, so what was read is kept."""

import asyncio
import ssl
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

import httpx

from schemas.errors import ConfigError, InvalidMessage, RegistryUnavailable

TIMEOUT_SECONDS = 10.0
ASK_AGAIN_SECONDS = 60.0
"""An id that the registry does not know is not asked for again within this time."""
MAX_REFERENCES = 200
_NOT_FOUND = 404
_REFUSED = (401, 403)


@dataclass(frozen=True, slots=True)
class Access:
    """How to reach a registry: its address, and a name with a password or a bearer token where it wants one."""

    url: str
    user: str = ""
    password: str = field(default="", repr=False)
    token: str = field(default="", repr=False)
    ca_file: str = ""

    def open(self) -> httpx.AsyncClient:
        """An HTTP client, which the caller closes. Raises ConfigError for an address or file that is none."""
        _check_url(self.url)
        bearer = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        return httpx.AsyncClient(
            base_url=self.url,
            auth=httpx.BasicAuth(self.user, self.password) if self.user else None,
            headers={"Accept": "application/vnd.schemaregistry.v1+json, application/json", **bearer},
            timeout=TIMEOUT_SECONDS,
            verify=_trusting(self.ca_file) if self.ca_file else True,
        )


def _check_url(url: str) -> None:
    """The address is not repeated: it may hold a password."""
    try:
        found = httpx.URL(url)
    except httpx.InvalidURL as error:
        raise ConfigError(f"the schema registry's address cannot be read: {error}") from error
    if found.scheme not in {"http", "https"} or not found.host:
        raise ConfigError("the schema registry's address is none; write http://host:port or https://host:port")


def _trusting(ca_file: str) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=ca_file)
    except OSError as error:
        raise ConfigError(f"the schema registry's CA file {ca_file!r} cannot be read: {error.strerror}") from error


@dataclass(frozen=True, slots=True)
class Schema:
    """A registered schema, its kind in capitals; ``references`` are names and texts, each after what it refers to."""

    schema_id: int
    kind: str
    text: str
    references: tuple[tuple[str, str], ...] = ()


@dataclass(slots=True)
class RegistryClient:
    """Reads schemas, one request at a time. Addresses and credentials never appear in its errors."""

    http: httpx.AsyncClient
    _known: dict[int, Schema] = field(default_factory=dict)
    _unknown: dict[int, float] = field(default_factory=dict)
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def schema(self, schema_id: int) -> Schema:
        """The schema with that id.

        Raises InvalidMessage (``unknown_schema_id``), and RegistryUnavailable when the registry is away, fails or
        refuses the credentials: then the message waits.
        """
        async with self._turn:
            if schema_id not in self._known:
                self._known[schema_id] = await self._read(schema_id)
            return self._known[schema_id]

    async def _read(self, schema_id: int) -> Schema:
        now = asyncio.get_running_loop().time()
        self._unknown = {known: until for known, until in self._unknown.items() if until > now}
        found = None if schema_id in self._unknown else await self._get(f"/schemas/ids/{schema_id}")
        if found is None:
            self._unknown.setdefault(schema_id, now + ASK_AGAIN_SECONDS)
            raise InvalidMessage("unknown_schema_id", f"schema id {schema_id}: the registry does not know it")
        references: dict[str, str] = {}
        await self._read_references(found, references, schema_id)
        return Schema(
            schema_id, str(found.get("schemaType") or "AVRO"), str(found.get("schema", "")), tuple(references.items())
        )

    async def _read_references(self, schema: dict[str, Any], found: dict[str, str], schema_id: int) -> None:
        """Depth first, so that what is referred to stands before what refers to it."""
        for reference in schema.get("references") or ():
            name, subject, version = (str(reference.get(part, "")) for part in ("name", "subject", "version"))
            if name in found:
                continue
            if len(found) >= MAX_REFERENCES:
                raise InvalidMessage("bad_schema", f"schema id {schema_id}: more than {MAX_REFERENCES} references")
            referred = await self._get(f"/subjects/{quote(subject, safe='')}/versions/{quote(version, safe='')}")
            if referred is None:
                raise InvalidMessage("unknown_schema_id", f"schema id {schema_id}: its reference {name!r} is not there")
            found[name] = ""
            await self._read_references(referred, found, schema_id)
            del found[name]
            found[name] = str(referred.get("schema", ""))

    async def _get(self, path: str) -> dict[str, Any] | None:
        """The JSON object at ``path``; None when the registry says that there is none."""
        try:
            response = await self.http.get(path)
        except httpx.HTTPError as error:
            raise RegistryUnavailable(f"schema registry: no answer ({type(error).__name__})") from error
        if response.status_code == _NOT_FOUND:
            return None
        if response.status_code in _REFUSED:
            raise RegistryUnavailable(f"schema registry: {response.status_code}; check its user, password or token")
        try:
            found = response.json() if response.is_success else None
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise RegistryUnavailable(f"schema registry: {response.status_code}, no schema; check its address")
        return found
