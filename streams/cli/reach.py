"""Asking the running process over HTTP, because the embedded store belongs to it alone."""

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import httpx

from schemas.errors import ConfigError, NotReached, StoreUnavailable
from streams.run_file import RUN_FILE, RunFile

TIMEOUT_SECONDS = 10.0
LONG_TIMEOUT_SECONDS = 120.0
"""Longer than the store may work on one statement."""


class RunningProcess:
    """The local API of a running process. ``transport`` is for tests."""

    def __init__(
        self,
        run_file: RunFile,
        transport: httpx.BaseTransport | None = None,
        timeout_seconds: float = TIMEOUT_SECONDS,
    ) -> None:
        self._where = f"the running process ({run_file.url}, pid {run_file.pid})"
        self._run_file = run_file
        self._transport = transport
        self._timeout_seconds = timeout_seconds

    def get(self, path: str, *, is_long: bool = False, **parameters: str | int | list[str]) -> Any:
        """The JSON body of an answer; ``is_long`` work may take two minutes. Raises NotReached or StoreUnavailable."""
        timeout = LONG_TIMEOUT_SECONDS if is_long else self._timeout_seconds
        return self._json("GET", path, params=parameters, timeout=timeout)

    def post(self, path: str, content: str, **parameters: str) -> Any:
        """Send text and return the JSON body of the answer. Raises ConfigError when the process refuses the content."""
        return self._json("POST", path, content=content.encode("utf-8", "replace"), params=parameters)

    def lines(self, path: str, **parameters: str | int) -> Iterator[Any]:
        """JSON lines as they come, each within two minutes. Raises what ``get`` raises, also in the middle."""
        try:
            with (
                self._client() as client,
                client.stream("GET", path, params=parameters, timeout=LONG_TIMEOUT_SECONDS) as response,
            ):
                if not response.is_success:
                    response.read()
                self._require_success(response)
                for line in response.iter_lines():
                    body = json.loads(line)
                    if "error" in body:
                        raise StoreUnavailable(f"{self._where}: {body['error']}")
                    yield body
        except httpx.HTTPError as error:
            raise self._silent(error) from error

    def _json(self, method: str, path: str, **request: Any) -> Any:
        try:
            with self._client() as client:
                response = client.request(method, path, **request)
        except httpx.HTTPError as error:
            raise self._silent(error) from error
        self._require_success(response)
        return response.json()

    def _client(self) -> httpx.Client:
        return httpx.Client(
            base_url=self._run_file.url,
            headers={"Authorization": f"Bearer {self._run_file.token}"},
            timeout=self._timeout_seconds,
            transport=self._transport,
            trust_env=False,  # a proxy has no business between two processes of one machine
        )

    def _silent(self, error: httpx.HTTPError) -> NotReached:
        text = f"{self._where} does not answer ({type(error).__name__}); wait if it is starting, else look at its log"
        return NotReached(text)

    def _require_success(self, response: httpx.Response) -> None:
        if response.is_success:
            return
        detail = _detail(response)
        match response.status_code:
            case 400 | 422:
                raise ConfigError(detail)
            case 401 | 403:
                raise NotReached(f"{self._where} refused our token; remove {RUN_FILE} if it was copied from elsewhere")
            case 404:
                raise NotReached(detail)
            case _:
                raise StoreUnavailable(f"{self._where} answered {response.status_code}: {detail}; its log says more")


def _detail(response: httpx.Response) -> str:
    """The ``error`` text of a JSON body, else the start of the body."""
    with suppress(ValueError, KeyError, TypeError):
        return str(response.json()["error"])
    return response.text[:200] or response.reason_phrase
