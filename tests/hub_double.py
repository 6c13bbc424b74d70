"""A hub of models on this machine, which speaks as much of the real one's API as pulling a model needs."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import unquote, urlsplit


@dataclass
class HubDouble:
    """``repositories``: files by owner/name and commit. ``lfs`` files are listed with their SHA-256.

    ``asked`` has method and path of every request; what ``broken`` names ends in the middle, once.
    """

    repositories: dict[str, dict[str, dict[str, bytes]]] = field(default_factory=dict)
    lies: Mapping[str, str] = field(default_factory=dict)
    gated: set[str] = field(default_factory=set)
    broken: set[str] = field(default_factory=set)
    asked: list[str] = field(default_factory=list)
    address: str = ""

    def answer(self, path: str) -> tuple[int, bytes, dict[str, str]]:
        """Status, body and headers."""
        if path.startswith("/api/models/"):
            repository, _, revision = path.removeprefix("/api/models/").partition("/revision/")
            status, body, code = self._info(repository, revision or "main")
            return status, json.dumps(body).encode(), _headers_of(code)
        repository, _, rest = path.removeprefix("/").partition("/resolve/")
        revision, _, name = rest.partition("/")
        content = self.repositories.get(repository, {}).get(revision, {}).get(name)
        if content is None:
            return 404, b"", _headers_of("EntryNotFound")
        etag = hashlib.sha256(content).hexdigest()
        return 200, content, {"ETag": f'"{etag}"', "X-Repo-Commit": revision}

    def cut(self, path: str, body: bytes) -> bytes:
        """What is sent of a body."""
        name = path.rpartition("/")[2]
        if name not in self.broken:
            return body
        self.broken.discard(name)
        return body[: len(body) // 2]

    def _info(self, repository: str, revision: str) -> tuple[int, dict[str, object], str]:
        commits = self.repositories.get(repository)
        if commits is None:
            return 404, {"error": "Repository not found"}, "RepoNotFound"
        if repository in self.gated:
            return 403, {"error": "Access to it is restricted"}, "GatedRepo"
        revision = next(reversed(commits)) if revision == "main" else revision
        if revision not in commits:
            return 404, {"error": "Invalid rev id"}, "RevisionNotFound"
        siblings = [self._sibling(name, content) for name, content in commits[revision].items()]
        return 200, {"id": repository, "sha": revision, "siblings": siblings}, ""

    def _sibling(self, name: str, content: bytes) -> dict[str, object]:
        if not name.endswith((".safetensors", ".bin", ".model")):
            return {"rfilename": name, "size": len(content)}
        told = self.lies.get(name, hashlib.sha256(content).hexdigest())
        return {
            "rfilename": name,
            "size": len(content),
            "lfs": {"sha256": told, "size": len(content), "pointerSize": 9},
        }


@contextmanager
def serve_hub(hub: HubDouble) -> Iterator[HubDouble]:
    """Serve it on 127.0.0.1 until the block ends; ``address`` is then known."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_of(hub))
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    hub.address = f"http://127.0.0.1:{server.server_port}"
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _handler_of(hub: HubDouble) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        """HTTP/1.0, so that no connection outlives its answer."""

        def do_HEAD(self) -> None:
            self._answer(is_head=True)

        def do_GET(self) -> None:
            self._answer(is_head=False)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the base class names it so
            """Nothing on standard error."""

        def _answer(self, *, is_head: bool) -> None:
            path = unquote(urlsplit(self.path).path)
            hub.asked.append(f"{self.command} {path}")
            status, body, headers = hub.answer(path)
            self.send_response(status)
            for key, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(key, value)
            self.end_headers()
            if not is_head:
                self.wfile.write(hub.cut(path, body))

    return Handler


def _headers_of(code: str) -> dict[str, str]:
    return {"X-Error-Code": code, "X-Error-Message": code} if code else {"Content-Type": "application/json"}
