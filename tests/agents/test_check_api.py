"""The check over HTTP: who gets in, what is refused, what hostile texts become, and the example client."""

import asyncio
import importlib.util
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from openapi_schema_validator import OAS31Validator
from structlog.testing import capture_logs

from schemas.routes import OnFailure
from streams.agents.policies import PolicyPublisher
from streams.api.check import CHECK_ROUTES, CheckRoutes
from streams.api.guard import Guard, Key
from streams.broker.publisher import Publisher
from streams.inline.checker import Checker
from streams.inline.openapi import openapi_document
from streams.store import Store
from streams.web import Api
from tests.agents.flow import Flow
from tests.builders import NOW
from tests.fakes_inline import AtOnce, body, checker, failing_route, policy_with

ALL_TOKEN, CHECK_TOKEN = "token of the process", "token of a product"
ALL, CHECK = ({"Authorization": f"Bearer {token}"} for token in (ALL_TOKEN, CHECK_TOKEN))
MAX_BODY_BYTES = 900_000
EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "inline" / "check_answer.py"
SECRET = "zxqsecret"  # noqa: S105  a word to look for in the log


def site_of(made: Checker) -> web.Application:
    """The whole web server with this checker."""
    flow = Flow()
    store = cast("Store", flow.store)
    publisher = PolicyPublisher(flow.known, cast("Publisher", flow.publisher), store)
    routes = CheckRoutes(made, MAX_BODY_BYTES)
    return Api(
        store, flow.known, publisher, lambda: NOW, token=ALL_TOKEN, check=routes, check_token=CHECK_TOKEN
    ).application()


@dataclass
class Site:
    """A running server over a checker without threads."""

    client: TestClient  # type: ignore[type-arg]
    checker: Checker

    async def post(self, given: Any, headers: dict[str, str] = CHECK) -> tuple[int, Any]:
        """Status and body of a check."""
        answer = await self.client.post("/v1/check", headers=headers, json=given)
        return answer.status, json.loads(await answer.text())


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    """The server."""
    made = checker(policy_with(failing_route(OnFailure.CLOSED)))
    async with TestClient(TestServer(site_of(made))) as client:
        yield Site(client, made)


async def test_the_products_token_checks_and_does_nothing_else(site: Site) -> None:
    """Nor does the pipelines', or none, check."""
    assert 200 == (await site.post(body()))[0]
    assert 200 == (await site.post(body(), ALL))[0]
    for refused in ({}, {"Authorization": "Bearer "}, {"Authorization": "Bearer x"}):
        assert 401 == (await site.post(body(), refused))[0]
    assert 401 == (await site.client.get("/api/v1/alerts", headers=CHECK)).status
    assert 401 == (await site.client.post("/v1/deploys", headers=CHECK, json={})).status
    assert 401 == (await site.client.post("/api/v1/policy", headers=CHECK, data="name: x")).status


async def test_another_host_name_is_refused(site: Site) -> None:
    """As everywhere."""
    answer = await site.client.post("/v1/check", headers={**CHECK, "Host": "evil.example"}, json=body())
    assert 421 == answer.status


@pytest.mark.parametrize(
    ("sent", "status", "says"),
    [
        (b"{", 400, "send UTF-8 JSON"),
        (b"[" * 1000, 400, "send flatter data"),
        (b'{"answer": "a"}', 422, "passages: Field required; send what the model was given"),
        (b'{"answer": "a", "passages": [], "tier": "huge"}', 422, "use one of low, medium, high"),
        (b'{"answer": "' + b"a" * MAX_BODY_BYTES + b'"}', 413, "inline.max_body_bytes"),
    ],
    ids=["no-json", "deep", "field", "tier", "too-large"],
)
async def test_a_wrong_request_is_refused_with_the_fix(site: Site, sent: bytes, status: int, says: str) -> None:
    """400, 422 or 413, as JSON."""
    answer = await site.client.post("/v1/check", headers=CHECK, data=sent)
    assert (status, True) == (answer.status, says in (await answer.json())["error"])


async def test_raw_scores_are_given_where_they_are_asked_for(site: Site) -> None:
    """And are not even fields elsewhere."""
    (_, plain), (_, full) = await site.post(body()), await site.post(body(include_scores=True))
    assert {"support", "contradiction", "confidence"} == full["claims"][0].keys() - plain["claims"][0].keys()
    assert {"score", "faithfulness"} == full.keys() - plain.keys()
    assert (0.9, 1.0) == (full["score"], full["faithfulness"])


@pytest.mark.parametrize("on_failure", list(OnFailure))
async def test_a_busy_check_is_503_with_the_decision(on_failure: OnFailure) -> None:
    """A proxy may try elsewhere; a product that does not can go by the body."""
    begun, gate = asyncio.Event(), asyncio.Event()

    class Waiting(AtOnce):
        async def run(self, work: Any, until: float, needs_seconds: float = 0.0) -> Any:
            """Once the gate is open."""
            begun.set()
            await gate.wait()
            return await super().run(work, until, needs_seconds)

    made = checker(policy_with(failing_route(on_failure)), below=Waiting(), max_in_flight=1)
    async with TestClient(TestServer(site_of(made))) as client:
        first = asyncio.create_task(client.post("/v1/check", headers=CHECK, json=body()))
        await begun.wait()
        refused = await client.post("/v1/check", headers=CHECK, json=body())
        reply = await refused.json()
        gate.set()
        assert 200 == (await first).status
    assert (503, "1", "overloaded", False) == (
        refused.status,
        refused.headers["Retry-After"],
        reply["reason"],
        reply["checked"],
    )
    assert {OnFailure.OPEN: "deliver", OnFailure.CLOSED: "hold_for_review"}[on_failure] == reply["decision"]


class Tags(HTMLParser):
    """Names of the tags of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002 - the base's own
        """One more."""
        self.names.add(tag)


HOSTILE = {
    "tags": '"><script>alert(1)</script><img src=x onerror=alert(1)>',
    "half-a-pair": "cut \ud83d off",
    "controls": "\x00\x1b[2J\u202e\u2028 and <!-- -->",
    "jinja": "{{ 7 * 7 }}{% raw %}",
    "long": "A very long claim goes on and on, " * 20_000,
    "many": "It is so. " * 20_000,
}


@pytest.mark.parametrize("where", ["answer", "doc_id", "title", "url", "text", "question", "intent", "trace_id"])
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
async def test_no_text_breaks_the_reply_or_becomes_a_tag(site: Site, where: str, text: str) -> None:
    """What comes back is JSON of the described form, its HTML has our tags alone, and the log has none of it."""
    passage = {"text": "Opened.", "url": "https://help.example.com/a", where: text}
    given = {
        **body("It takes 90 days [1]."),
        "passages": [passage if where in PASSAGE_FIELDS else body()["passages"][0]],
    }
    if where not in PASSAGE_FIELDS:
        given[where] = text
    with capture_logs() as logs:
        answer = await site.client.post("/v1/check", headers=CHECK, data=json.dumps(given).encode())
    reply = json.loads(await answer.text())
    assert answer.status in {200, 422}
    if answer.status == 422:
        assert f"{where}: " in reply["error"]
        return
    reply_form().validate(reply)
    assert Tags((reply["fallback"] or {"html": ""})["html"]).names <= {"p", "ul", "li", "a", "bdi"}
    assert where in {"intent", "trace_id"} or text[:20] not in str(logs)


PASSAGE_FIELDS = {"doc_id", "title", "url", "text"}


def reply_form() -> OAS31Validator:
    """Validates a reply against the served document."""
    document = openapi_document()
    return OAS31Validator({"$ref": "#/components/schemas/CheckReply", "components": document["components"]})


async def test_the_document_is_served_without_a_token(site: Site) -> None:
    """It says nothing of this deployment."""
    answer = await site.client.get("/v1/openapi.json")
    assert (200, openapi_document()) == (answer.status, await answer.json())


async def test_a_process_without_pages_serves_the_check_alone() -> None:
    """With the product's token, and no other."""
    guard = Guard("127.0.0.1", "", (Key(CHECK_TOKEN, CHECK_ROUTES),))
    app = web.Application(middlewares=guard.middlewares())
    CheckRoutes(checker(), MAX_BODY_BYTES).add(app)
    async with TestClient(TestServer(app)) as client:
        given = [(await client.post("/v1/check", headers=headers, json=body())).status for headers in ({}, ALL, CHECK)]
        assert ([401, 401, 200], 404) == (given, (await client.get("/")).status)


def example() -> ModuleType:
    """The client of the docs, as a product has it."""
    spec = importlib.util.spec_from_file_location("check_answer", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


async def test_the_example_client_works(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Against a real server; also where it is busy, and where nobody is there."""
    monkeypatch.setenv("GROUNDWATCH_URL", str(site.client.make_url("")).rstrip("/"))
    monkeypatch.setenv("GROUNDWATCH_CHECK_TOKEN", CHECK_TOKEN)
    ask = example().text_to_send
    passages = body()["passages"]
    good = "You can return it within 30 days."
    assert good == await asyncio.to_thread(ask, "How long?", good, passages)
    assert "reviewed" in await asyncio.to_thread(ask, "How long?", good, None)
    with pytest.raises(RuntimeError, match=r"passages\.0\.text"):
        await asyncio.to_thread(ask, "How long?", good, [{}])
    site.checker.max_in_flight = 0
    assert "reviewed" in await asyncio.to_thread(ask, "How long?", good, passages)
    monkeypatch.setenv("GROUNDWATCH_URL", "http://127.0.0.1:9")
    assert "Please ask our support team." == await asyncio.to_thread(
        example().text_to_send, "How long?", good, passages
    )


def test_the_example_fits_on_a_screen() -> None:
    """Twenty lines or so."""
    assert len(EXAMPLE.read_text(encoding="utf-8").splitlines()) <= 24
