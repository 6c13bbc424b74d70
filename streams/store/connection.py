"""One client to one engine: the embedded one (chDB, in this process) or a server over HTTP, the same code behind both.

Statements are constants and values travel as parameters only: the embedded engine runs stacked statements.
"""

import re
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any
from urllib.parse import SplitResult, unquote, urlsplit

import clickhouse_connect
from clickhouse_connect.datatypes.registry import get_from_name
from clickhouse_connect.driver.exceptions import ClickHouseError, Error

from schemas.errors import ConfigError, StoreUnavailable
from streams.store import embedded
from streams.store.faults import fitting, mapped

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}")
_REFUSED_LOGIN = frozenset({"AUTHENTICATION_FAILED", "REQUIRED_PASSWORD", "WRONG_PASSWORD", "UNKNOWN_USER"})
_LIMITS = {"max_execution_time": 20, "max_memory_usage": 1_000_000_000, "max_threads": 2}
# Rows are batched here, so a server must not batch them again; one late batch may touch many weekly partitions.
_INSERT = {"max_partitions_per_insert_block": 0}
_INSERT_SERVER = {**_INSERT, "async_insert": 0}
_INTEGER_TIMES = {"DateTime*": "int", "DateTime": "int"}
_CONNECT_SECONDS = 5
_ANSWER_SECONDS = 60
LONGEST_SECONDS = 55
"""For statements that may take long; the client waits a little longer than the engine works."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table as the writer sees it; types are given here once, so that an insert need not ask for them."""

    name: str
    columns: tuple[tuple[str, str], ...]


class Connection:
    """A client; calls from several threads are safe, and on the embedded engine they take turns."""

    def __init__(self, client: Any, path: str | None) -> None:
        self._client = client
        self._path = path
        self._types: dict[str, tuple[list[str], list[Any]]] = {}

    @property
    def is_embedded(self) -> bool:
        """True when the engine runs in this process."""
        return self._path is not None

    def insert(self, table: Table, rows: Sequence[Sequence[Any]]) -> None:
        """Insert ``rows`` whole or, per partition, not at all. Raises RowRejected, StoreUnavailable."""
        if rows:
            self._insert(table, rows, by_column=False)

    def insert_columns(self, table: Table, columns: Sequence[Sequence[Any]]) -> None:
        """As ``insert``, given the values of each column: large batches cost the least so."""
        if columns[0]:
            self._insert(table, columns, by_column=True)

    def _insert(self, table: Table, data: Sequence[Sequence[Any]], *, by_column: bool) -> None:
        names, types = self._columns(table)
        settings = _INSERT if self.is_embedded else _INSERT_SERVER
        scratch = nullcontext() if self._path is None else embedded.scratch(self._path)
        doing = f"insert into {table.name}"
        with mapped(doing), fitting(doing), scratch:
            self._client.insert(
                table.name,
                data,
                column_names=names,
                column_types=types,
                column_oriented=by_column,
                settings=settings,
            )

    def query(
        self, sql: str, parameters: Mapping[str, Any] | None = None, *, max_seconds: int | None = None
    ) -> list[dict[str, Any]]:
        """All rows of a SELECT by column name; times are integers. Raises StoreUnavailable."""
        settings = {} if max_seconds is None else {"max_execution_time": max_seconds}
        with mapped("read"):
            result = self._client.query(
                sql, parameters=dict(parameters or {}), settings=settings, query_formats=_INTEGER_TIMES
            )
            return list(result.named_results())

    def command(self, sql: str, parameters: Mapping[str, Any] | None = None, *, max_seconds: int | None = None) -> None:
        """Run a statement that returns nothing. Raises RowRejected, StoreUnavailable."""
        settings = {} if max_seconds is None else {"max_execution_time": max_seconds}
        with mapped("write"):
            self._client.command(sql, parameters=dict(parameters or {}), settings=settings)

    def use(self, database: str) -> None:
        """Make ``database`` the one that statements mean."""
        self._client.database = database

    def ping(self) -> bool:
        """True when the engine answers."""
        return bool(self._client.ping())

    def close(self) -> None:
        """Give the client back; the embedded engine stops with its last client."""
        self._client.close()
        if self._path is not None:
            embedded.release(self._path)
            self._path = None

    def _columns(self, table: Table) -> tuple[list[str], list[Any]]:
        if table.name not in self._types:
            names = [name for name, _ in table.columns]
            self._types[table.name] = (names, [get_from_name(kind) for _, kind in table.columns])
        return self._types[table.name]


def connect(dsn: str, *, database: str, read_only: bool) -> Connection:
    """A connection to ``chdb:///absolute/path`` or ``http(s)://user:password@host:port``.

    Creates the database unless ``read_only``. Raises ConfigError (address, name, login, missing database or package)
    and StoreUnavailable (no answer, or the path belongs to another process).
    """
    if not _NAME.fullmatch(database):
        raise ConfigError(f"store database {database!r}: use letters, digits and _, at most 63")
    scheme = urlsplit(dsn).scheme
    if scheme == "chdb":
        connection = _embedded(dsn, read_only=read_only)
    elif scheme in {"http", "https"}:
        connection = _server(dsn, read_only=read_only)
    else:
        raise ConfigError(
            f"store address with scheme {scheme!r}: use chdb:///path or http(s)://user:password@host:port"
        )
    try:
        _enter(connection, database, read_only=read_only)
    except BaseException:
        connection.close()
        raise
    return connection


def _embedded(dsn: str, *, read_only: bool) -> Connection:
    parts = urlsplit(dsn)
    if parts.netloc or not parts.path.startswith("/") or parts.path == "/":
        raise ConfigError("store address: chdb takes an absolute path, as in chdb:///var/lib/groundwatch/store")
    path = embedded.acquire(unquote(parts.path))
    try:
        client = clickhouse_connect.get_client(
            interface="chdb", path=path, settings=_settings(read_only=read_only), tz_mode="aware"
        )
    except ImportError as error:
        embedded.release(path)
        raise ConfigError(
            "store address chdb:…: install the engine with pip install 'groundwatch[embedded]'"
        ) from error
    except ClickHouseError as error:
        embedded.release(path)
        raise StoreUnavailable(
            f"store path {path} does not open ({error}); free its disk, or restore it from a backup"
        ) from error
    return Connection(client, path)


def _server(dsn: str, *, read_only: bool) -> Connection:
    host, port, parts = _host(dsn)
    try:
        with mapped("connect"):
            client = clickhouse_connect.get_client(
                interface=parts.scheme,
                host=host,
                port=port,
                username=unquote(parts.username) if parts.username else None,
                password=unquote(parts.password or ""),
                settings=_settings(read_only=read_only),
                tz_mode="aware",
                connect_timeout=_CONNECT_SECONDS,
                send_receive_timeout=_ANSWER_SECONDS,
                # A session would make a server refuse two threads at once.
                autogenerate_session_id=False,
                # Keys of a batch are too long for an address line.
                form_encode_query_params=True,
            )
    except StoreUnavailable as error:
        if isinstance(error.__cause__, Error) and error.__cause__.name in _REFUSED_LOGIN:
            raise ConfigError("store address: the server refuses this user or password; correct store.dsn") from error
        raise
    return Connection(client, None)


def _host(dsn: str) -> tuple[str, int, SplitResult]:
    parts = urlsplit(dsn)
    try:
        port = parts.port or (8443 if parts.scheme == "https" else 8123)
    except ValueError as error:
        raise ConfigError("store address: the port must be a number up to 65535") from error
    if not parts.hostname or parts.path not in {"", "/"}:
        raise ConfigError("store address: use http(s)://user:password@host:port; the database is a setting of its own")
    return parts.hostname, port, parts


def _settings(*, read_only: bool) -> dict[str, Any]:
    # readonly comes last: it forbids later changes of itself only, but keeps every SET before it plain.
    return {**_LIMITS, "readonly": 2} if read_only else dict(_LIMITS)


def _enter(connection: Connection, database: str, *, read_only: bool) -> None:
    known = connection.query("SELECT name FROM system.databases WHERE name = {name:String}", {"name": database})
    if not known and read_only:
        raise ConfigError(f"store database {database!r} does not exist; run `groundwatch migrate`")
    if not known:
        # The Atomic engine is named because the embedded engine's default is another one.
        connection.command("CREATE DATABASE IF NOT EXISTS {name:Identifier} ENGINE = Atomic", {"name": database})
    connection.use(database)
