"""The claim splitter over HTTP: every way in which an endpoint fails, and a real small model."""

import json
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from detectors.claims import split_claims
from detectors.claims.llm import FAILURES, CompletionFailed, LlmSplitter, fallback_reason
from schemas.errors import ConfigError
from schemas.policy import ClaimSplitting
from streams.completion import OpenAICompletion, llm_splitter
from streams.settings.verify import Verify

pytestmark = pytest.mark.integration
ANSWER = "The pass costs 12 euros and is valid for two days. It is blue."


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
        content = json.dumps(self.server.reply).encode()
        self.send_response(self.server.status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as above
        """Nothing on standard error."""


class Served(ThreadingHTTPServer):
    """A local endpoint."""

    daemon_threads = True

    def __init__(self, status: int, reply: dict[str, Any], *, is_silent: bool = False) -> None:
        super().__init__(("127.0.0.1", 0), Endpoint)
        self.status, self.reply, self.is_silent = status, reply, is_silent
        self.seen: list[tuple[dict[str, str], dict[str, Any]]] = []
        self.released = threading.Event()

    @property
    def url(self) -> str:
        """The address with its version."""
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


@contextmanager
def served(status: int = 200, reply: dict[str, Any] | None = None, *, is_silent: bool = False) -> Iterator[Served]:
    """An endpoint for the length of a block."""
    with Served(status, reply or {}, is_silent=is_silent) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.released.set()
            server.shutdown()
            thread.join(10)


def choice(content: str | None, finish: str = "stop") -> dict[str, Any]:
    """A chat completion with one choice."""
    message = {"role": "assistant", "content": content}
    picked = {"index": 0, "message": message, "finish_reason": finish}
    return {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [picked]}


def ask(server: Served, timeout_seconds: float = 10) -> str:
    """One call."""
    completion = OpenAICompletion(url=server.url, model="m", key="secret", timeout_seconds=timeout_seconds)
    with closing(completion):
        return completion.complete([{"role": "user", "content": "x"}], {"type": "object"})


def test_a_call_is_greedy_strict_keyed_and_marked_as_ours() -> None:
    """So that replies repeat, follow the schema, and are not traced into the topic that we watch."""
    with served(reply=choice("{}")) as server:
        assert "{}" == ask(server)

    ((headers, body),) = server.seen
    assert ("m", 0, True) == (
        body["model"],
        body["temperature"],
        body["response_format"]["json_schema"]["strict"],
    )
    assert ("Bearer secret", "claims") == (headers["authorization"], headers["x-groundwatch"])


@pytest.mark.parametrize(
    ("status", "reply", "reason"),
    [
        (400, {"error": {"code": "context_length_exceeded", "message": "too long"}}, "too_long"),
        (400, {"error": {"type": "exceed_context_size_error", "message": "too long"}}, "too_long"),
        (400, {"error": {"code": "bad", "message": "no"}}, "model"),
        (401, {"error": {"message": "no key"}}, "model"),
        (500, {"error": {"message": "down"}}, "model"),
        (200, choice(None), "model"),
        (200, choice('{"claims": [', "length"), "too_long"),
        (200, {**choice("{}"), "choices": []}, "model"),
    ],
)
def test_every_failure_of_an_endpoint_has_a_reason(status: int, reply: dict[str, Any], reason: str) -> None:
    """By the code that the endpoint gives; it is called once, since the next batch comes soon enough."""
    with served(status, reply) as server, pytest.raises(CompletionFailed) as caught:
        ask(server)

    assert (reason, 1) == (caught.value.reason, len(server.seen))


def test_an_endpoint_that_hangs_or_is_not_there_is_a_failure() -> None:
    """The wait is bounded by the settings."""
    with served(is_silent=True) as server, pytest.raises(CompletionFailed) as slow:
        ask(server, timeout_seconds=0.3)
    with pytest.raises(CompletionFailed) as gone:
        ask(server)

    assert ("timeout", "model") == (slow.value.reason, gone.value.reason)


def test_the_settings_choose_the_splitter() -> None:
    """None for the rules; a language model needs an address and a name."""
    chosen = Verify(claim_splitter="llm", splitter_url="http://127.0.0.1:1/v1", splitter_model="m")

    assert llm_splitter(Verify()) is None
    splitter = llm_splitter(chosen)
    assert splitter is not None
    assert splitter.name.startswith("llm:m:")
    with pytest.raises(ValueError, match="splitter_url and splitter_model"):
        Verify(claim_splitter="llm")


def test_without_the_extra_the_message_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """And how to get it."""
    monkeypatch.setitem(__import__("sys").modules, "openai", None)

    with pytest.raises(ConfigError, match=r"pip install 'groundwatch\[openai\]'"):
        OpenAICompletion(url="http://127.0.0.1:1/v1", model="m", key="", timeout_seconds=1)


@pytest.mark.local_llm
def test_a_real_model_gives_its_claims_or_leaves_them_to_the_rules(model_url: str) -> None:
    """Whatever a model of 135 million parameters writes: every claim is a span, and no fact is lost."""
    completion = OpenAICompletion(url=model_url, model="smollm2", key="", timeout_seconds=20)
    with closing(completion):
        ((claims, made_by),) = LlmSplitter(completion, 1).split_many([(ANSWER, ClaimSplitting.SENTENCES)])

    assert all(ANSWER[claim.start : claim.end] == claim.text for claim in claims)
    words = {word for claim in claims for word in claim.text.split()}
    assert set(ANSWER.split()) - {"and"} <= words
    reason = fallback_reason(made_by)
    assert (reason == "" and made_by.startswith("llm:smollm2:")) or (
        reason in FAILURES and split_claims(ANSWER) == claims
    )
