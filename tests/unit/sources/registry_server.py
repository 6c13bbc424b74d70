"""A schema registry for tests: a small HTTP server with schemas by id and by subject."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(slots=True)
class FakeRegistry:
    """What it answers by path, what it was asked, and the status that it gives to all requests when it is ill."""

    url: str = ""
    answers: dict[str, Any] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    credentials: list[str] = field(default_factory=list)
    status: int = 200

    def register(self, schema_id: int, text: str, kind: str = "", references: tuple[tuple[str, str], ...] = ()) -> None:
        """Put a schema in; references are pairs of name and subject, always at version 1."""
        found: dict[str, Any] = {"schema": text} | ({"schemaType": kind} if kind else {})
        if references:
            found["references"] = [{"name": name, "subject": subject, "version": 1} for name, subject in references]
        self.answers[f"/schemas/ids/{schema_id}"] = found

    def register_subject(self, subject: str, text: str, references: tuple[tuple[str, str], ...] = ()) -> None:
        """Put a schema in that others refer to."""
        self.register(0, text, "", references)
        self.answers[f"/subjects/{subject}/versions/1"] = self.answers.pop("/schemas/ids/0")


@contextmanager
def running_registry() -> Iterator[FakeRegistry]:
    """A registry on a free port of this machine."""
    fake = FakeRegistry()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            fake.asked.append(self.path)
            fake.credentials.append(self.headers.get("Authorization", ""))
            found = fake.answers.get(self.path)
            status = fake.status if fake.status != 200 else 200 if found is not None else 404
            body = json.dumps(found if status == 200 else {"error_code": 40403}).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    fake.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield fake
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
