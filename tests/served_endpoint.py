"""A language model's endpoint on this machine, over real HTTP, that fails in the way it is told to."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Body = dict[str, Any]
Answer = Callable[[Body], tuple[int, Body]]
"""From the body of a call to status and body of the reply."""


class Endpoint(BaseHTTPRequestHandler):
    """Answers every call with what the server was told to."""

    server: "Served"

    def do_POST(self) -> None:
        """One reply."""
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.seen.append(({name.lower(): value for name, value in self.headers.items()}, body))
        if self.server.is_silent:
            self.server.released.wait(20)
            return
        status, reply = self.server.answer(body)
        content = json.dumps(reply).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        for name, value in self.server.headers.items():
            self.send_header(name, value)
        self.end_headers()
        if not self.server.is_dripping:
            self.wfile.write(content)
            return
        for byte in content:
            if self.server.released.wait(0.05):
                return
            self.wfile.write(bytes([byte]))

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as above
        """Nothing on standard error."""


class Served(ThreadingHTTPServer):
    """A local endpoint; silent ones never answer, dripping ones send a byte at a time."""

    daemon_threads = True

    def __init__(self, answer: Answer, *, is_silent: bool = False, is_dripping: bool = False) -> None:
        super().__init__(("127.0.0.1", 0), Endpoint)
        self.answer, self.is_silent, self.is_dripping = answer, is_silent, is_dripping
        self.headers: dict[str, str] = {}
        """Sent with every reply, beside those of its content."""
        self.seen: list[tuple[dict[str, str], Body]] = []
        self.released = threading.Event()

    def handle_error(self, request: object, client_address: object) -> None:
        """A caller that hangs up is what some tests are about."""

    @property
    def url(self) -> str:
        """The address with its version."""
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


@contextmanager
def answering(answer: Answer, *, is_silent: bool = False, is_dripping: bool = False) -> Iterator[Served]:
    """An endpoint for the length of a block."""
    with Served(answer, is_silent=is_silent, is_dripping=is_dripping) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.released.set()
            server.shutdown()
            thread.join(10)


@contextmanager
def served(
    status: int = 200, reply: Body | None = None, *, is_silent: bool = False, is_dripping: bool = False
) -> Iterator[Served]:
    """An endpoint that says the same to everybody."""
    with answering(lambda _: (status, reply or {}), is_silent=is_silent, is_dripping=is_dripping) as server:
        yield server


def choice(content: str | None, finish: str = "stop") -> Body:
    """A chat completion with one choice."""
    message = {"role": "assistant", "content": content}
    picked = {"index": 0, "message": message, "finish_reason": finish}
    return {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [picked]}
