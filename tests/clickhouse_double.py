"""ClickHouse's HTTP interface over the embedded engine, as far as clickhouse-connect speaks it; for tests on one host.

Covers queries, commands, inserts, parameters (address line and form), settings, databases, compression of requests,
error codes; not sessions, users, streaming, progress. ``faults`` makes the next requests fail in named ways.
"""

import asyncio
import base64
import gzip
import re
import tempfile
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Literal, Self

import chdb
import lz4.frame
from aiohttp import web

Fault = Literal["refuse", "drop_before", "drop_after"]
"""``refuse``: 503. ``drop_before``: no answer, nothing done. ``drop_after``: done, but the answer is lost."""

_LONGEST_LINE = 1 << 20
# Spoken to the transport, not to the engine.
_ENGINE: Any = chdb  # its releases differ in what they say of types
_TRANSPORT = frozenset(
    {"query", "database", "session_id", "query_id", "client_protocol_version", "enable_http_compression",
     "wait_end_of_query", "compress", "decompress", "send_progress_in_http_headers",
     "http_headers_progress_interval_ms", "cancel_http_readonly_queries_on_client_close"}
)  # fmt: skip
_INSERT = re.compile(rb"\s*INSERT INTO (?P<target>.+?) FORMAT Native\n", re.IGNORECASE | re.DOTALL)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CODE = re.compile(r"Code: (\d+)\.")


class ClickHouseDouble:
    """A server on 127.0.0.1 while the ``with`` block runs; ``faults`` are used up in order, one a request.

    ``after`` sees the body of each request that was done, before its answer goes out.
    """

    def __init__(self, path: str, *, password: str = "") -> None:
        self.faults: deque[Fault] = deque()
        self.after: Callable[[bytes], None] | None = None
        self.requests = 0
        self.port = 0
        self._path = path
        self._password = password
        self._loop = asyncio.new_event_loop()
        self._pool = ThreadPoolExecutor(4)
        self._thread = threading.Thread(target=self._loop.run_forever, name="clickhouse-double")

    @property
    def dsn(self) -> str:
        """The address for ``Store.open``."""
        login = f"default:{self._password}@" if self._password else ""
        return f"http://{login}127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        self._engine = _ENGINE.connect(self._path)  # keeps the engine up between requests
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._start(), self._loop).result()
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._runner.cleanup(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self._pool.shutdown()
        self._engine.close()

    async def _start(self) -> None:
        app = web.Application(client_max_size=1 << 30)
        app.router.add_route("GET", "/ping", self._ping)
        app.router.add_route("*", "/", self._answer)
        self._runner = web.AppRunner(app, max_line_size=_LONGEST_LINE, max_field_size=_LONGEST_LINE)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.port = self._runner.addresses[0][1]

    async def _ping(self, _request: web.Request) -> web.Response:
        return web.Response(text="Ok.\n")

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        self.requests += 1
        fault = self.faults.popleft() if self.faults else None
        if fault == "refuse":
            return web.Response(status=503, text="overloaded")
        if fault == "drop_before":
            return _dropped(request)
        if self._password and request.headers.get("Authorization") != _basic(self._password):
            return _failure("Code: 516. DB::Exception: default: Authentication failed. (AUTHENTICATION_FAILED)")
        parameters, body = await _read(request)
        try:
            result = await self._loop.run_in_executor(self._pool, self._run, parameters, body)
        except RuntimeError as error:
            return _failure(str(error))
        if self.after is not None:
            self.after(body)
        if fault == "drop_after":
            return _dropped(request)
        headers = {"X-ClickHouse-Format": "TabSeparated"} if result else {}
        return web.Response(body=result, headers=headers)

    def _run(self, parameters: dict[str, str], body: bytes) -> bytes:
        """One request on a connection of its own, so that its settings end with it."""
        connection: Any = _ENGINE.connect(self._path)
        try:
            for name, value in parameters.items():
                if name not in _TRANSPORT and not name.startswith("param_") and _NAME.fullmatch(name):
                    connection.query(f"SET {name} = {_quoted(value)}")
            if "database" in parameters:
                connection.query(f"USE `{parameters['database']}`")
            insert = _INSERT.match(body)
            if insert:
                return _insert(connection, insert["target"].decode(), body[insert.end() :])
            bound = {name[6:]: value for name, value in parameters.items() if name.startswith("param_")}
            sql = parameters.get("query") or body.decode()
            return bytes(connection.query(sql, "TabSeparated", params=bound).bytes() or b"")
        finally:
            connection.close()


async def _read(request: web.Request) -> tuple[dict[str, str], bytes]:
    parameters = dict(request.query)
    if request.content_type == "multipart/form-data":
        form = await request.post()
        return parameters | {name: str(value) for name, value in form.items()}, b""
    body = await request.read()
    match request.headers.get("Content-Encoding"):
        case "lz4":
            body = _all_frames(body)
        case "gzip":
            body = gzip.decompress(body)
    return parameters, body


def _all_frames(body: bytes) -> bytes:
    """A client sends a long insert as one frame a block, and a server reads them all."""
    parts = []
    while body:
        frame = lz4.frame.LZ4FrameDecompressor()
        parts.append(frame.decompress(body))
        body = frame.unused_data or b""
    return b"".join(parts)


def _insert(connection: Any, target: str, block: bytes) -> bytes:
    with tempfile.NamedTemporaryFile(suffix=".native", delete=False) as file:
        file.write(block)
    try:
        connection.query(f"INSERT INTO {target} FROM INFILE {_quoted(file.name)} FORMAT Native")
    finally:
        Path(file.name).unlink()
    return b""


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _basic(password: str) -> str:
    return "Basic " + base64.b64encode(f"default:{password}".encode()).decode()


def _failure(message: str) -> web.Response:
    code = _CODE.search(message)
    headers = {"X-ClickHouse-Exception-Code": code[1]} if code else {}
    return web.Response(status=500, text=message, headers=headers)


def _dropped(request: web.Request) -> web.Response:
    if request.transport is not None:
        request.transport.close()
    return web.Response()
